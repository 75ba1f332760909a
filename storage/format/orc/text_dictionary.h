#pragma once

// The distinct texts of a column while a stripe is written.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skep::orc {

// Thread-compatible.
class TextDictionary {
 public:
  TextDictionary() { Clear(); }

  // The number of the text: entries count from 0 in the order of their first appearance.
  uint32_t Add(std::string_view text);

  size_t size() const { return ends_.size(); }
  std::string_view At(uint32_t entry) const {
    const uint64_t begin = entry == 0 ? 0 : ends_[entry - 1];
    return std::string_view(bytes_).substr(begin, ends_[entry] - begin);
  }
  const std::string& bytes() const { return bytes_; }  // all entries in order
  uint64_t memory() const;

  // Entries in unsigned byte order, as old readers expect them (TY-6).
  std::vector<uint32_t> Sorted() const;
  void Clear();

 private:
  void Grow();

  std::string bytes_;
  std::vector<uint64_t> ends_;
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> slots_;  // entry + 1; 0 is free. A power of two, at most half full.
};

}  // namespace skep::orc

#pragma once

// Bloom filters of row groups (RI-9…RI-12), UTF-8 kind.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace skep::orc {

// Thread-compatible.
class BloomFilter {
 public:
  // For `entries` values of which `false_positives` (0 < p < 1) of the absent are taken for
  // present.
  BloomFilter(uint64_t entries, double false_positives);
  // As a file has it; nullopt where that is no filter.
  static std::optional<BloomFilter> Of(uint32_t hash_functions, std::string bits);

  void AddInteger(int64_t value);         // integers, days, milliseconds in UTC
  void AddDouble(double value);           // floats widened
  void AddBytes(std::string_view bytes);  // text as stored, decimals as plain text

  bool MayContainInteger(int64_t value) const;
  bool MayContainDouble(double value) const;
  bool MayContainBytes(std::string_view bytes) const;

  uint32_t hash_functions() const { return hash_functions_; }
  const std::string& bits() const { return bits_; }  // little-endian 64-bit words
  void Clear();

 private:
  BloomFilter(uint32_t hash_functions, std::string bits)
      : hash_functions_(hash_functions), bits_(std::move(bits)) {}
  template <class Visit>
  bool EachBit(uint64_t hash, const Visit& visit) const;
  void Add(uint64_t hash);
  bool MayContain(uint64_t hash) const;

  uint32_t hash_functions_;
  std::string bits_;
};

}  // namespace skep::orc

#pragma once

// An integer stream while it is written.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/format/orc/int_runs.h"
#include "storage/format/orc/out_stream.h"

namespace skep::orc {

// Collects up to 512 values and writes them as runs of version 2. What comes as a constant or as a
// sequence stays one: it is never looked at value by value. Confined to one thread.
class IntEncoder {
 public:
  IntEncoder(BlockCompressor* compressor, size_t block_size, Signedness signedness, Packing packing)
      : stream_(compressor, block_size), signedness_(signedness), packing_(packing) {}

  template <class T>
  void Add(const T* values, size_t count) {
    while (count > 0) {
      if (run_count_ > 0) {
        const size_t same = ContinueRun(values, count);
        values += same;
        count -= same;
        if (count == 0) return;
        BreakRun();
      }
      MakeBuffer();
      const size_t part = std::min(count, kMaxIntRun - pending_);
      for (size_t i = 0; i < part; ++i) buffer_[pending_ + i] = static_cast<int64_t>(values[i]);
      pending_ += part;
      values += part;
      count -= part;
      if (pending_ == kMaxIntRun) EncodeBuffer();
    }
  }
  // first, first + step, …
  void AddArithmetic(int64_t first, int64_t step, size_t count);

  // The place in the stream and the values to skip from there (RI-5).
  void AddPosition(Positions* out) const {
    stream_.AddPosition(out);
    out->push_back(pending_ + run_count_);
  }

  // Writes what is pending and ends the stream.
  absl::Status Finish();
  const OutStream& stream() const { return stream_; }  // what was written, after Finish
  uint64_t size() const { return stream_.size() + (pending_ + run_count_ / 64) * sizeof(int64_t); }
  void Clear();

 private:
  template <class T>
  size_t ContinueRun(const T* values, size_t count) {
    size_t same = 0;
    while (same < count && static_cast<int64_t>(values[same]) == NextOfRun()) {
      ++same;
      if (++run_count_ == kMaxIntRun) {
        EncodeRun();
        return same;
      }
    }
    return same;
  }
  int64_t NextOfRun() const {
    return static_cast<int64_t>(static_cast<uint64_t>(run_first_) +
                                static_cast<uint64_t>(run_step_) * run_count_);
  }
  // Columns that are constants never have one.
  void MakeBuffer() {
    if (buffer_.empty()) buffer_.resize(kMaxIntRun);
  }
  void BreakRun();
  void EncodeRun();
  void EncodeBuffer();

  OutStream stream_;
  const Signedness signedness_;
  const Packing packing_;
  // Either the buffer or the run holds values, never both.
  size_t pending_ = 0;
  std::vector<int64_t> buffer_;
  int64_t run_first_ = 0, run_step_ = 0;
  size_t run_count_ = 0;
};

}  // namespace skep::orc

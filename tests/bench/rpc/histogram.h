#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace skep::bench {

// Latencies in nanoseconds: powers of two with 32 linear steps each (3 % error), a fixed array.
// Merged by adding.
class Histogram {
 public:
  void Add(int64_t value) {
    ++buckets_[IndexOf(value < 0 ? 0 : value)];
    ++count_;
  }
  int64_t count() const { return count_; }

  // The value that `fraction` of all are at or below.
  int64_t Percentile(double fraction) const {
    const auto wanted = static_cast<int64_t>(fraction * static_cast<double>(count_));
    int64_t seen = 0;
    for (size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen > wanted || seen == count_) return LowestOf(i);
    }
    return 0;
  }

 private:
  static constexpr int kSteps = 5;  // bits

  static size_t IndexOf(int64_t value) {
    const auto v = static_cast<uint64_t>(value);
    const int magnitude = std::bit_width(v);
    if (magnitude <= kSteps) return v;
    const int shift = magnitude - kSteps - 1;
    return (static_cast<size_t>(shift + 1) << kSteps) + ((v >> shift) & ((1u << kSteps) - 1));
  }
  static int64_t LowestOf(size_t index) {
    const size_t group = index >> kSteps;
    const size_t step = index & ((1u << kSteps) - 1);
    if (group == 0) return static_cast<int64_t>(step);
    return static_cast<int64_t>((step | (1u << kSteps)) << (group - 1));
  }

  std::array<int64_t, 64 << kSteps> buckets_{};
  int64_t count_ = 0;
};

}  // namespace skep::bench

#include "storage/format/orc/int_encoder.h"

#include <array>

namespace skep::orc {

namespace {

// A shorter run joins the values before it: a run of its own would cut theirs.
constexpr size_t kWorthARun = 32;

}  // namespace

void IntEncoder::AddArithmetic(int64_t first, int64_t step, size_t count) {
  while (count > 0) {
    if (run_count_ == 0 && pending_ > 0 && count < kWorthARun) {
      for (size_t i = 0; i < count; ++i) {
        const auto value =
            static_cast<int64_t>(static_cast<uint64_t>(first) + static_cast<uint64_t>(step) * i);
        buffer_[pending_++] = value;
        if (pending_ == kMaxIntRun) EncodeBuffer();
      }
      return;
    }
    if (pending_ > 0) EncodeBuffer();
    if (run_count_ > 0 && (run_step_ != step || NextOfRun() != first)) {
      BreakRun();
      continue;
    }
    if (run_count_ == 0) {
      run_first_ = first;
      run_step_ = step;
    }
    const size_t part = std::min(count, kMaxIntRun - run_count_);
    run_count_ += part;
    count -= part;
    first = static_cast<int64_t>(static_cast<uint64_t>(first) + static_cast<uint64_t>(step) * part);
    if (run_count_ == kMaxIntRun) EncodeRun();
  }
}

void IntEncoder::BreakRun() {
  if (run_count_ >= kWorthARun) {
    EncodeRun();
    return;
  }
  MakeBuffer();
  for (size_t i = 0; i < run_count_; ++i) {
    buffer_[i] = static_cast<int64_t>(static_cast<uint64_t>(run_first_) +
                                      static_cast<uint64_t>(run_step_) * i);
  }
  pending_ = run_count_;
  run_count_ = 0;
}

void IntEncoder::EncodeRun() {
  std::array<uint8_t, 32> out;
  const uint8_t* const end =
      EncodeArithmetic(run_first_, run_step_, run_count_, signedness_, out.data());
  stream_.Append(out.data(), static_cast<size_t>(end - out.data()));
  run_count_ = 0;
}

void IntEncoder::EncodeBuffer() {
  std::array<uint8_t, kMaxEncodedInts> out;
  const uint8_t* const end =
      EncodeInts(buffer_.data(), pending_, signedness_, packing_, out.data());
  stream_.Append(out.data(), static_cast<size_t>(end - out.data()));
  pending_ = 0;
}

absl::Status IntEncoder::Finish() {
  if (pending_ > 0) EncodeBuffer();
  if (run_count_ > 0) EncodeRun();
  return stream_.Finish();
}

void IntEncoder::Clear() {
  stream_.Clear();
  pending_ = run_count_ = 0;
}

}  // namespace skep::orc

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "storage/base/status_macros.h"
#include "storage/format/calendar.h"
#include "storage/format/orc/scalar_writers.h"
#include "storage/format/orc/time_code.h"
#include "storage/format/temporal.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

using format::FloorDivide;
using format::WallTime;

constexpr int64_t kUtcBase = 1420070400;  // 2015-01-01 00:00:00 UTC
constexpr uint32_t kMilli = 1'000'000;
constexpr int64_t kMicrosPerMilli = 1000;

int64_t MilliOf(const WallTime& time) { return FloorDivide(time.us, kMicrosPerMilli); }
int32_t NanosInMilli(const WallTime& time) {
  return static_cast<int32_t>(time.us - MilliOf(time) * kMicrosPerMilli) * 1000 + time.sub;
}

// TIMESTAMP and TIMESTAMP WITH LOCAL TIME ZONE: both are stored as UTC's wall clock (TY-20).
class TimestampWriter final : public ColumnWriter {
 public:
  TimestampWriter(const ColumnContext& context, uint32_t column)
      : ColumnWriter(context, column),
        seconds_(context.compressor, context.block_size, Signedness::kSigned, context.packing),
        nanos_(context.compressor, context.block_size, Signedness::kUnsigned, context.packing) {
    EnableBloom();
  }
  proto::ColumnEncoding Encoding() const override {
    proto::ColumnEncoding encoding = Direct(EncodingKind::kDirectV2);
    return encoding;
  }

 protected:
  absl::Status AppendValid(const arrow::ArrayData& data, int64_t from, int64_t count) override {
    const int64_t first = data.offset + from;
    const int64_t* const us = data.child_data[0]->GetValues<int64_t>(1) + first;
    const int16_t* const sub = data.child_data[1]->GetValues<int16_t>(1);
    for (int64_t at = 0; at < count;) {
      const auto part = static_cast<size_t>(std::min<int64_t>(count - at, kPart));
      for (size_t i = 0; i < part; ++i) {
        const auto slot = at + static_cast<int64_t>(i);
        SKEP_RETURN_IF_ERROR(
            Convert({us[slot], sub == nullptr ? int16_t{0} : sub[first + slot]}, i));
      }
      seconds_.Add(stored_seconds_.data(), part);
      nanos_.Add(stored_nanos_.data(), part);
      at += static_cast<int64_t>(part);
    }
    return absl::OkStatus();
  }

  void AddPositions(Positions* out) const override {
    seconds_.AddPosition(out);
    nanos_.AddPosition(out);
  }

  // The fields of whole milliseconds, and what the bounds have beyond them: one more than that, so
  // that 0 can mean what absence means, 0 for the minimum and 999999 for the maximum.
  void TakeStatistics(proto::ColumnStatistics* out) override {
    proto::TimestampStatistics* times = out->mutable_timestamp_statistics();
    times->set_minimum_utc(MilliOf(minimum_));
    times->set_maximum_utc(MilliOf(maximum_));
    if (NanosInMilli(minimum_) != 0) times->set_minimum_nanos(NanosInMilli(minimum_) + 1);
    if (NanosInMilli(maximum_) != 999'999) times->set_maximum_nanos(NanosInMilli(maximum_) + 1);
    minimum_ = kHighest;
    maximum_ = kLowest;
  }
  absl::Status FinishStreams() override {
    SKEP_RETURN_IF_ERROR(seconds_.Finish());
    return nanos_.Finish();
  }
  void AddStreams(std::vector<FinishedStream>* out) const override {
    out->push_back({StreamKind::kData, &seconds_.stream()});
    out->push_back({StreamKind::kSecondary, &nanos_.stream()});
  }
  void ClearStreams() override {
    seconds_.Clear();
    nanos_.Clear();
  }
  uint64_t StreamBytes() const override { return seconds_.size() + nanos_.size(); }

 private:
  static constexpr int64_t kPart = 512;
  static constexpr WallTime kHighest{std::numeric_limits<int64_t>::max(), 999};
  static constexpr WallTime kLowest{std::numeric_limits<int64_t>::min(), 0};

  absl::Status Convert(WallTime time, size_t slot) {
    if (time.us < format::kMinWallMicros || time.us > format::kMaxWallMicros || time.sub < 0 ||
        time.sub > 999) {
      return MakeError(ErrorReason::kValueOutOfRange, "a timestamp outside of the years 1 to 9999");
    }
    if (context_.calendar == Calendar::kJulianGregorian) {
      const int64_t day = FloorDivide(time.us, format::kMicrosPerDay);
      const std::optional<int64_t> hybrid = format::ProlepticToHybrid(day);
      if (!hybrid) {
        return MakeError(ErrorReason::kValueOutOfRange,
                         "a day that the hybrid calendar does not have");
      }
      time.us += (*hybrid - day) * format::kMicrosPerDay;
    }
    const int64_t floor = FloorDivide(time.us, format::kMicrosPerSecond);
    const auto micros = static_cast<uint32_t>(time.us - floor * format::kMicrosPerSecond);
    const uint32_t nanos = micros * 1000 + static_cast<uint32_t>(time.sub);
    const bool cut = floor < 0 && nanos >= kMilli;  // TY-15
    if (cut && floor == -1) {
      return MakeError(
          ErrorReason::kValueOutOfRange,
          "ORC cannot store a timestamp in the last second before 1970-01-01 00:00:00 with a "
          "fraction of a millisecond or more");
    }
    stored_seconds_[slot] = floor + (cut ? 1 : 0) - kUtcBase;
    stored_nanos_[slot] = static_cast<int64_t>(NanosCode(nanos));
    minimum_ = std::min(minimum_, time);
    maximum_ = std::max(maximum_, time);
    if (bloom_ != nullptr) bloom_->AddInteger(MilliOf(time));
    return absl::OkStatus();
  }

  IntEncoder seconds_;
  IntEncoder nanos_;
  std::array<int64_t, kPart> stored_seconds_, stored_nanos_;
  WallTime minimum_ = kHighest, maximum_ = kLowest;
};

}  // namespace

std::unique_ptr<ColumnWriter> MakeTimestampWriter(const ColumnContext& context, uint32_t column) {
  return std::make_unique<TimestampWriter>(context, column);
}

}  // namespace skep::orc

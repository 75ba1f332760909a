// Columns of timestamps, of both kinds (TY-13 … TY-21).

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/format/calendar.h"
#include "storage/format/orc/column_reader.h"
#include "storage/format/orc/spread.h"
#include "storage/format/temporal.h"
#include "storage/format/timestamp_type.h"

namespace skep::orc {

namespace {

constexpr uint32_t kPresto = 2, kTrino = 4;
constexpr uint64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kMilli = 1'000'000;
// Keeps sums within 64 bits; beyond it no instant is in range anyway.
constexpr int64_t kMostSeconds = 1'000'000'000'000;

// By the low bits of the code of a fraction: what its digits stand for.
constexpr uint64_t kPowers[8] = {1, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// TY-14: a multiple of 100 is stored without its zeros. The code is read as signed: some writers
// put negative nanoseconds there (TY-19). nullopt where that is no fraction of a second.
std::optional<int64_t> NanosOf(int64_t code) {
  int64_t nanos = 0;
  if (__builtin_mul_overflow(code >> 3, static_cast<int64_t>(kPowers[code & 7]), &nanos)) {
    return std::nullopt;
  }
  if (std::abs(nanos) >= static_cast<int64_t>(kNanosPerSecond)) return std::nullopt;
  return nanos;
}

class TimestampReader final : public ColumnReader {
 public:
  TimestampReader(StripeSource& source, const PlanNode& node, WriterZone zone)
      : ColumnReader(source, node),
        zone_(std::move(zone)),
        is_utc_(node.type.kind == TypeKind::kTimestampLocalTz || zone_.is_utc()),
        base_(is_utc_ ? WriterZone::Utc().base() : zone_.base()),
        // TY-18 (b): which fractions make a second before the epoch count as cut toward zero.
        least_cut_(source.tail().writer == kPresto || source.tail().writer == kTrino ? 1 : kMilli),
        seconds_(OpenInts(StreamKind::kData, Signedness::kSigned)),
        nanos_(OpenInts(StreamKind::kSecondary, Signedness::kUnsigned)) {}

  void Save() override {
    ColumnReader::Save();
    seconds_.Save(&saved_seconds_);
    nanos_.Save(&saved_nanos_);
  }
  absl::Status Restore() override {
    SKEP_RETURN_IF_ERROR(seconds_.Restore(saved_seconds_));
    SKEP_RETURN_IF_ERROR(nanos_.Restore(saved_nanos_));
    return ColumnReader::Restore();
  }

 protected:
  absl::StatusOr<Data> ReadValues(const Slots& slots) override {
    SKEP_ASSIGN_OR_RETURN(auto us_buffer,
                          NewBuffer(slots.length * static_cast<int64_t>(sizeof(int64_t))));
    SKEP_ASSIGN_OR_RETURN(auto sub_buffer,
                          NewBuffer(slots.length * static_cast<int64_t>(sizeof(int16_t))));
    auto* us = reinterpret_cast<int64_t*>(us_buffer->mutable_data());
    auto* sub = reinterpret_cast<int16_t*>(sub_buffer->mutable_data());
    SKEP_RETURN_IF_ERROR(Grow(&stored_, slots.count));
    SKEP_RETURN_IF_ERROR(Grow(&codes_, slots.count));
    SKEP_RETURN_IF_ERROR(seconds_.Next(stored_.data(), static_cast<size_t>(slots.count)));
    SKEP_RETURN_IF_ERROR(nanos_.Next(codes_.data(), static_cast<size_t>(slots.count)));
    if (!is_utc_ || !ConvertAll(slots.count, us, sub)) {
      for (int64_t i = 0; i < slots.count; ++i) {
        const auto at = static_cast<size_t>(i);
        SKEP_RETURN_IF_ERROR(Convert(stored_[at], codes_[at], us + i, sub + i));
      }
    }
    if (slots.valid != nullptr) {
      Spread(us, slots.length, slots.bits(), slots.count);
      Spread(sub, slots.length, slots.bits(), slots.count);
    }
    const auto child = [&](int index, std::shared_ptr<arrow::Buffer> values) {
      return arrow::ArrayData::Make(format::TimestampStorage()->field(index)->type(),
                                    slots.length,
                                    {nullptr, std::move(values)},
                                    0);
    };
    return Array(slots, {}, {child(0, std::move(us_buffer)), child(1, std::move(sub_buffer))});
  }

  absl::Status SkipValues(uint64_t count) override {
    SKEP_RETURN_IF_ERROR(seconds_.Skip(count));
    return nanos_.Skip(count);
  }
  absl::Status SeekValues(PositionCursor& positions) override {
    ByteStream::Position position = positions.Bytes();
    SKEP_RETURN_IF_ERROR(seconds_.Seek(position, positions.Number()));
    position = positions.Bytes();
    return nanos_.Seek(position, positions.Number());
  }
  size_t PositionCount() const override { return 2 * PositionCursor::OfRuns(compressed()); }

 private:
  // The usual values of a writer in UTC, without a branch. False where any is unusual: it is left
  // to Convert to say how.
  bool ConvertAll(int64_t count, int64_t* us, int16_t* sub) const {
    const int64_t least =
        is_hybrid_ ? format::kGregorianStart * format::kMicrosPerDay : format::kMinWallMicros;
    bool unusual = false;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t code = codes_[static_cast<size_t>(i)];
      const int64_t seconds = stored_[static_cast<size_t>(i)];
      const uint64_t digits = static_cast<uint64_t>(code) >> 3;
      const uint64_t nanos = digits * kPowers[code & 7];
      unusual |= digits >= kNanosPerSecond || nanos >= kNanosPerSecond;
      unusual |= seconds < -kMostSeconds || seconds > kMostSeconds;
      const auto fraction = static_cast<uint32_t>(nanos);
      const uint32_t micros = fraction / 1000;
      const uint64_t instant =
          static_cast<uint64_t>(seconds) + static_cast<uint64_t>(base_) -
          (seconds < -base_ && static_cast<int64_t>(nanos) >= least_cut_ ? 1 : 0);
      us[i] = static_cast<int64_t>(instant * format::kMicrosPerSecond + micros);
      sub[i] = static_cast<int16_t>(fraction - micros * 1000);
      unusual |= us[i] < least || us[i] > format::kMaxWallMicros;
    }
    return !unusual;
  }

  // From stored seconds and the code of the fraction. TY-15, TY-16: seconds before the epoch were
  // cut toward zero; the zone comes after that is undone.
  absl::Status Convert(int64_t seconds, int64_t code, int64_t* us, int16_t* sub) const {
    const std::optional<int64_t> nanos = NanosOf(code);
    if (!nanos) [[unlikely]]
      return Damaged("nanoseconds outside of a second");
    if (seconds < -kMostSeconds || seconds > kMostSeconds) [[unlikely]]
      return Refuse(kOutOfYears);
    int64_t instant = seconds + base_;
    if (instant < 0 && *nanos >= least_cut_) --instant;
    const int64_t wall = is_utc_ ? instant : zone_.ToWall(instant);
    const int64_t micros = format::FloorDivide(*nanos, 1000);
    int64_t value = wall * format::kMicrosPerSecond + micros;
    if (is_hybrid_ && value < format::kGregorianStart * format::kMicrosPerDay) [[unlikely]] {
      const int64_t day = format::FloorDivide(value, format::kMicrosPerDay);
      const std::optional<int64_t> proleptic = format::HybridToProleptic(day);
      if (!proleptic) return Refuse("a 29 February that only the Julian calendar has");
      value += (*proleptic - day) * format::kMicrosPerDay;
    }
    if (value < format::kMinWallMicros || value > format::kMaxWallMicros) [[unlikely]]
      return Refuse(kOutOfYears);
    *us = value;
    *sub = static_cast<int16_t>(*nanos - micros * 1000);
    return absl::OkStatus();
  }

  static constexpr std::string_view kOutOfYears = "a timestamp outside of the years 1 to 9999";

  const WriterZone zone_;
  const bool is_utc_;
  const int64_t base_;
  const int64_t least_cut_;
  const bool is_hybrid_ = source().calendar() == Calendar::kJulianGregorian;
  IntDecoder seconds_;
  IntDecoder nanos_;
  std::vector<int64_t> stored_;
  std::vector<int64_t> codes_;
  IntDecoder::Place saved_seconds_;
  IntDecoder::Place saved_nanos_;
};

}  // namespace

ColumnReaderOr MakeTimestampReader(StripeSource& source, const PlanNode& node) {
  WriterZone zone = WriterZone::Utc();
  if (node.type.kind == TypeKind::kTimestamp) {
    SKEP_ASSIGN_OR_RETURN(zone, source.ZoneFor(node));
  }
  return std::unique_ptr<ColumnReader>(new TimestampReader(source, node, std::move(zone)));
}

}  // namespace skep::orc

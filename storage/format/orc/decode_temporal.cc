// Dates and timestamps of StripeDecoder.

#include <utility>

#include <arrow/buffer.h>
#include <arrow/util/bit_util.h>

#include "storage/base/status_macros.h"
#include "storage/format/arrow_status.h"
#include "storage/format/calendar.h"
#include "storage/format/orc/decode.h"
#include "storage/format/temporal.h"
#include "storage/format/timestamp_type.h"

namespace skep::orc {

namespace {

using format::FromArrow;

constexpr int64_t kUtcBase = 1420070400;  // 2015-01-01 00:00:00 UTC
constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kMilli = 1'000'000;
constexpr std::string_view kOutOfYears = "a timestamp outside of the years 1 to 9999";
constexpr std::string_view kJulianOnly = "a 29 February that only the Julian calendar has";

bool IsValid(const arrow::ArrayData& data, int64_t index) {
  return data.buffers[0] == nullptr || arrow::bit_util::GetBit(data.buffers[0]->data(), index);
}

// TY-14: a multiple of 100 is stored without its zeros. The code is read as signed: some writers
// put negative nanoseconds there (TY-19). nullopt where that is no fraction of a second.
std::optional<int64_t> NanosOf(int64_t code) {
  constexpr int64_t kPowers[] = {1, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  int64_t nanos = 0;
  if (__builtin_mul_overflow(code >> 3, kPowers[code & 7], &nanos)) return std::nullopt;
  if (nanos <= -kNanosPerSecond || nanos >= kNanosPerSecond) return std::nullopt;
  return nanos;
}

absl::StatusOr<std::shared_ptr<arrow::Buffer>> NewBuffer(int64_t bytes) {
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<arrow::Buffer> buffer,
                        FromArrow(arrow::AllocateBuffer(bytes)));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

}  // namespace

absl::StatusOr<StripeDecoder::Data> StripeDecoder::Dates(const PlanNode& node, const Data& from) {
  const auto* days = from->GetValues<int32_t>(1);
  bool old = false;
  for (int64_t i = 0; i < from->length; ++i) {
    if (IsValid(*from, i) && days[i] < format::kGregorianStart) old = true;
  }
  if (!old || calendar_ != Calendar::kJulianGregorian) return from;
  SKEP_ASSIGN_OR_RETURN(const auto values,
                        NewBuffer(from->length * static_cast<int64_t>(sizeof(int32_t))));
  auto* out = reinterpret_cast<int32_t*>(values->mutable_data());
  for (int64_t i = 0; i < from->length; ++i) {
    out[i] = 0;
    if (!IsValid(*from, i)) continue;
    const std::optional<int64_t> day = format::HybridToProleptic(days[i]);
    if (!day) return Refuse(node, kJulianOnly);
    out[i] = static_cast<int32_t>(*day);
  }
  Data copy = from->Copy();
  copy->buffers[1] = values;
  return copy;
}

// TY-15, TY-16: the seconds were cut toward zero before the epoch; the zone comes after that is
// undone.
absl::StatusOr<StripeDecoder::Data> StripeDecoder::Timestamps(const PlanNode& node,
                                                              const Data& from,
                                                              const Slots& present) {
  const bool is_utc = node.type.kind == TypeKind::kTimestampLocalTz;
  const auto* seconds = from->GetValues<int64_t>(1);
  SKEP_ASSIGN_OR_RETURN(const auto us_buffer,
                        NewBuffer(from->length * static_cast<int64_t>(sizeof(int64_t))));
  SKEP_ASSIGN_OR_RETURN(const auto sub_buffer,
                        NewBuffer(from->length * static_cast<int64_t>(sizeof(int16_t))));
  auto* us = reinterpret_cast<int64_t*>(us_buffer->mutable_data());
  auto* sub = reinterpret_cast<int16_t*>(sub_buffer->mutable_data());

  // Slots beside a union's tag hold values of the adapter's making, which no stream has.
  const auto is_stored = [&](int64_t i) {
    return IsValid(*from, i) && (present.empty() || present[static_cast<size_t>(i)] != 0);
  };
  size_t stored = 0;
  for (int64_t i = 0; i < from->length; ++i) stored += is_stored(i) ? 1 : 0;
  std::vector<int64_t> codes(stored);
  if (!codes.empty()) {
    const auto decoder = nanos_.find(node.column);
    if (decoder == nanos_.end())
      return Damaged(node, "a timestamp column without its SECONDARY stream");
    if (absl::Status status = decoder->second->Next(codes.size(), codes.data()); !status.ok()) {
      return AtColumn(node, status);
    }
  }
  // Keeps sums below within 64 bits; beyond it no instant is in range anyway.
  constexpr int64_t kLimit = 1'000'000'000'000;
  const int64_t base = is_utc ? kUtcBase : base_;
  size_t next = 0;
  for (int64_t i = 0; i < from->length; ++i) {
    us[i] = 0;
    sub[i] = 0;
    if (!is_stored(i)) continue;
    const std::optional<int64_t> fraction = NanosOf(codes[next++]);
    if (!fraction) return Damaged(node, "nanoseconds outside of a second");
    const int64_t nanos = *fraction;
    if (seconds[i] < -kLimit || seconds[i] > kLimit) return Refuse(node, kOutOfYears);
    int64_t instant = seconds[i] + base;
    if (instant < 0 && nanos >= (counts_any_fraction_ ? 1 : kMilli)) --instant;
    const int64_t wall = is_utc ? instant : zone_.ToWall(instant);
    us[i] = wall * format::kMicrosPerSecond + format::FloorDivide(nanos, 1000);
    sub[i] = static_cast<int16_t>(nanos - format::FloorDivide(nanos, 1000) * 1000);
    if (calendar_ == Calendar::kJulianGregorian) {
      const int64_t day = format::FloorDivide(us[i], format::kMicrosPerDay);
      const std::optional<int64_t> proleptic = format::HybridToProleptic(day);
      if (!proleptic) return Refuse(node, kJulianOnly);
      us[i] += (*proleptic - day) * format::kMicrosPerDay;
    }
    if (us[i] < format::kMinWallMicros || us[i] > format::kMaxWallMicros) {
      return Refuse(node, kOutOfYears);
    }
  }
  const auto child = [&](std::shared_ptr<arrow::DataType> type,
                         std::shared_ptr<arrow::Buffer> values) {
    return arrow::ArrayData::Make(std::move(type), from->length, {nullptr, std::move(values)}, 0);
  };
  return arrow::ArrayData::Make(format::TimestampStorage(),
                                from->length,
                                {from->buffers[0]},
                                {child(arrow::timestamp(arrow::TimeUnit::MICRO), us_buffer),
                                 child(arrow::int16(), sub_buffer)},
                                from->GetNullCount());
}

}  // namespace skep::orc

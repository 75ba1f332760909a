#include "storage/format/orc/int_column_writer.h"

#include <algorithm>
#include <optional>

#include "storage/format/calendar.h"
#include "storage/model/errors.h"

namespace skep::orc {

void IntRange::AddArithmetic(int64_t first, int64_t step, int64_t count) {
  const int64_t last = first + step * (count - 1);
  minimum = std::min({minimum, first, last});
  maximum = std::max({maximum, first, last});
  sum +=
      static_cast<__int128>(first) * count + static_cast<__int128>(step) * count * (count - 1) / 2;
}

void IntRange::Take(proto::ColumnStatistics* out) {
  proto::IntegerStatistics* ints = out->mutable_int_statistics();
  ints->set_minimum(minimum);
  ints->set_maximum(maximum);
  if (sum >= std::numeric_limits<int64_t>::min() && sum <= std::numeric_limits<int64_t>::max())
    ints->set_sum(static_cast<int64_t>(sum));
  *this = IntRange();
}

IntColumnWriter::IntColumnWriter(const ColumnContext& context, TypeKind kind, uint32_t column)
    : OneStreamWriter(context, column, Signedness::kSigned, context.packing), kind_(kind) {
  EnableBloom();
}

void IntColumnWriter::AppendArithmetic(int64_t first, int64_t step, int64_t count) {
  if (count == 0) return;
  NotePresent(count);
  range_.AddArithmetic(first, step, count);
  if (bloom_ != nullptr) {
    for (int64_t i = 0; i < (step == 0 ? 1 : count); ++i) bloom_->AddInteger(first + step * i);
  }
  data_.AddArithmetic(first, step, static_cast<size_t>(count));
}

absl::Status IntColumnWriter::AppendValid(const arrow::ArrayData& data,
                                          int64_t from,
                                          int64_t count) {
  const auto size = static_cast<size_t>(count);
  switch (kind_) {
    case TypeKind::kSmallint:
      AddValues(data.GetValues<int16_t>(1) + from, size);
      return absl::OkStatus();
    case TypeKind::kBigint:
      AddValues(data.GetValues<int64_t>(1) + from, size);
      return absl::OkStatus();
    case TypeKind::kDate:
      if (context_.calendar == Calendar::kJulianGregorian)
        return AppendHybridDays(data.GetValues<int32_t>(1) + from, count);
      [[fallthrough]];
    default:
      AddValues(data.GetValues<int32_t>(1) + from, size);
      return absl::OkStatus();
  }
}

absl::Status IntColumnWriter::AppendHybridDays(const int32_t* days, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const std::optional<int64_t> day = format::ProlepticToHybrid(days[i]);
    if (!day) {
      return MakeError(ErrorReason::kValueOutOfRange,
                       "a day that the hybrid calendar does not have");
    }
    AddValues(&*day, 1);
  }
  return absl::OkStatus();
}

void IntColumnWriter::TakeStatistics(proto::ColumnStatistics* out) {
  if (kind_ != TypeKind::kDate) {
    range_.Take(out);
    return;
  }
  proto::DateStatistics* dates = out->mutable_date_statistics();
  dates->set_minimum(static_cast<int32_t>(range_.minimum));
  dates->set_maximum(static_cast<int32_t>(range_.maximum));
  range_ = IntRange();
}

}  // namespace skep::orc

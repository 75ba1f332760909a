#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <arrow/util/decimal.h>

#include "storage/format/orc/decimal_text.h"
#include "storage/format/orc/statistics.h"

namespace skep::orc {

namespace {

// Widens [minimum, maximum] of `into` by that of `from`; both are messages with these two fields.
template <class Message>
void WidenBounds(const Message& from, Message* into) {
  if (!into->has_minimum() || from.minimum() < into->minimum()) into->set_minimum(from.minimum());
  if (!into->has_maximum() || from.maximum() > into->maximum()) into->set_maximum(from.maximum());
}

void MergeInts(const proto::IntegerStatistics& from, proto::IntegerStatistics* into) {
  WidenBounds(from, into);
  int64_t sum = 0;
  if (from.has_sum() && into->has_sum() && !__builtin_add_overflow(from.sum(), into->sum(), &sum)) {
    into->set_sum(sum);
  } else {
    into->clear_sum();
  }
}

void MergeDoubles(const proto::DoubleStatistics& from, proto::DoubleStatistics* into) {
  WidenBounds(from, into);
  if (from.has_sum() && into->has_sum()) {
    into->set_sum(from.sum() + into->sum());
  } else {
    into->clear_sum();
  }
}

// The lower side of text bounds: an exact minimum or a bound below it.
void MergeLower(const proto::StringStatistics& from, proto::StringStatistics* into) {
  const std::string& ours = into->has_minimum() ? into->minimum() : into->lower_bound();
  const std::string& theirs = from.has_minimum() ? from.minimum() : from.lower_bound();
  if (theirs > ours || (theirs == ours && from.has_minimum())) return;
  into->clear_minimum();
  into->clear_lower_bound();
  if (from.has_minimum()) {
    into->set_minimum(from.minimum());
  } else {
    into->set_lower_bound(from.lower_bound());
  }
}

void MergeUpper(const proto::StringStatistics& from, proto::StringStatistics* into) {
  const std::string& ours = into->has_maximum() ? into->maximum() : into->upper_bound();
  const std::string& theirs = from.has_maximum() ? from.maximum() : from.upper_bound();
  if (theirs < ours || (theirs == ours && from.has_maximum())) return;
  into->clear_maximum();
  into->clear_upper_bound();
  if (from.has_maximum()) {
    into->set_maximum(from.maximum());
  } else {
    into->set_upper_bound(from.upper_bound());
  }
}

void MergeStrings(const proto::StringStatistics& from, proto::StringStatistics* into) {
  MergeLower(from, into);
  MergeUpper(from, into);
  into->set_sum(into->sum() + from.sum());
}

struct ScaledDecimal {
  arrow::Decimal256 value;  // of scale 38
  bool ok = false;
};

ScaledDecimal ParseDecimal(const std::string& text) {
  constexpr int32_t kScale = 38;
  ScaledDecimal out;
  int32_t precision = 0, scale = 0;
  arrow::Decimal256 value;
  if (!arrow::Decimal256::FromString(text, &value, &precision, &scale).ok()) return out;
  const arrow::Result<arrow::Decimal256> scaled = value.Rescale(scale, kScale);
  if (!scaled.ok()) return out;
  out.value = *scaled;
  out.ok = true;
  return out;
}

// nullopt where the sum has more than 38 digits, or a text is no decimal.
std::optional<std::string> AddDecimals(const std::string& a, const std::string& b) {
  constexpr int32_t kScale = 38, kMostDigits = 38;
  const ScaledDecimal left = ParseDecimal(a), right = ParseDecimal(b);
  if (!left.ok || !right.ok) return std::nullopt;
  std::string sum =
      PlainDecimal(arrow::Decimal256(left.value + right.value).ToIntegerString(), kScale);
  const auto digits =
      std::count_if(sum.begin(), sum.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits > kMostDigits) return std::nullopt;
  return sum;
}

// False where a text is no decimal: the caller gives the bounds up.
bool MergeDecimals(const proto::DecimalStatistics& from, proto::DecimalStatistics* into) {
  const ScaledDecimal low = ParseDecimal(from.minimum()), our_low = ParseDecimal(into->minimum());
  const ScaledDecimal high = ParseDecimal(from.maximum()), our_high = ParseDecimal(into->maximum());
  if (!low.ok || !high.ok || !our_low.ok || !our_high.ok) return false;
  if (low.value < our_low.value) into->set_minimum(from.minimum());
  if (our_high.value < high.value) into->set_maximum(from.maximum());
  const std::optional<std::string> sum =
      from.has_sum() && into->has_sum() ? AddDecimals(from.sum(), into->sum()) : std::nullopt;
  if (sum) {
    into->set_sum(*sum);
  } else {
    into->clear_sum();
  }
  return true;
}

// What is beyond the millisecond follows the millisecond that wins; absent, it is 0 below and
// 999999 above (one more is stored).
void MergeTimestamps(const proto::TimestampStatistics& from, proto::TimestampStatistics* into) {
  constexpr int32_t kLeast = 1, kMost = 1'000'000;
  const auto low = [&](const proto::TimestampStatistics& of) {
    return std::pair(of.minimum_utc(), of.has_minimum_nanos() ? of.minimum_nanos() : kLeast);
  };
  const auto high = [&](const proto::TimestampStatistics& of) {
    return std::pair(of.maximum_utc(), of.has_maximum_nanos() ? of.maximum_nanos() : kMost);
  };
  const auto [low_ms, low_nanos] = std::min(low(from), low(*into));
  const auto [high_ms, high_nanos] = std::max(high(from), high(*into));
  into->clear_minimum();  // local milliseconds of some zone
  into->clear_maximum();
  into->set_minimum_utc(low_ms);
  into->set_maximum_utc(high_ms);
  into->clear_minimum_nanos();
  into->clear_maximum_nanos();
  if (low_nanos != kLeast) into->set_minimum_nanos(low_nanos);
  if (high_nanos != kMost) into->set_maximum_nanos(high_nanos);
}

void MergeCollections(const proto::CollectionStatistics& from, proto::CollectionStatistics* into) {
  if (!from.has_minimum_children() || !into->has_minimum_children()) {
    into->clear_minimum_children();
    into->clear_maximum_children();
  } else {
    into->set_minimum_children(std::min(from.minimum_children(), into->minimum_children()));
    into->set_maximum_children(std::max(from.maximum_children(), into->maximum_children()));
  }
  into->set_total_children(from.total_children() + into->total_children());
}

bool HasTypedStatistics(const proto::ColumnStatistics& statistics) {
  return statistics.has_int_statistics() || statistics.has_double_statistics() ||
         statistics.has_string_statistics() || statistics.has_bucket_statistics() ||
         statistics.has_decimal_statistics() || statistics.has_date_statistics() ||
         statistics.has_binary_statistics() || statistics.has_timestamp_statistics() ||
         statistics.has_collection_statistics();
}

void DropTyped(proto::ColumnStatistics* statistics) {
  statistics->clear_int_statistics();
  statistics->clear_double_statistics();
  statistics->clear_string_statistics();
  statistics->clear_bucket_statistics();
  statistics->clear_decimal_statistics();
  statistics->clear_date_statistics();
  statistics->clear_binary_statistics();
  statistics->clear_timestamp_statistics();
  statistics->clear_collection_statistics();
}

// Both sides have values and a typed message of one kind.
void MergeTyped(const proto::ColumnStatistics& from, proto::ColumnStatistics* into) {
  if (from.has_int_statistics() && into->has_int_statistics()) {
    MergeInts(from.int_statistics(), into->mutable_int_statistics());
  } else if (from.has_double_statistics() && into->has_double_statistics()) {
    MergeDoubles(from.double_statistics(), into->mutable_double_statistics());
  } else if (from.has_string_statistics() && into->has_string_statistics()) {
    MergeStrings(from.string_statistics(), into->mutable_string_statistics());
  } else if (from.has_bucket_statistics() && into->has_bucket_statistics() &&
             from.bucket_statistics().count_size() == 1 &&
             into->bucket_statistics().count_size() == 1) {
    into->mutable_bucket_statistics()->set_count(
        0, into->bucket_statistics().count(0) + from.bucket_statistics().count(0));
  } else if (from.has_decimal_statistics() && into->has_decimal_statistics()) {
    if (!MergeDecimals(from.decimal_statistics(), into->mutable_decimal_statistics()))
      DropTyped(into);
  } else if (from.has_date_statistics() && into->has_date_statistics()) {
    WidenBounds(from.date_statistics(), into->mutable_date_statistics());
  } else if (from.has_binary_statistics() && into->has_binary_statistics()) {
    into->mutable_binary_statistics()->set_sum(into->binary_statistics().sum() +
                                               from.binary_statistics().sum());
  } else if (from.has_timestamp_statistics() && into->has_timestamp_statistics()) {
    MergeTimestamps(from.timestamp_statistics(), into->mutable_timestamp_statistics());
  } else if (from.has_collection_statistics() && into->has_collection_statistics()) {
    MergeCollections(from.collection_statistics(), into->mutable_collection_statistics());
  } else {
    DropTyped(into);
  }
}

}  // namespace

void Merge(const proto::ColumnStatistics& from, proto::ColumnStatistics* into) {
  const uint64_t ours = into->number_of_values(), theirs = from.number_of_values();
  const bool has_null = into->has_null() || !from.has_has_null() || from.has_null();
  const bool has_bytes = into->has_bytes_on_disk() || from.has_bytes_on_disk();
  const uint64_t bytes = into->bytes_on_disk() + from.bytes_on_disk();
  if (ours == 0 && theirs > 0) {
    *into = from;
  } else if (theirs > 0 && (HasTypedStatistics(from) || HasTypedStatistics(*into))) {
    MergeTyped(from, into);
  }
  into->set_number_of_values(ours + theirs);
  into->set_has_null(has_null);
  if (has_bytes) into->set_bytes_on_disk(bytes);
}

}  // namespace skep::orc

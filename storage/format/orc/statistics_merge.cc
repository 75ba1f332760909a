#include <cmath>
#include <string>

#include <arrow/util/decimal.h>

#include "storage/format/json_text.h"
#include "storage/format/orc/statistics.h"

namespace skep::orc {

namespace {

constexpr size_t kMaxBound = 1024;

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

struct DecimalText {
  arrow::Decimal256 value;  // of scale 38
  bool ok = false;
};

DecimalText ParseDecimal(const std::string& text) {
  constexpr int32_t kScale = 38;
  DecimalText out;
  int32_t precision = 0, scale = 0;
  arrow::Decimal256 value;
  if (!arrow::Decimal256::FromString(text, &value, &precision, &scale).ok()) return out;
  const arrow::Result<arrow::Decimal256> scaled = value.Rescale(scale, kScale);
  if (!scaled.ok()) return out;
  out.value = *scaled;
  out.ok = true;
  return out;
}

// False where a text is no decimal: the caller gives the bounds up.
bool MergeDecimals(const proto::DecimalStatistics& from, proto::DecimalStatistics* into) {
  const DecimalText low = ParseDecimal(from.minimum()), our_low = ParseDecimal(into->minimum());
  const DecimalText high = ParseDecimal(from.maximum()), our_high = ParseDecimal(into->maximum());
  if (!low.ok || !high.ok || !our_low.ok || !our_high.ok) return false;
  if (low.value < our_low.value) into->set_minimum(from.minimum());
  if (our_high.value < high.value) into->set_maximum(from.maximum());
  into->clear_sum();  // exact sums of 38 digits are nobody's need
  return true;
}

void MergeTimestamps(const proto::TimestampStatistics& from, proto::TimestampStatistics* into) {
  if (from.minimum_utc() < into->minimum_utc()) into->set_minimum_utc(from.minimum_utc());
  if (from.maximum_utc() > into->maximum_utc()) into->set_maximum_utc(from.maximum_utc());
}

void CutBounds(proto::StringStatistics* strings) {
  if (strings->has_minimum() && strings->minimum().size() > kMaxBound) {
    std::string cut = strings->minimum().substr(0, kMaxBound);
    strings->clear_minimum();
    strings->set_lower_bound(std::move(cut));
  }
  if (strings->has_maximum() && strings->maximum().size() > kMaxBound) {
    // The successor of the cut text: its last ASCII character plus one. Bytes above that are left
    // alone, so that the bound stays UTF-8.
    std::string cut = strings->maximum().substr(0, kMaxBound);
    while (!cut.empty() && static_cast<uint8_t>(cut.back()) >= 0x7F) cut.pop_back();
    strings->clear_maximum();
    if (cut.empty()) {
      strings->clear_minimum();
      strings->clear_lower_bound();  // one bound alone is read by nobody
      return;
    }
    cut.back() = static_cast<char>(cut.back() + 1);
    strings->set_upper_bound(std::move(cut));
  }
}

bool HasTypedStatistics(const proto::ColumnStatistics& statistics) {
  return statistics.has_int_statistics() || statistics.has_double_statistics() ||
         statistics.has_string_statistics() || statistics.has_bucket_statistics() ||
         statistics.has_decimal_statistics() || statistics.has_date_statistics() ||
         statistics.has_binary_statistics() || statistics.has_timestamp_statistics();
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
  } else {
    DropTyped(into);
  }
}

}  // namespace

void Clean(TextBounds text, proto::ColumnStatistics* statistics) {
  statistics->DiscardUnknownFields();
  statistics->clear_bytes_on_disk();
  if (statistics->has_double_statistics()) {
    const proto::DoubleStatistics& doubles = statistics->double_statistics();
    if (!doubles.has_sum() || std::isnan(doubles.sum()) || std::isnan(doubles.minimum()) ||
        std::isnan(doubles.maximum())) {
      statistics->clear_double_statistics();
    }
  }
  if (statistics->has_string_statistics()) {
    if (text == TextBounds::kDrop) {
      statistics->clear_string_statistics();
    } else {
      CutBounds(statistics->mutable_string_statistics());
      const proto::StringStatistics& strings = statistics->string_statistics();
      if (!strings.has_maximum() && !strings.has_upper_bound())
        statistics->clear_string_statistics();
    }
  }
  // Without values the typed message says nothing and misleads some readers.
  if (statistics->number_of_values() == 0) DropTyped(statistics);
}

void Merge(const proto::ColumnStatistics& from, proto::ColumnStatistics* into) {
  const uint64_t ours = into->number_of_values(), theirs = from.number_of_values();
  into->set_number_of_values(ours + theirs);
  into->set_has_null(into->has_null() || from.has_null());
  if (theirs == 0) return;
  if (ours == 0) {
    const uint64_t values = into->number_of_values();
    const bool has_null = into->has_null();
    *into = from;
    into->set_number_of_values(values);
    into->set_has_null(has_null);
    return;
  }
  if (HasTypedStatistics(from) || HasTypedStatistics(*into)) MergeTyped(from, into);
}

}  // namespace skep::orc

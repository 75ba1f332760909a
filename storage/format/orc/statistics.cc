#include "storage/format/orc/statistics.h"

namespace skep::orc {

namespace {

void SetStrings(const proto::StringStatistics& from, ColumnStatistics* to) {
  if (from.has_minimum()) to->string_min = from.minimum();
  if (from.has_maximum()) to->string_max = from.maximum();
  if (from.has_lower_bound()) {
    to->string_min = from.lower_bound();
    to->string_min_truncated = true;
  }
  if (from.has_upper_bound()) {
    to->string_max = from.upper_bound();
    to->string_max_truncated = true;
  }
  if (from.has_sum()) to->string_length_sum = from.sum();
}

}  // namespace

ColumnStatistics FromProto(const proto::ColumnStatistics& from) {
  ColumnStatistics to;
  if (from.has_number_of_values()) to.values = from.number_of_values();
  to.has_null = !from.has_has_null() || from.has_null();
  if (from.has_int_statistics()) {
    const proto::IntegerStatistics& ints = from.int_statistics();
    if (ints.has_minimum()) to.int_min = ints.minimum();
    if (ints.has_maximum()) to.int_max = ints.maximum();
    if (ints.has_sum()) to.int_sum = ints.sum();
  }
  if (from.has_double_statistics()) {
    const proto::DoubleStatistics& doubles = from.double_statistics();
    if (doubles.has_minimum()) to.double_min = doubles.minimum();
    if (doubles.has_maximum()) to.double_max = doubles.maximum();
    if (doubles.has_sum()) to.double_sum = doubles.sum();
  }
  if (from.has_string_statistics()) SetStrings(from.string_statistics(), &to);
  if (from.has_binary_statistics() && from.binary_statistics().has_sum()) {
    to.string_length_sum = from.binary_statistics().sum();
  }
  if (from.has_date_statistics()) {
    const proto::DateStatistics& dates = from.date_statistics();
    if (dates.has_minimum()) to.date_min = dates.minimum();
    if (dates.has_maximum()) to.date_max = dates.maximum();
  }
  if (from.has_timestamp_statistics()) {
    const proto::TimestampStatistics& times = from.timestamp_statistics();
    if (times.has_minimum_utc()) to.timestamp_min_utc_ms = times.minimum_utc();
    if (times.has_maximum_utc()) to.timestamp_max_utc_ms = times.maximum_utc();
  }
  if (from.has_decimal_statistics()) {
    const proto::DecimalStatistics& decimals = from.decimal_statistics();
    if (decimals.has_minimum()) to.decimal_min = decimals.minimum();
    if (decimals.has_maximum()) to.decimal_max = decimals.maximum();
    if (decimals.has_sum()) to.decimal_sum = decimals.sum();
  }
  if (from.has_bucket_statistics() && from.bucket_statistics().count_size() == 1) {
    to.true_count = from.bucket_statistics().count(0);
  }
  from.SerializeToString(&to.raw);
  return to;
}

}  // namespace skep::orc

#pragma once

// The one vocabulary of values above storage/format: Arrow arrays of these types, whatever the file
// format.
//
//   boolean, tinyint…bigint, float, double   bool_, int8…int64, float32, float64
//   string, varchar(n), char(n)              utf8 (not validated; char padded to n characters,
//   varchar cut) binary                                   binary date date32 (proleptic)
//   decimal(p,s)                             decimal128(p,s)
//   timestamp                                extension "skep.timestamp": struct<us: timestamp[us],
//   sub: int16> timestamp with local time zone           extension "skep.timestamp_ltz": the same,
//   in UTC array, map, struct                       list, map, struct uniontype struct<tag: int8,
//   f0, f1, …> (Arrow's unions cannot be null)
//
// us is the microsecond of the wall clock (floor), sub the nanoseconds 0…999 within it. Validity is
// on the struct. 0001-01-01 to 9999-12-31 23:59:59.999999999 without loss.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/model/hive_type.h"
#include "storage/model/table.h"

namespace arrow {
class Array;
class DataType;
class RecordBatch;
class Schema;
}  // namespace arrow

namespace skep::format {

std::shared_ptr<arrow::DataType> ArrowTypeOf(const HiveType& type);
// Errors: kNotSupported naming the Arrow type. Accepts at the edge timestamp[s|ms|us|ns] and
// large_utf8.
absl::StatusOr<HiveType> HiveTypeOf(const arrow::DataType& type);
std::shared_ptr<arrow::Schema> ArrowSchemaOf(const std::vector<Column>& columns);

// The public writers' door: converts a batch as users make it (timestamp[s|ms|us|ns] with or
// without zone, dictionary and large arrays, columns in any order) into the vocabulary under
// `columns`; absent columns are null. Errors: kInvalidRequest (a column the table lacks, a type
// that does not fit), kValueOutOfRange with column and row.
absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> ToVocabulary(
    const arrow::RecordBatch& batch, const std::vector<Column>& columns);

// The public readers' door: timestamps as timestamp[us] or [ns]; fails by column and row where that
// loses something.
enum class TimestampUnit { kMicro, kNano };
absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> FromVocabulary(const arrow::RecordBatch& batch,
                                                                   TimestampUnit unit);

// One value as JSON, as the fixtures' README writes it: integers and finite floats as numbers, NaN
// and infinities as strings, decimal, date, timestamp, char, varchar as strings, binary as
// "base64:…", a union as {"tag": value}. Fractions of seconds without trailing zeros.
void AppendJson(const arrow::Array& array, int64_t index, const HiveType& type, std::string* out);

// A partition value (the unescaped text of the directory) as a typed JSON value, as Hive shows it.
// Errors: kInvalidRequest where the text is not a value of the type.
absl::StatusOr<std::string> PartitionValueJson(const std::optional<std::string>& value,
                                               const HiveType& type);

}  // namespace skep::format

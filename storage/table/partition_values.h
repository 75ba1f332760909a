#pragma once

// Partition columns: not in the files, but text in the directory names (N-11, W-13).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/model/hive_type.h"

namespace arrow {
class Array;
}  // namespace arrow

namespace skep::table {

struct PartitionValue {
  Column column;
  std::optional<std::string> text;  // unescaped; nullopt: NULL
};

// The values of a partition, by the table's partition columns. `name` is the directory path
// "k=v/k2=v2". Errors: kMalformedDirectory where number or names of the components differ from the
// columns.
absl::StatusOr<std::vector<PartitionValue>> PartitionValuesOf(const std::string& name,
                                                              const std::vector<Column>& columns);

// `length` times the value, in the vocabulary. Errors: kInvalidRequest where the text is not a
// value of the column's type; kNotSupported for types that cannot partition a table.
absl::StatusOr<std::shared_ptr<arrow::Array>> RepeatPartitionValue(const PartitionValue& value,
                                                                   int64_t length);

// The text of one value of a partition column (as Hive names the directory); nullopt: NULL.
absl::StatusOr<std::optional<std::string>> PartitionText(const arrow::Array& array,
                                                         int64_t index,
                                                         const HiveType& type);

}  // namespace skep::table

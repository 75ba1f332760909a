#pragma once

#include <string_view>

#include <absl/status/status.h>

#include "storage/model/hive_type.h"
#include "storage/model/names.h"

namespace skep {

// Whether every value of `spec` is one of its column's type: a reader shows it as that, and Hive
// shows NULL for one that is not. Columns as many as values, in their order; Hive's default
// partition fits all. Errors: kInvalidRequest that names value, column and type.
absl::Status CheckPartitionValues(const PartitionSpec& spec, const std::vector<Column>& columns);

// One value. Types that cannot partition a table are not this function's: true.
bool FitsType(std::string_view value, const HiveType& type);

}  // namespace skep

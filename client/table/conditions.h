#pragma once

#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "skep/rows.h"
#include "storage/format/predicate.h"
#include "storage/model/hive_type.h"
#include "storage/table/partition_values.h"

namespace skep::client {

// The conditions as one predicate; nullopt where there are none. Column names become lower case.
// Errors: kInvalidRequest for a number of values that the comparison does not take.
absl::StatusOr<std::optional<format::Predicate>> PredicateOf(const std::vector<Condition>& where);

// False if the conditions on partition columns alone show that no row of the partition can pass.
absl::StatusOr<bool> PartitionMayMatch(const std::vector<table::PartitionValue>& partition,
                                       const std::vector<Condition>& where);

}  // namespace skep::client

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/model/table.h"

namespace skep::meta {

// What is too ragged for columns is stored as JSON text that a person can read and json_each can
// take apart. Errors: kInternal for text that is not UTF-8, which the doors of the server keep out.
absl::StatusOr<std::string> ToJson(const TableSchema& schema);        // {"columns":[{"name":…
absl::StatusOr<std::string> ToJson(const Properties& properties);     // {"key":"value"}
absl::StatusOr<std::string> ToJson(const std::vector<int64_t>& ids);  // [3,4]

// The inverse. Errors: kCorruptStore naming what does not fit.
absl::Status FromJson(std::string_view text, TableSchema& schema);
absl::Status FromJson(std::string_view text, Properties& properties);
absl::Status FromJson(std::string_view text, std::vector<int64_t>& ids);

}  // namespace skep::meta

#pragma once

#include <string_view>

#include <absl/status/status.h>

#include "storage/model/table.h"

namespace skep {

// Values of the table properties that Skep itself acts on, such as `orc.compress`, names in any
// case. Other properties are anybody's: kept, never looked at; so is an empty value. Errors:
// kInvalidRequest with the name, the value and what is allowed; metadata field (the name).
absl::Status CheckPropertyValues(const Properties& properties);
// One of them, where it is there.
absl::Status CheckPropertyValue(const Properties& properties, std::string_view name);

}  // namespace skep

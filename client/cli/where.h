#pragma once

#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "skep/rows.h"

namespace skep::cli {

// `status = "NEW" AND amount > 10 AND d BETWEEN date '2026-10-01' AND '2026-10-31' AND k IN (1, 2)
// AND n IS NOT NULL`. Comparisons =, ==, !=, <>, <, <=, >, >=; values are numbers, quoted text,
// true and false. Empty text: none. Errors: kInvalidRequest with the place and a caret; OR, NOT and
// parentheses are named as what they are.
absl::StatusOr<std::vector<client::Condition>> ParseWhere(std::string_view text);

}  // namespace skep::cli

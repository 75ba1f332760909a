#pragma once

// Text as a value of a column's type: literals of predicates and values of partition directories.
// Inside the room.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <arrow/util/decimal.h>

#include "storage/format/temporal.h"
#include "storage/model/hive_type.h"

namespace skep::format {

// A decimal of the column's scale. `above`: the text has digits beyond that scale, and its value
// lies above `floor` by less than one unit.
struct DecimalLiteral {
  arrow::Decimal128 floor;
  bool above = false;
};

struct DateLiteral {
  int32_t days = 0;
};

// boolean; every integer; float and double; string, char (without trailing blanks), varchar,
// binary; date; timestamps; decimal.
using Literal =
    std::variant<bool, int64_t, double, std::string, DateLiteral, WallTime, DecimalLiteral>;

// nullopt where the text is no value of the type, or the type has no literals.
std::optional<Literal> ParseLiteral(std::string_view text, const HiveType& type);

}  // namespace skep::format

#pragma once

// What is known about the values of a column in some set of rows: a file, a stripe, a row group.

#include <functional>
#include <optional>
#include <string>

#include "storage/format/literal.h"
#include "storage/model/hive_type.h"

namespace skep::format {

// Everything is possible unless said otherwise. Bounds are of the column's type, as
// EvaluatePredicate compares it (CHAR without trailing blanks); no value lies outside of them, but
// none has to reach them. A NaN lies inside of any.
struct ColumnRange {
  bool may_be_null = true;
  bool may_have_values = true;
  std::optional<Literal> min;
  std::optional<Literal> max;
  // Whether a value within the bounds can be there at all; empty: yes.
  std::function<bool(const Literal&)> may_contain;
};

// The range of a column, by lower-case name, as values of the type that the predicate was bound to;
// nullopt: nothing is known.
using RangeOfColumn =
    std::function<std::optional<ColumnRange>(const std::string& column, const HiveType& type)>;

}  // namespace skep::format

#pragma once

// Statistics as ranges that predicates are held against, with everything left out that a writer is
// known to have got wrong (SG-1 … SG-10).

#include <cstdint>
#include <optional>

#include "storage/format/column_range.h"
#include "storage/format/orc/plan.h"
#include "storage/format/orc/tail.h"

namespace skep::orc {

enum class StatisticsLevel { kFile, kStripe, kRowGroup };

// What `statistics` prove of `rows` values of a column. `calendar` is the one that the file is read
// in. nullopt: nothing. Nulls of parents are the caller's business.
std::optional<format::ColumnRange> RangeOf(const ColumnStatistics& statistics,
                                           const HiveType& type,
                                           const Tail& tail,
                                           Calendar calendar,
                                           StatisticsLevel level,
                                           uint64_t rows);

}  // namespace skep::orc

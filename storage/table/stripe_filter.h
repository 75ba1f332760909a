#pragma once

// Which stripes of a file a predicate may find rows in, by the stripe statistics. Skips, never
// filters: every row is evaluated again.

#include <cstddef>
#include <optional>
#include <vector>

#include "storage/format/orc/tail.h"
#include "storage/format/predicate.h"

namespace skep::table {

// Ascending stripe numbers; nullopt: all of them. Looks at comparisons of integer columns and at IS
// NULL under AND and OR; nothing is skipped in files whose statistics are not to be believed (M-4)
// or are incomplete. For files with inserts only: `row` is null in delete events (D-12). Columns
// are matched by name.
std::optional<std::vector<size_t>> StripesToRead(const orc::Tail& tail,
                                                 const format::Predicate& predicate);

}  // namespace skep::table

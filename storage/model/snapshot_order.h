#pragma once

// Whether two lists show the same, and which shows more. Stateless functions.

#include <compare>

#include "storage/model/snapshot.h"

namespace skep {

// Who sees the first id that only one of the two shows is the greater (VAL-11). Ids that are hidden
// up to the high mark mean the same as a lower mark, and open means the same as aborted (VAL-10,
// VAL-12). O(listed ids).
std::strong_ordering CompareShown(const ValidIds& a, const ValidIds& b);

// Both show the same rows of the same table: what was derived from one holds for the other
// (VAL-10). A mark that was forgotten counts as shown: nothing of its id is left to be seen.
bool ShowTheSame(const WriteIdSnapshot& a, const WriteIdSnapshot& b);

}  // namespace skep

#pragma once

// What an asker that has one version of a list needs in order to have another. Value types,
// stateless functions.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/model/snapshot.h"

namespace skep {

// All lists ascending. The new high mark travels with the list itself.
struct ValidIdsChange {
  std::vector<int64_t> opened;   // open now, not listed as open before
  std::vector<int64_t> closed;   // were open, are not any more
  std::vector<int64_t> aborted;  // aborted now, not before

  friend bool operator==(const ValidIdsChange&, const ValidIdsChange&) = default;
};

// nullopt where `after` does not follow from `before` by such a change: its high mark is lower, or
// an aborted mark is gone.
std::optional<ValidIdsChange> ChangeBetween(const ValidIds& before, const ValidIds& after);

// The list that ChangeBetween was asked for, `high` its mark. Errors: kInvalidRequest for a change
// that does not fit `before`.
absl::StatusOr<ValidIds> ApplyChange(const ValidIds& before,
                                     const ValidIdsChange& change,
                                     int64_t high);

// The ids that `now`, a later list of the same table, shows and `before` does not: inclusive
// ranges, ascending, disjoint. An id that was aborted before has shown nothing since, also where
// its mark is gone. O(listed ids).
std::vector<std::pair<int64_t, int64_t>> NewlyVisible(const WriteIdSnapshot& before,
                                                      const ValidIds& now);

}  // namespace skep

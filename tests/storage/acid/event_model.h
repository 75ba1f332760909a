#pragma once

// Directories with their events in memory, and the naive reading of a selection (D-1…D-4, D-6):
// what rule tests use where files would only be in the way.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "storage/acid/selection.h"
#include "tests/testing/listings.h"

namespace skep::acid {

struct RowKey {
  int64_t write_id = 0;
  int32_t bucket = 0;
  int64_t row_id = 0;
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

struct Event {
  RowKey key;
  int64_t current_write_id = 0;
  bool is_delete = false;
  friend auto operator<=>(const Event&, const Event&) = default;
};

using Disk = std::map<std::string, std::vector<Event>>;  // by directory name

inline Listing ListingOf(const Disk& disk) {
  std::vector<std::string> names;
  for (const auto& [name, events] : disk) names.push_back(name);
  return testing::MakeListing(names);
}

// The row ids that a reader with this selection and list sees. A key that is met twice is a fault:
// it comes back with a negative write id.
inline std::set<RowKey> ReadRows(const Disk& disk,
                                 const Selection& selection,
                                 const WriteIdSnapshot& write_ids) {
  std::vector<AcidDirName> dirs;
  if (selection.base) dirs.push_back(selection.base->name);
  for (const AcidDir& delta : selection.deltas) dirs.push_back(delta.name);
  const auto is_deleted = [&](const AcidDirName& dir, const RowKey& key) {
    for (const AcidDirName& other : dirs) {
      if (other.kind != DirKind::kDeleteDelta || !DeleteDeltaApplies(other, dir)) continue;
      for (const Event& event : disk.at(other.name)) {
        if (event.key == key && write_ids.IsValid(WriteId(event.current_write_id))) return true;
      }
    }
    return false;
  };
  std::set<RowKey> rows;
  for (const AcidDirName& dir : dirs) {
    if (dir.kind == DirKind::kDeleteDelta) continue;
    for (const Event& event : disk.at(dir.name)) {
      if (!write_ids.IsValid(WriteId(event.current_write_id))) continue;
      if (is_deleted(dir, event.key)) continue;
      if (!rows.insert(event.key).second) rows.insert(RowKey{-event.key.write_id, 0, 0});
    }
  }
  return rows;
}

}  // namespace skep::acid

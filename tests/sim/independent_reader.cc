#include "tests/sim/independent_reader.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <regex>
#include <vector>

#include "storage/base/status_macros.h"

namespace skep::sim {
namespace {

struct Directory {
  std::string name;
  bool base = false;
  int64_t last = 0;  // write id; of a base the one that it holds everything up to
  std::optional<int64_t> txn;
};

std::optional<Directory> Understand(const std::string& name) {
  static const std::regex kForm(
      "(?:(base)_([0-9]+)|(?:delete_)?delta_[0-9]+_([0-9]+)(?:_[0-9]{4})?)(?:_v([0-9]+))?");
  std::smatch parts;
  if (!std::regex_match(name, parts, kForm)) return std::nullopt;
  Directory directory{name, parts[1].matched, 0, std::nullopt};
  directory.last = std::stoll(parts[directory.base ? 2 : 3]);
  if (parts[4].matched) directory.txn = std::stoll(parts[4]);
  return directory;
}

}  // namespace

absl::StatusOr<Rows> ReadSlowly(Warehouse& warehouse, const std::string& dir, const Sight& sight) {
  const auto entries = warehouse.disk().List(dir);
  if (absl::IsNotFound(entries.status())) return Rows();
  SKEP_RETURN_IF_ERROR(entries.status());
  std::vector<Directory> visible;
  int64_t below = 0;  // what the best base holds already
  for (const fs::DirEntry& entry : *entries) {
    const std::optional<Directory> found = Understand(entry.name);
    if (!found || (found->txn && !sight.txn(*found->txn))) continue;
    // A base that nobody compacted is somebody's overwrite.
    if (found->base && !found->txn && !sight.write_id(found->last)) continue;
    if (found->base) below = std::max(below, found->last);
    visible.push_back(*found);
  }
  Rows rows;
  Rows deleted;
  for (const Directory& directory : visible) {
    const bool chosen = directory.base ? directory.last == below : directory.last > below;
    if (!chosen) continue;
    SKEP_ASSIGN_OR_RETURN(const auto events, warehouse.EventsOf(dir + "/" + directory.name));
    for (const Warehouse::Event& event : events) {
      const bool deletes = !event.deleter.is_none();
      const WriteId by = deletes ? event.deleter : event.row.write_id;
      if (sight.write_id(by.value())) (deletes ? deleted : rows).insert(event.row);
    }
  }
  for (const Row& row : deleted) rows.erase(row);
  return rows;
}

}  // namespace skep::sim

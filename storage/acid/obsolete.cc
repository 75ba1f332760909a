#include "storage/acid/obsolete.h"

#include <algorithm>
#include <map>
#include <set>

#include "storage/acid/walk.h"

namespace skep::acid {

namespace {

// CL-8: the list in the cleaner's form, as if nothing above `highest` had happened.
WriteIdSnapshot CutForCleaner(const WriteIdSnapshot& write_ids, WriteId highest) {
  WriteIdSnapshot cut = write_ids;
  cut.role = SnapshotRole::kCleaner;
  cut.own.clear();
  cut.ids.high = std::min(cut.ids.high, highest.value());
  auto above = [&](int64_t id) { return id > cut.ids.high; };
  std::erase_if(cut.ids.open, above);
  std::erase_if(cut.ids.aborted, above);
  return cut;
}

bool IsInUnionDir(std::string_view path) {
  const size_t slash = path.find('/');
  return slash != std::string_view::npos && IsUnionDirName(path.substr(0, slash));
}

}  // namespace

std::vector<Removal> SelectObsolete(const Listing& listing,
                                    const WriteIdSnapshot& write_ids,
                                    const Visibility& visibility,
                                    WriteId highest) {
  // A missed base (S-8) is no error here: nothing is proven by it, and what else is proven may go.
  const Selection selection =
      WalkDirectories(listing, CutForCleaner(write_ids, highest), visibility).selection;

  std::map<std::string_view, const AcidDirName*> acid_dirs;
  for (const AcidDir& dir : listing.dirs) acid_dirs.emplace(dir.name.name, &dir.name);
  std::set<std::string_view> original_dirs(listing.original_dirs.begin(),
                                           listing.original_dirs.end());

  std::vector<Removal> removals;
  for (const Judged& judged : selection.judged) {
    if (judged.verdict != Verdict::kObsolete) continue;
    Removal removal{.name = judged.name, .because = judged.because};
    if (const auto dir = acid_dirs.find(judged.name); dir != acid_dirs.end()) {
      if (dir->second->max_write_id > highest.value()) continue;
    } else if (!original_dirs.contains(judged.name)) {
      if (IsInUnionDir(judged.name)) continue;  // goes with its directory
      removal.kind = RemovalKind::kFile;
    }
    removals.push_back(std::move(removal));
  }
  return removals;
}

AbortedSelection SelectAborted(const Listing& listing,
                               const WriteIdSnapshot& write_ids,
                               const Visibility& visibility) {
  const Selection selection = WalkDirectories(listing, write_ids, visibility).selection;
  AbortedSelection aborted{.write_ids = selection.aborted_write_ids,
                           .mixed = selection.mixes_aborted};
  for (const Judged& judged : selection.judged) {
    if (judged.verdict != Verdict::kAborted) continue;
    aborted.removals.push_back({.name = judged.name, .because = judged.because});
  }
  return aborted;
}

std::vector<int64_t> WriteIdsOnDisk(const Listing& listing, std::span<const int64_t> ids) {
  std::set<int64_t> found;
  for (const AcidDir& dir : listing.dirs) {
    if (dir.IsCompactedBase()) continue;
    const auto first = std::ranges::lower_bound(ids, dir.name.min_write_id);
    const auto last = std::ranges::upper_bound(ids, dir.name.max_write_id);
    found.insert(first, last);
  }
  return {found.begin(), found.end()};
}

}  // namespace skep::acid

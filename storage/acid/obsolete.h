#pragma once

// What a cleaner may remove from one table or partition: decisions over a listing, no IO. Whether
// the time has come (no snapshot of the table older than the compaction lives, R-8) is the caller's
// to know.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/acid/selection.h"

namespace skep::acid {

enum class RemovalKind { kDirectory, kFile };

struct Removal {
  std::string name;  // as listed: a directory, or the relative path of an original file
  RemovalKind kind = RemovalKind::kDirectory;
  std::string because;  // the proof, for people: "covered by base_0000003_v0000007"
  friend bool operator==(const Removal&, const Removal&) = default;
};

// Obsolete selection for one compaction (CL-8, CL-9), in name order: what its output, and whatever
// else its own sequence saw committed, has replaced. Nothing that holds a write id above `highest`
// (what a later compaction made obsolete belongs to that one's entry), no aborted directory, no
// name that is not understood: of ordinary sub-directories only union legs go whole, of others only
// the original files in them.
//
// `write_ids` and `visibility` are those of the compaction's own sequence, never of now.
// `highest` is its highest write id. The list may have any role: it is read in the cleaner's form,
// cut at `highest`.
//
// Asked again after the removal it answers CL-12: an empty answer means that nothing of this scope
// is left.
std::vector<Removal> SelectObsolete(const Listing& listing,
                                    const WriteIdSnapshot& write_ids,
                                    const Visibility& visibility,
                                    WriteId highest);

struct AbortedSelection {
  std::vector<Removal> removals;   // in name order
  std::vector<int64_t> write_ids;  // aborted ids whose directories are among them, ascending
  // Some delta holds aborted and other ids: removing whole directories does not get rid of all
  // aborted rows.
  bool mixed = false;
};

// Directories that hold nothing but aborted writes, or the output of an aborted compaction. May go
// at any time: no snapshot reads them. Their write ids may lie above any compaction's (CL-10). The
// lists are the current ones, the reader's form.
AbortedSelection SelectAborted(const Listing& listing,
                               const WriteIdSnapshot& write_ids,
                               const Visibility& visibility);

// Those of `ids` (ascending) that some directory of the listing may still hold rows of: while there
// are any, their aborted marks must stay. A compacted base holds none, every other directory
// by its range.
std::vector<int64_t> WriteIdsOnDisk(const Listing& listing, std::span<const int64_t> ids);

}  // namespace skep::acid

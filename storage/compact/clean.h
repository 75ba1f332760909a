#pragma once

// Removal of what a cleaner may remove from one table or partition directory. When it may is the
// caller's to know: after BeginClean no snapshot older than the compaction's sequence names
// the table any more.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/acid/obsolete.h"
#include "storage/acid/selection.h"
#include "storage/fs/file_system.h"
#include "storage/model/ids.h"
#include "storage/model/snapshot.h"

namespace skep::compact {

// What one compaction replaced: lists of its own sequence, never of now (CL-8).
struct ObsoleteScope {
  WriteIdSnapshot write_ids;
  acid::Visibility visibility;
  WriteId highest;
};

// Directories of nothing but aborted writes: current lists.
struct AbortedScope {
  WriteIdSnapshot write_ids;
  acid::Visibility visibility;
};

struct CleanRequest {
  std::string directory;
  std::optional<ObsoleteScope> obsolete;
  std::optional<AbortedScope> aborted;
  // Called before each removal; an error (no longer the cleaner) ends the pass with it. For tests
  // also the place to stop.
  std::function<absl::Status(const acid::Removal&)> before_removal;
};

struct CleanFailure {
  acid::Removal removal;
  absl::Status status;
};

struct CleanReport {
  std::vector<acid::Removal> removed;
  std::vector<CleanFailure> failed;
  std::vector<acid::Removal> left;  // still there in the listing made afterwards (CL-12)
  // Of the aborted scope: ids whose directories were found wholly aborted and removed, and whether
  // other directories mix aborted ids with others (CL-13).
  std::vector<int64_t> aborted_write_ids;
  bool mixes_aborted = false;
  bool directory_gone = false;  // CL-7: nothing to do

  bool IsDone() const { return failed.empty() && left.empty(); }
};

// What a pass would remove, with the proof of each: for `explain`. Nothing where the directory is
// gone.
absl::StatusOr<std::vector<acid::Removal>> ListRemovable(fs::FileSystem& fs,
                                                         const CleanRequest& request);

// Lists, decides, removes tree by tree, lists again. A tree that holds anything but data files, by
// their names, stays and is a failed removal (kMalformedDirectory, CL-14). Goes on after a failed
// removal (CL-11); a name
// that is gone already counts as removed. Can be stopped at any point and repeated. Errors: those
// of table::ListDirectory (a malformed name stops the pass), what before_removal returned.
absl::StatusOr<CleanReport> Clean(fs::FileSystem& fs, const CleanRequest& request);

struct SweepReport {
  std::vector<std::string> removed;  // names
  std::vector<CleanFailure> failed;
};

// Removes `.skep-tmp-<txn>` of the given ended compactor transactions, nothing else. OK also where
// the directory is gone.
absl::StatusOr<SweepReport> SweepTemporary(fs::FileSystem& fs,
                                           const std::string& directory,
                                           std::span<const TxnId> ended);

}  // namespace skep::compact

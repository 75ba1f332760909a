#include "storage/compact/clean.h"

#include <algorithm>
#include <utility>

#include "storage/acid/names.h"
#include "storage/base/status_macros.h"
#include "storage/compact/input_check.h"
#include "storage/model/errors.h"
#include "storage/table/sources.h"

namespace skep::compact {

namespace {

bool IsAbsent(const absl::Status& status) { return status.code() == absl::StatusCode::kNotFound; }

// nullopt: the directory is gone.
absl::StatusOr<std::optional<acid::Listing>> ListIfThere(fs::FileSystem& fs,
                                                         const std::string& dir) {
  absl::StatusOr<acid::Listing> listing = table::ListDirectory(fs, dir);
  if (IsAbsent(listing.status())) return std::nullopt;
  if (!listing.ok()) return listing.status();
  return std::optional<acid::Listing>(*std::move(listing));
}

struct Removable {
  std::vector<acid::Removal> removals;
  std::vector<int64_t> aborted_write_ids;
  bool mixes_aborted = false;
};

Removable Decide(const acid::Listing& listing, const CleanRequest& request) {
  Removable found;
  if (request.obsolete) {
    found.removals = acid::SelectObsolete(listing,
                                          request.obsolete->write_ids,
                                          request.obsolete->visibility,
                                          request.obsolete->highest);
  }
  if (request.aborted) {
    acid::AbortedSelection aborted =
        acid::SelectAborted(listing, request.aborted->write_ids, request.aborted->visibility);
    found.aborted_write_ids = std::move(aborted.write_ids);
    found.mixes_aborted = aborted.mixed;
    for (acid::Removal& removal : aborted.removals) {
      const bool known = std::ranges::any_of(
          found.removals, [&](const acid::Removal& other) { return other.name == removal.name; });
      if (!known) found.removals.push_back(std::move(removal));
    }
  }
  return found;
}

// What came into the directory since it was compacted, or was never looked at because its write was
// aborted, stays, and the directory with it.
absl::Status CheckHoldsNothingElse(fs::FileSystem& fs,
                                   const std::string& directory,
                                   const acid::Removal& removal) {
  if (removal.kind == acid::RemovalKind::kFile) return absl::OkStatus();
  const absl::Status status = CheckTreeNames(fs, fs::JoinPath(directory, removal.name));
  const bool gone = ReasonOf(status) == ErrorReason::kNotEnoughHistory;
  return gone ? absl::OkStatus() : status;
}

absl::Status Remove(fs::FileSystem& fs,
                    const std::string& directory,
                    const acid::Removal& removal) {
  const std::string path = fs::JoinPath(directory, removal.name);
  const absl::Status status =
      removal.kind == acid::RemovalKind::kFile ? fs.RemoveFile(path) : fs.RemoveTree(path);
  return IsAbsent(status) ? absl::OkStatus() : status;
}

}  // namespace

absl::StatusOr<std::vector<acid::Removal>> ListRemovable(fs::FileSystem& fs,
                                                         const CleanRequest& request) {
  SKEP_ASSIGN_OR_RETURN(const std::optional<acid::Listing> listing,
                        ListIfThere(fs, request.directory));
  if (!listing) return std::vector<acid::Removal>();
  return Decide(*listing, request).removals;
}

absl::StatusOr<CleanReport> Clean(fs::FileSystem& fs, const CleanRequest& request) {
  CleanReport report;
  SKEP_ASSIGN_OR_RETURN(const std::optional<acid::Listing> before,
                        ListIfThere(fs, request.directory));
  if (!before) {
    report.directory_gone = true;
    return report;
  }
  Removable found = Decide(*before, request);
  report.aborted_write_ids = std::move(found.aborted_write_ids);
  report.mixes_aborted = found.mixes_aborted;
  for (acid::Removal& removal : found.removals) {
    absl::Status status = CheckHoldsNothingElse(fs, request.directory, removal);
    if (status.ok()) {
      if (request.before_removal) SKEP_RETURN_IF_ERROR(request.before_removal(removal));
      status = Remove(fs, request.directory, removal);
    }
    if (status.ok()) {
      report.removed.push_back(std::move(removal));
    } else {
      report.failed.push_back({.removal = std::move(removal), .status = status});
    }
  }
  if (!report.removed.empty()) SKEP_RETURN_IF_ERROR(fs.SyncDirectory(request.directory));
  SKEP_ASSIGN_OR_RETURN(const std::optional<acid::Listing> after,
                        ListIfThere(fs, request.directory));
  if (after) report.left = Decide(*after, request).removals;
  return report;
}

absl::StatusOr<SweepReport> SweepTemporary(fs::FileSystem& fs,
                                           const std::string& directory,
                                           std::span<const TxnId> ended) {
  SweepReport report;
  const absl::StatusOr<std::vector<fs::DirEntry>> entries = fs.List(directory);
  if (IsAbsent(entries.status())) return report;
  if (!entries.ok()) return entries.status();
  for (const fs::DirEntry& entry : *entries) {
    const std::optional<TxnId> txn = acid::ParseCompactorTempDirName(entry.name);
    if (!txn || std::ranges::find(ended, *txn) == ended.end()) continue;
    acid::Removal removal{.name = entry.name,
                          .because = "left over by compaction transaction " + txn->ToString()};
    const absl::Status status = Remove(fs, directory, removal);
    if (status.ok()) {
      report.removed.push_back(entry.name);
    } else {
      report.failed.push_back({.removal = std::move(removal), .status = status});
    }
  }
  if (!report.removed.empty()) SKEP_RETURN_IF_ERROR(fs.SyncDirectory(directory));
  return report;
}

}  // namespace skep::compact

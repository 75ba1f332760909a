#pragma once

// One compaction of one table or partition directory, from listing to installed output. Knows no
// daemon: the caller has opened a transaction, brings the snapshot taken after that, and commits or
// aborts.
//
//   plan ─▶ prepare ─▶ merge each bucket ─▶ seal ─▶ verify ─▶ install
//
// Everything is built in `.skep-tmp-<txn>` beside the inputs and renamed into place whole (BD-7).
// Nothing that exists is changed. Until the transaction commits readers ignore the output by its
// visibility suffix, so a crash at any point leaves the table as it was; what is left over is
// removed by SweepTemporary or as an aborted directory.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/acid/selection.h"
#include "storage/compact/bucket_merge.h"
#include "storage/compact/plan.h"
#include "storage/format/orc/tail.h"
#include "storage/fs/file_system.h"
#include "storage/model/compaction.h"
#include "storage/model/hive_type.h"
#include "storage/model/ids.h"
#include "storage/model/snapshot.h"
#include "storage/model/table.h"

namespace skep::compact {

struct CompactionProgress {
  size_t buckets = 0;
  size_t buckets_merged = 0;
  int64_t events_read = 0;  // of the bucket at hand, merging or verifying
};

// The moments at which a crash leaves another state behind, in order. A major has no
// kDeleteDeltaInstalled; kBucketMerged comes once a bucket.
inline constexpr std::string_view kStepPlanned = "planned";
inline constexpr std::string_view kStepPrepared = "prepared";
inline constexpr std::string_view kStepBucketMerged = "bucket-merged";
inline constexpr std::string_view kStepSealed = "sealed";
inline constexpr std::string_view kStepVerified = "verified";
inline constexpr std::string_view kStepDeleteDeltaInstalled = "delete-delta-installed";
inline constexpr std::string_view kStepInstalled = "installed";
inline constexpr std::string_view kStepTidied = "tidied";

struct CompactionRequest {
  std::string directory;  // of the table or partition
  CompactionType type = CompactionType::kMajor;
  TxnId txn;                    // the compactor's transaction: also the visibility suffix
  WriteIdSnapshot write_ids;    // of that transaction, any role: read in the compactor's form (V-8)
  acid::Visibility visibility;  // likewise
  std::vector<Column> columns;  // the table's current columns, without partition columns (OUT-12)
  Properties properties;        // `orc.*` shape the output
  std::optional<orc::Calendar> calendar;  // a table property's word on all files

  int64_t batch_rows = 16384;
  size_t max_open_deletes = 128;
  // Called between batches; an error (cancelled, claim lost) ends the compaction with it.
  std::function<absl::Status(const CompactionProgress&)> on_progress;
  // Called with one of kStep…; for tests that kill or fail here.
  std::function<void(std::string_view)> at_step;
};

struct CompactionResult {
  Plan plan;  // its outcome says whether anything was written
  MergeTotals totals;
  std::vector<std::string> outputs;  // directories installed, by name
};

// What would be done; looks at the directory and at tails, writes nothing.
absl::StatusOr<Plan> PlanCompaction(fs::FileSystem& fs, const CompactionRequest& request);

// On OK all outputs are durable under their final names. On an error outputs and temporary files of
// this transaction are removed as far as possible, the inputs are as they were. Errors: those of
// listing, selection (kNotEnoughHistory) and CollectSources (kLegacyLayout, kMalformedDirectory,
// kCorruptFile, …); kNotSupported for a rebalance, for files whose columns cannot become the
// table's, for calendars that cannot be joined; kStorageUnwritable; what on_progress returned.
absl::StatusOr<CompactionResult> RunCompaction(fs::FileSystem& fs,
                                               const CompactionRequest& request);

}  // namespace skep::compact

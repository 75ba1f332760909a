#pragma once

// What one compaction will do, as plain data: decided from a listing and tails, printed for people,
// carried out by RunCompaction. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/acid/selection.h"
#include "storage/model/compaction.h"
#include "storage/model/ids.h"
#include "storage/model/snapshot.h"
#include "storage/table/sources.h"

namespace skep::compact {

enum class StripeAction {
  kMerge,  // decode, merge by row, encode
  kCopy,   // move the bytes
};

struct StripePlan {
  uint64_t rows = 0;
  uint64_t bytes = 0;
  StripeAction action = StripeAction::kMerge;
  std::string because;
};

struct InputFilePlan {
  std::string path;
  bool holds_deletes = false;
  std::vector<StripePlan> stripes;
};

struct BucketPlan {
  int32_t bucket = 0;
  std::vector<InputFilePlan> files;
};

enum class PlanOutcome {
  kMerge,      // there is something to write
  kCleanOnly,  // nothing to merge, but obsolete or aborted directories to clean (WK-8)
  kNothing,    // neither
};

struct Plan {
  CompactionType type = CompactionType::kMajor;
  TxnId txn;
  PlanOutcome outcome = PlanOutcome::kNothing;
  std::string because;       // for people: why this outcome
  WriteId highest_write_id;  // what the request records: h, or less by OUT-15
  // Names of output directories. A minor has both; one without events is not made (OUT-4).
  std::string base;
  std::string delta;
  std::string delete_delta;
  std::vector<std::string> inputs;    // directories and originals that are read, in selection order
  std::vector<std::string> left_out;  // batches that the highest write id falls into (OUT-15)
  std::vector<BucketPlan> buckets;    // by AddBuckets
};

// `selection` is that of `listing` under `write_ids`, the compactor's view
// (WriteIdSnapshot::ForCompactor), with the compactor's own transaction not counted as visible.
// Errors: kNotSupported for a rebalance.
absl::StatusOr<Plan> MakePlan(CompactionType type,
                              TxnId txn,
                              const acid::Listing& listing,
                              const acid::Selection& selection,
                              const WriteIdSnapshot& write_ids);

// What a compaction of this type reads of a selection: a minor leaves base and originals alone.
acid::Selection InputsOf(CompactionType type, acid::Selection selection);

// Which files and stripes each bucket's merge reads, from the sources of InputsOf.
void AddBuckets(const std::map<int32_t, table::BucketSources>& sources, Plan* plan);

// Several lines, for `explain` and logs.
std::string DescribePlan(const Plan& plan);

}  // namespace skep::compact

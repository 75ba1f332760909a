#pragma once

// The initiator's decision about one table or partition (compaction §5.3): values in, a type and
// its reason out. Pure.

#include <cstdint>
#include <optional>
#include <string>

#include <absl/status/statusor.h>

#include "storage/acid/selection.h"
#include "storage/compact/sizes.h"
#include "storage/model/compaction.h"
#include "storage/model/table.h"

namespace skep::compact {

struct Thresholds {
  double delta_pct = 0.1;  // deltas of more than this share of the base: major
  int64_t delta_num =
      10;  // more delta directories than this: minor, or major where there is no base
};

// `defaults` with what the table's own properties say instead (IN-13):
// compactorthreshold.hive.compactor.delta.{pct,num}.threshold. Errors: kInvalidRequest naming the
// property.
absl::StatusOr<Thresholds> ThresholdsOf(const Properties& properties, const Thresholds& defaults);

// NO_AUTO_COMPACTION=true, key and value in any case (IN-9). Requests of people are not bound by it
//
bool AutoCompactionIsOff(const Properties& properties);

struct ObjectFacts {
  int64_t base_bytes = 0;          // of the base, or of all originals where there is none
  int64_t delta_bytes = 0;         // of all working deltas, insert and delete
  int64_t delta_count = 0;         // of those directories, each counted (6 updates make 12)
  bool has_obsolete_base = false;  // an older base waits for cleaning
  bool too_many_aborts = false;    // IN-2
  bool old_abort = false;          // IN-2
};

// From a selection under the compactor's view.
ObjectFacts FactsOf(const acid::Selection& selection, const Sizes& sizes);

struct Decision {
  std::optional<CompactionType> type;  // none: leave it alone
  std::string reason;                  // one sentence for people, with the numbers that decided
};

// Both comparisons are strict. Minor compaction is always possible: raw deltas included (IN-15).
Decision Decide(const ObjectFacts& facts, const Thresholds& thresholds);

}  // namespace skep::compact

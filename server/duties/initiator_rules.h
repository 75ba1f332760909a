#pragma once

// Whether the initiator may compact a table or partition by itself (IN-4…IN-12), and what it would
// decide. Pure but for the listing.

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <absl/status/statusor.h>

#include "storage/acid/selection.h"
#include "storage/base/clock.h"
#include "storage/compact/policy.h"
#include "storage/fs/file_system.h"
#include "storage/model/rows.h"
#include "storage/model/snapshot.h"

namespace skep::duties {

struct InitiatorRules {
  compact::Thresholds thresholds;  // where the table's properties say nothing
  // After so many failed compactions in a row an object is left alone, until `failed_retry` has
  // passed since the latest of them was enqueued (IN-6); zero: for good.
  int64_t failed_threshold = 2;
  std::chrono::milliseconds failed_retry = std::chrono::hours(24 * 7);
};

// Why the initiator leaves an object alone.
struct Obstacle {
  std::string reason;              // one clause for people
  std::optional<Timestamp> until;  // when to look again; none: when something changes
  bool noted = false;              // goes into the history, where people look for it (IN-6)
};

// `of_object`: the object's compactions, history included, ascending by id.
std::optional<Obstacle> FindObstacle(const TableRow& table,
                                     const std::string& partition,
                                     std::span<const CompactionRow> of_object,
                                     const InitiatorRules& rules,
                                     Timestamp now);

// What the directory looks like to a compactor, and what the policy says to that.
struct Outlook {
  compact::ObjectFacts facts;
  compact::Thresholds thresholds;
  compact::Decision decision;
};

// `write_ids` in any form: they are read as a compactor's. A directory that is not there
// has nothing to compact (IN-12), and the decision's reason says that it is missing.
// Errors: kInvalidRequest for a property that is no number; those of listing and selection.
absl::StatusOr<Outlook> LookAt(fs::FileSystem& fs,
                               const std::string& dir,
                               const Properties& properties,
                               const WriteIdSnapshot& write_ids,
                               const acid::Visibility& visibility,
                               const InitiatorRules& rules);

}  // namespace skep::duties

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/fs/file_system.h"
#include "storage/meta/sqlite/sqlite_store.h"

namespace skep::meta {

// Before the tables are touched: every segment beside them can be read by this program. So a
// migration never runs while units of the schema before are still in the log. Errors: those of
// DecodeSegmentHeader; kCorruptStore where the log is marked open and there is none;
// kStorageUnwritable.
absl::Status CheckSegments(fs::FileSystem& fs, const std::string& store_path);

// Puts the units that are in the log only into the tables, in order, each once; a unit is durable
// there on return, whether its sync had failed before or not. Removes nothing, so it can be
// interrupted and repeated. Answers the highest number of a segment, 0 if there is none.
//
// Errors: kCorruptStore for a log that does not go on where the tables end, for one of
// another store, for a damaged unit that is not the last; kStoreFull; those of the tables.
absl::StatusOr<uint64_t> RecoverLog(fs::FileSystem& fs,
                                    const std::string& store_path,
                                    SqliteStore& tables);

// All of it: the lock, the look at the segments, the tables, what they lack of the log, and then
// the segments go.
struct RecoveredTables {
  std::unique_ptr<SqliteStore> tables;
  uint64_t highest_segment = 0;  // 0: there was none
};
absl::StatusOr<RecoveredTables> OpenTablesAfterLog(fs::FileSystem& fs,
                                                   const SqliteOptions& options);

}  // namespace skep::meta

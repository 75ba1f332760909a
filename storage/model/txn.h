#pragma once

#include <cstdint>
#include <string_view>

namespace skep {

// Stored numbers follow Hive's TXN_TYPE (TYP-1…).
enum class TxnType {
  kDefault = 0,
  kReplCreated = 1,
  kReadOnly = 2,
  kCompaction = 3,
  kMaterializedViewRebuild = 4,
  kSoftDelete = 5,
  kRebalanceCompaction = 6,
};

//  kOpen ──commit──▶ kCommitted
//    └──abort, lease over, conflict──▶ kAborted
enum class TxnState { kOpen, kCommitted, kAborted };

enum class AbortCause {
  kNone = 0,
  kUser = 1,      // the owner called abort
  kTimeout = 2,   // lease over
  kConflict = 3,  // lost first-committer-wins
  kDeadlock = 4,
  kOperator = 5,
  kShutdown = 6,
  kReplication = 7,
  kRestore = 8,
  kCompaction = 9,  // the compaction failed or lost its claim
};

// What a transaction does to a resource. Overwrite stands for INSERT OVERWRITE and TRUNCATE; drop
// for dropping the table.
enum class WriteOp { kInsert = 0, kUpdate = 1, kDelete = 2, kOverwrite = 3, kDrop = 4 };

std::string_view TxnTypeName(TxnType type);         // "DEFAULT", "READ_ONLY", …
std::string_view TxnStateName(TxnState state);      // "OPEN", …
std::string_view AbortCauseName(AbortCause cause);  // "user", "timeout", …
std::string_view WriteOpName(WriteOp op);           // "INSERT", …

}  // namespace skep

#include "storage/model/txn.h"

namespace skep {

std::string_view TxnTypeName(TxnType type) {
  switch (type) {
    case TxnType::kDefault:
      return "DEFAULT";
    case TxnType::kReplCreated:
      return "REPL_CREATED";
    case TxnType::kReadOnly:
      return "READ_ONLY";
    case TxnType::kCompaction:
      return "COMPACTION";
    case TxnType::kMaterializedViewRebuild:
      return "MATERIALIZED_VIEW_REBUILD";
    case TxnType::kSoftDelete:
      return "SOFT_DELETE";
    case TxnType::kRebalanceCompaction:
      return "REBALANCE_COMPACTION";
  }
  return "UNKNOWN";
}

std::string_view TxnStateName(TxnState state) {
  switch (state) {
    case TxnState::kOpen:
      return "OPEN";
    case TxnState::kCommitted:
      return "COMMITTED";
    case TxnState::kAborted:
      return "ABORTED";
  }
  return "UNKNOWN";
}

std::string_view AbortCauseName(AbortCause cause) {
  switch (cause) {
    case AbortCause::kNone:
      return "none";
    case AbortCause::kUser:
      return "user";
    case AbortCause::kTimeout:
      return "timeout";
    case AbortCause::kConflict:
      return "conflict";
    case AbortCause::kDeadlock:
      return "deadlock";
    case AbortCause::kOperator:
      return "operator";
    case AbortCause::kShutdown:
      return "shutdown";
    case AbortCause::kReplication:
      return "replication";
    case AbortCause::kRestore:
      return "restore";
    case AbortCause::kCompaction:
      return "compaction";
  }
  return "unknown";
}

std::string_view WriteOpName(WriteOp op) {
  switch (op) {
    case WriteOp::kInsert:
      return "INSERT";
    case WriteOp::kUpdate:
      return "UPDATE";
    case WriteOp::kDelete:
      return "DELETE";
    case WriteOp::kOverwrite:
      return "OVERWRITE";
    case WriteOp::kDrop:
      return "DROP";
  }
  return "UNKNOWN";
}

}  // namespace skep

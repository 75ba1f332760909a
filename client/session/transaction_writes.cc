// What a transaction writes: locks, write ids, statements, declared partitions.
#include <utility>

#include "client/session/lock_wait.h"
#include "client/session/remote_transaction.h"
#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::client {
namespace {

absl::Status NotAllowed(const TableName& table, WriteOp op, const std::string& why) {
  return MakeError(ErrorReason::kOperationNotAllowed,
                   "cannot " + std::string(WriteOpName(op)) + " " + table.ToString() + ": " + why,
                   {{"table", table.ToString()}, {"operation", std::string(WriteOpName(op))}});
}

absl::Status CheckWritable(const TableInfo& table, WriteOp op, TransactionMode mode) {
  if (mode == TransactionMode::kReadOnly) {
    return NotAllowed(table.name, op, "the transaction is read-only; begin one that writes");
  }
  if (table.kind == TableKind::kExternal) {
    return NotAllowed(table.name, op, "the table is external; its files belong to somebody else");
  }
  if (table.kind == TableKind::kInsertOnly && (op == WriteOp::kUpdate || op == WriteOp::kDelete)) {
    return NotAllowed(table.name, op, "the table is insert-only; its rows have no ids");
  }
  if (table.schema.bucketing.bucketed() && op != WriteOp::kDelete) {
    // A delete goes to its victim's bucket; a new row's bucket is its hash (P-7).
    const std::string clause = BucketingClause(table.schema.bucketing);
    return MakeError(ErrorReason::kNotSupported,
                     "cannot " + std::string(WriteOpName(op)) + " " + table.name.ToString() +
                         ": it is " + clause +
                         ", and Skep does not place new rows by their hash, so Hive would not find "
                         "them; add rows with Hive (Skep reads, deletes and compacts them)",
                     {{"what", clause}, {"table", table.name.ToString()}});
  }
  if (op == WriteOp::kDrop) return NotAllowed(table.name, op, "use Transaction::DropTable");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WriteStatement> RemoteTransaction::BeginWrite(const TableName& name, WriteOp op) {
  WriteStatement statement;
  statement.op = op;
  SKEP_ASSIGN_OR_RETURN(statement.table, GetTable(name));
  SKEP_RETURN_IF_ERROR(CheckWritable(statement.table, op, mode_));
  const CommitSeq before = snapshot();
  SKEP_RETURN_IF_ERROR(LockForWrite(statement.table, op).status());
  if (snapshot() != before) {
    SKEP_ASSIGN_OR_RETURN(statement.table, GetTable(name));
    SKEP_RETURN_IF_ERROR(CheckWritable(statement.table, op, mode_));
  }
  SKEP_ASSIGN_OR_RETURN(statement.write_id, AllocateWriteId(name));
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(CheckOpenLocked());
  SKEP_ASSIGN_OR_RETURN(statement.statement_id, write_set_.Begin(name));
  return statement;
}

// One lock per table and kind of write: the server needs the kind for the write set also where an
// own lock covers the request.
absl::StatusOr<LockGrant> RemoteTransaction::LockForWrite(const TableInfo& table, WriteOp op) {
  {
    absl::MutexLock lock(&mutex_);
    if (write_locks_.contains({table.name, op})) return LockGrant{};
  }
  v1::AcquireLocksRequest request;
  request.set_txn_id(id().value());
  v1::LockComponent* component = request.add_components();
  component->mutable_resource()->set_database(table.name.database);
  component->mutable_resource()->set_table(table.name.table);
  component->set_kind(op == WriteOp::kOverwrite ? v1::LOCK_KIND_EXCL_WRITE
                                                : v1::LOCK_KIND_SHARED_WRITE);
  component->set_operation(wire::ToProto(op));
  component->set_dynamic_partitions(table.partitioned());
  absl::StatusOr<LockGrant> grant = AcquireAndWait(session_->caller(),
                                                   std::move(request),
                                                   session_->options().lock_deadline,
                                                   session_->options().call_deadline);
  if (!grant.ok())
    return Learn(Annotate(grant.status(), "cannot write to " + table.name.ToString()));
  {
    absl::MutexLock lock(&mutex_);
    write_locks_.insert({table.name, op});
  }
  return Freshen(*std::move(grant));
}

absl::StatusOr<WriteId> RemoteTransaction::AllocateWriteId(const TableName& name) {
  {
    absl::MutexLock lock(&mutex_);
    if (auto known = write_ids_.find(name); known != write_ids_.end()) return known->second;
  }
  v1::AllocateWriteIdsRequest request;
  wire::ToProto(name, request.mutable_table());
  request.add_txn_ids(id().value());
  SKEP_ASSIGN_OR_RETURN(v1::AllocateWriteIdsResponse answer, Call(std::move(request)));
  if (answer.allocations_size() != 1 || answer.allocations(0).txn_id() != id().value()) {
    return MakeError(ErrorReason::kInternal, "the server sent no write id of " + name.ToString());
  }
  const WriteId write_id(answer.allocations(0).write_id());
  absl::MutexLock lock(&mutex_);
  write_ids_[name] = write_id;
  return write_id;
}

absl::Status RemoteTransaction::DeclarePartitions(const WriteStatement& statement,
                                                  const std::vector<std::string>& partitions) {
  v1::AddPartitionsRequest request;
  {
    absl::MutexLock lock(&mutex_);
    for (const std::string& partition : write_set_.Undeclared(statement, partitions)) {
      request.add_partitions(partition);
    }
  }
  if (request.partitions_size() == 0) return CheckOpen();
  request.set_txn_id(id().value());
  wire::ToProto(statement.table.name, request.mutable_table());
  request.set_operation(wire::ToProto(statement.op));
  SKEP_RETURN_IF_ERROR(Call(std::move(request)).status());
  absl::MutexLock lock(&mutex_);
  write_set_.Declare(statement, partitions);
  return absl::OkStatus();
}

absl::Status RemoteTransaction::EndWrite(const WriteStatement& statement, Wrote wrote) {
  absl::MutexLock lock(&mutex_);
  SKEP_RETURN_IF_ERROR(CheckOpenLocked());
  return write_set_.End(statement, wrote);
}

void RemoteTransaction::FailWrite(const WriteStatement& statement, const absl::Status& why) {
  absl::MutexLock lock(&mutex_);
  write_set_.Fail(statement, why);
}

}  // namespace skep::client

#pragma once

// What readers and writers of table files need from a transaction: the seam between client/session,
// which talks to the server, and client/table, which touches files.

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "client/session/table_info.h"
#include "storage/model/ids.h"
#include "storage/model/names.h"
#include "storage/model/snapshot.h"
#include "storage/model/txn.h"

namespace skep::client {

// One write of a transaction to one table (an INSERT, an UPDATE, …): its delete and insert events
// share the statement id.
struct WriteStatement {
  TableInfo table;
  WriteId write_id;
  int32_t statement_id = 0;  // from 0, per table of the transaction
  WriteOp op = WriteOp::kInsert;
};

// A transaction as its readers and writers see it. Shared by the Transaction handle and by
// everything opened on it: after the handle's end every call answers the final state instead of
// touching the server. Thread-safe. Every call may block for one round trip, bounded by the
// session's deadline; answers that cannot change within the transaction are asked once and kept.
//
// Errors of all calls: TXN_ABORTED (with its cause), TXN_ALREADY_COMMITTED, NO_SUCH_TXN once the
// transaction has ended; UNAVAILABLE or DEADLINE_EXCEEDED where the server cannot be reached.
class TransactionCore {
 public:
  virtual ~TransactionCore() = default;

  virtual TxnId id() const = 0;

  // OK while the transaction is open and its lease, by the client's own clock, has not run out. A
  // reader asks after each listing and after its last open and fails otherwise: without it
  // rows could be missing. Never a round trip.
  virtual absl::Status CheckLease() const = 0;

  // The table as of the snapshot. Errors: NO_SUCH_TABLE.
  virtual absl::StatusOr<TableInfo> GetTable(const TableName& name) = 0;
  // Names in canonical form, in byte order, as of the snapshot and with the transaction's own.
  // Empty for a table without partitions.
  virtual absl::StatusOr<std::vector<std::string>> ListPartitions(const TableName& name) = 0;
  // The write ids of the table that the snapshot sees, own ones in `own`. From the first call on
  // the transaction pins the table. Errors: NO_SUCH_TABLE, SNAPSHOT_TOO_OLD.
  virtual absl::StatusOr<WriteIdSnapshot> GetValidWriteIds(const TableName& name) = 0;
  // The transactions that the snapshot sees, for judging `_vN`; `own` is this transaction.
  virtual absl::StatusOr<TxnSnapshot> GetTxnSnapshot() = 0;

  // Starts a statement: takes the lock that `op` needs and holds not yet (SHARED_WRITE; EXCL_WRITE
  // for overwrite), waiting for it until the session's lock deadline; allocates the write id (once
  // per table) and the statement id. Every statement must be ended by EndWrite or FailWrite: Commit
  // is refused while one is open. Errors: OPERATION_NOT_ALLOWED (read-only transaction, external
  // table, update or delete of an insert-only table), NO_SUCH_TABLE.
  virtual absl::StatusOr<WriteStatement> BeginWrite(const TableName& name, WriteOp op) = 0;
  // Records partitions on the server before their first file is created, so that a dead writer's
  // rest is found; repeats cost nothing. Canonical names; not for tables without partitions.
  virtual absl::Status DeclarePartitions(const WriteStatement& statement,
                                         const std::vector<std::string>& partitions) = 0;
  // The statement's files are whole and on stable storage. What it declared joins the write set; a
  // table without partitions counts as written iff `wrote` says so.
  enum class Wrote { kNothing, kRows };
  virtual absl::Status EndWrite(const WriteStatement& statement, Wrote wrote) = 0;
  // The statement cannot be finished: from now on the transaction can only abort. Never blocks.
  virtual void FailWrite(const WriteStatement& statement, const absl::Status& why) = 0;
};

}  // namespace skep::client

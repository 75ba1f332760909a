#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/model/ids.h"
#include "storage/model/names.h"

namespace skep::client {

class RemoteTransaction;
class TransactionCore;

//   kOpen ──Commit──▶ kCommitted
//     │ └──Commit, no answer──▶ kUnknown ──Commit, QueryOutcome──▶ kCommitted | kAborted | kOpen
//     └──Abort, conflict, lease over──▶ kAborted
enum class TransactionState { kOpen, kCommitted, kAborted, kUnknown };

enum class LockMode { kSharedRead, kSharedWrite, kExclWrite, kExclusive };

// A database, a table or a partition to lock.
struct LockTarget {
  std::string database;
  std::string table;      // empty: the whole database
  std::string partition;  // empty: the whole table
  LockMode mode = LockMode::kSharedRead;
};

struct LockOptions {
  // How long to wait; 0: not at all. A request that was not granted in time leaves the queue.
  std::chrono::milliseconds wait{60'000};
};

struct LockGrant {
  LockId id;
  // What was locked has changed since the snapshot, and something was read or written under it: the
  // commit will be WRITE_CONFLICT if it changes any of that. Start again.
  bool snapshot_stale = false;
};

// The write ids of one table that the transaction sees: all up to `high` but the listed ones, and
// its own.
struct VisibleWriteIds {
  CommitSeq snapshot;
  int64_t high = 0;
  std::vector<int64_t> open;     // ascending
  std::vector<int64_t> aborted;  // ascending
  std::vector<int64_t> own;      // ascending
};

// An open transaction. Made by Session::Begin; its lease is kept by the session's heartbeater until
// it ends. Destroying an open one aborts it (waits at most two seconds for the server; unreachable,
// the lease ends it). After any exit — commit, abort, destruction, the server's own verdict — no
// heartbeat names it any more.
//
// What was written through TableWriter is declared at the commit by itself. Everything opened on a
// transaction may outlive the handle: its next call then answers the final state. Thread-safe.
class Transaction {
 public:
  explicit Transaction(std::shared_ptr<RemoteTransaction> impl);  // for Session
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  TxnId id() const;
  TransactionState state() const;

  // Makes all writes visible at once. Errors: WRITE_CONFLICT and TXN_ABORTED (start again);
  // OPERATION_NOT_ALLOWED while a writer is open or after one failed; OUTCOME_UNKNOWN if neither
  // the commit nor the question for its outcome was answered: nothing may be deleted or written
  // again before QueryOutcome or Commit answered. Again after success: OK.
  absl::Status Commit();
  // Again after an abort: OK. Errors: TXN_ALREADY_COMMITTED.
  absl::Status Abort();
  // Asks the server what became of the transaction; kOpen if it still is.
  absl::StatusOr<TransactionState> QueryOutcome();

  // Takes all of `targets` or none. Released when the transaction ends. Where what EXCL_WRITE or
  // EXCLUSIVE were waited for has changed something, and nothing was read or written yet, the
  // newest snapshot is taken. Errors: DEADLINE_EXCEEDED naming who holds the lock; TXN_ABORTED
  // (also as the victim of a deadlock); NO_SUCH_TABLE.
  absl::StatusOr<LockGrant> Lock(const std::vector<LockTarget>& targets,
                                 const LockOptions& options = {});

  // The snapshot is the state at Begin, or at the grant of a lock (see Lock), and does not move.
  CommitSeq snapshot() const;
  // Takes the newest state instead. Errors: OPERATION_NOT_ALLOWED after the first read or write
  //
  absl::Status RefreshSnapshot();
  // Errors: NO_SUCH_TABLE, SNAPSHOT_TOO_OLD.
  absl::StatusOr<VisibleWriteIds> GetVisibleWriteIds(const TableName& table);

  // Removes the table from the registry at the commit, under an EXCLUSIVE lock; files stay.
  absl::Status DropTable(const TableName& table, const LockOptions& options = {});

  // For TableReader and TableWriter.
  std::shared_ptr<TransactionCore> core() const;

 private:
  std::shared_ptr<RemoteTransaction> impl_;  // shared with the readers and writers opened on it
};

}  // namespace skep::client

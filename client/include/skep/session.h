#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "skep/compaction.h"
#include "skep/table.h"
#include "skep/transaction.h"
#include "storage/model/ids.h"
#include "storage/model/names.h"

namespace skep::client {

class SessionImpl;

// Only UNAVAILABLE is retried, the server's wish to wait is honoured, and a call never outlives its
// deadline.
struct RetryOptions {
  std::chrono::milliseconds first_pause{50};
  std::chrono::milliseconds longest_pause{2'000};
  double growth = 2.0;
  double jitter = 0.2;   // of each pause, both ways
  int max_attempts = 0;  // 0: until the deadline
};

struct SessionOptions {
  std::string endpoint;  // "unix:/run/skep/skepd.sock" or "host:port"
  std::string user;      // shown to operators, as are host and agent
  std::string host;      // empty: this machine's name
  std::string agent;     // the program, the query
  std::chrono::milliseconds call_deadline{10'000};
  std::chrono::milliseconds lock_deadline{60'000};  // how long a writer waits for its lock
  RetryOptions retry;
  // Calls of all threads share one stream, many in one message; where there is none they go one by
  // one. False: always one by one, for programs that make a handful.
  bool stream = true;
};

enum class TransactionMode { kReadWrite, kReadOnly };

struct BeginOptions {
  TransactionMode mode = TransactionMode::kReadWrite;
  std::string agent;  // empty: the session's
  // How long the server keeps the transaction without a heartbeat; unset: the server's own choice.
  std::optional<std::chrono::milliseconds> lease;
  // What the transaction will need, taken with its opening: in one message where the session has a
  // stream, else by one call after another. All of it or no transaction.
  std::vector<LockTarget> locks;
  LockOptions lock_options;       // how long the locks may be waited for
  std::vector<TableName> reads;   // their lists, with that of transactions
  std::vector<TableName> writes;  // their write ids
};

// A client's connection to one server: a channel for calls, another with its own thread for the
// heartbeats of all its transactions. One per process and server is enough. Transactions keep what
// they need of it alive. Thread-safe.
class Session {
 public:
  // Connects lazily: the first call finds out whether a server is there. Errors: kInvalidRequest
  // for options that cannot be right.
  static absl::StatusOr<std::unique_ptr<Session>> Connect(const SessionOptions& options);
  explicit Session(std::shared_ptr<SessionImpl> impl);  // for tests that bring their own ports
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The snapshot is not older than the call, and with locks of EXCL_WRITE or stronger not older
  // than their grant. Errors: TOO_MANY_OPEN_TXNS; those of Transaction::Lock, GetVisibleWriteIds,
  // and of a writer for what is asked for beside.
  absl::StatusOr<std::unique_ptr<Transaction>> Begin(const BeginOptions& options = {});

  // Errors: ALREADY_EXISTS, LOCATION_NOT_ALLOWED, INVALID_REQUEST, STORAGE_UNWRITABLE.
  absl::StatusOr<TableDescription> CreateTable(const TableSpec& spec);
  // As of now. Errors: NO_SUCH_TABLE.
  absl::StatusOr<TableDescription> GetTable(const TableName& name);

  // Errors: NO_SUCH_TABLE, TABLE_NOT_TRANSACTIONAL, INVALID_REQUEST.
  absl::StatusOr<EnqueuedCompaction> EnqueueCompaction(const CompactionRequest& request);
  // Errors: NO_SUCH_COMPACTION.
  absl::StatusOr<CompactionStatus> GetCompaction(CompactionId id);
  // Asks until the compaction has reached `goal` or `deadline` has passed: then the last status.
  absl::StatusOr<CompactionStatus> WaitForCompaction(
      CompactionId id,
      std::chrono::milliseconds deadline,
      CompactionGoal goal = CompactionGoal::kDecided);

  SessionImpl& impl() const { return *impl_; }

 private:
  std::shared_ptr<SessionImpl> impl_;  // shared with the transactions
};

}  // namespace skep::client

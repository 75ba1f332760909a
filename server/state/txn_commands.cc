// Transactions: open, abort, keep alive. Commit has a file of its own.

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/status_macros.h"

namespace skep::state {

namespace {

constexpr std::chrono::milliseconds kMaxTimeout = std::chrono::hours(24);

absl::Status CheckSources(const OpenTxns& command, const Options& options) {
  const bool replicates = command.type == TxnType::kReplCreated;
  if (!command.sources) {
    if (!replicates) return absl::OkStatus();
    return InvalidField("replication_policy",
                        "is missing: a REPL_CREATED transaction stands for one of another server");
  }
  if (!replicates || command.sources->policy.empty()) {
    return InvalidField("replication_policy", "goes with type REPL_CREATED and source_txn_ids");
  }
  const std::vector<TxnId>& txns = command.sources->txns;
  if (txns.empty() || std::ssize(txns) > options.max_batch) {
    return InvalidField(
        "source_txn_ids",
        fmt::format("{} at once are not possible, 1 to {} are", txns.size(), options.max_batch));
  }
  const bool ascending =
      std::adjacent_find(txns.begin(), txns.end(), std::greater_equal<>()) == txns.end();
  if (!ascending || txns.front().value() <= 0) {
    return InvalidField("source_txn_ids", "must be positive and ascend");
  }
  return absl::OkStatus();
}

absl::Status CheckOpen(const OpenTxns& command, const Options& options) {
  if (command.count <= 0 || command.count > options.max_batch) {
    return InvalidField("count",
                        fmt::format("{} transactions at once are not possible, 1 to {} are",
                                    command.count,
                                    options.max_batch));
  }
  if (command.timeout && (command.timeout->count() <= 0 || *command.timeout > kMaxTimeout)) {
    return InvalidField("txn_timeout",
                        fmt::format("{} ms is no lease: more than 0 and at most one day are",
                                    command.timeout->count()));
  }
  if (command.type == TxnType::kCompaction || command.type == TxnType::kRebalanceCompaction) {
    return MakeError(
        ErrorReason::kOperationNotAllowed,
        fmt::format("a {} transaction comes with the claim of a compaction; enqueue one "
                    "(`skepctl compact`)",
                    TxnTypeName(command.type)),
        {{"operation", "open"}, {"type", std::string(TxnTypeName(command.type))}});
  }
  return CheckSources(command, options);
}

int64_t FingerprintOf(const OpenTxns& c) {
  return Fingerprint()
      .Add(c.count)
      .Add(static_cast<int64_t>(c.type))
      .Add(c.user)
      .Add(c.host)
      .Add(c.agent)
      .Add(c.timeout ? c.timeout->count() : -1)
      .Add(int64_t{c.keep_all_pinned})
      .value();
}

Pins::Reach ReachOf(const TxnFacts& row) {
  if (row.keep_all_pinned) return Pins::Reach::kAll;
  return row.from_batch ? Pins::Reach::kNamed : Pins::Reach::kAllUntilNamed;
}

// The same ids again; their snapshot as long as one of them is open.
OpenedTxns OpenedBefore(const RequestRow& request, const TxnTable& txns) {
  OpenedTxns answer{TxnId(request.first_id), request.count, {}, {}, {}};
  const auto it = txns.open().lower_bound(answer.first);
  if (it == txns.open().end() || it->first.value() >= request.first_id + request.count)
    return answer;
  answer.snapshot_seq = it->second.row.snapshot_seq;
  answer.timeout = std::chrono::milliseconds(it->second.row.timeout_ms);
  return answer;
}

}  // namespace

absl::StatusOr<OpenedTxns> State::Open(const OpenTxns& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  SKEP_RETURN_IF_ERROR(CheckOpen(command, s.options));
  const int64_t fingerprint = FingerprintOf(command);
  SKEP_ASSIGN_OR_RETURN(const RequestRow* known,
                        s.requests.Find(command.request, RequestKind::kOpen, fingerprint));
  if (known != nullptr) return OpenedBefore(*known, s.txns);

  TxnFacts row;
  row.type = command.type;
  row.client = s.clients.Get({command.user, command.host, command.agent});
  const auto own_timeout =
      command.type == TxnType::kReplCreated ? s.options.replication_timeout : s.options.txn_timeout;
  row.timeout_ms = command.timeout.value_or(own_timeout).count();
  row.from_batch = command.count > 1;
  row.keep_all_pinned = command.keep_all_pinned;
  if (command.sources) return s.OpenReplicas(*command.sources, row, now, unit);
  SKEP_RETURN_IF_ERROR(s.limit.Admit(command.user, command.count));
  OpenedTxns opened{
      s.txns.next(), command.count, unit.seq(), std::chrono::milliseconds(row.timeout_ms), {}};
  for (int64_t i = 0; i < command.count; ++i) s.OpenOne(row, ReachOf(row), now, unit);
  s.Remember(command.request,
             RequestKind::kOpen,
             fingerprint,
             opened.first.value(),
             command.count,
             now,
             unit);
  return opened;
}

AbortedTxns State::Impl::AbortByFilter(const AbortTxns& command, Now now, Unit& unit) {
  AbortedTxns answer;
  for (const auto& [id, txn] : txns.open()) {
    // A compaction is cancelled, not aborted from under its worker by the way.
    if (!txn.compaction.is_none()) continue;
    if (!command.user.empty() && txn.row.client->user != command.user) continue;
    if (command.min_age && now.wall - txn.row.open_time < *command.min_age) continue;
    if (answer.aborted.size() == kMaxEndedAtOnce) {
      answer.more = true;
      break;
    }
    answer.aborted.push_back(id);
  }
  const std::string reason = fmt::format("it was aborted ({})", AbortCauseName(command.cause));
  for (TxnId id : answer.aborted) {
    if (txns.Find(id) == nullptr) continue;
    EndTxn(id, {command.cause, EndedBy::kServer, reason}, now, unit);
  }
  return answer;
}

absl::StatusOr<AbortedTxns> State::Abort(const AbortTxns& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  if (command.by_filter()) return s.AbortByFilter(command, now, unit);
  AbortedTxns answer;
  if (command.sources) {
    for (TxnId source : command.sources->txns) {
      const auto txn = s.replicas.Find(command.sources->policy, source);
      if (!txn) continue;  // idempotent: also for what never came here (ABT-4)
      SKEP_RETURN_IF_ERROR(AbortOne(*txn, AbortCause::kReplication, now, unit));
      answer.aborted.push_back(*txn);
    }
    return answer;
  }
  for (TxnId id : command.txns) {
    const absl::Status status = AbortOne(id, command.cause, now, unit);
    if (status.ok()) {
      answer.aborted.push_back(id);
    } else if (s.IsCommitted(id)) {
      answer.already_committed.push_back(id);
    } else {
      answer.not_found.push_back(id);
    }
  }
  return answer;
}

absl::Status State::AbortOne(TxnId txn, AbortCause cause, Now now, Unit& unit) {
  Impl& s = *impl_;
  s.EndBypasses(now, unit);
  if (s.txns.Find(txn) == nullptr) {
    return s.txns.CauseOf(txn) ? absl::OkStatus() : s.EndedError(txn);
  }
  if (s.txn_leases.IsOver(txn, now.mono)) {
    s.EndExpired(txn, now, unit);
    return absl::OkStatus();
  }
  // A compactor's owner is its worker, who ends it by Finish.
  const bool by_owner = cause == AbortCause::kUser && s.txns.Find(txn)->compaction.is_none();
  const auto by = by_owner ? Impl::EndedBy::kOwner : Impl::EndedBy::kServer;
  s.EndTxn(txn, {cause, by, fmt::format("it was aborted ({})", AbortCauseName(cause))}, now, unit);
  return absl::OkStatus();
}

HeartbeatResult State::Beat(const Heartbeat& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  HeartbeatResult result;
  for (TxnId id : command.txns) {
    if (s.Use(id, now, unit).ok()) continue;
    if (const auto cause = s.txns.CauseOf(id)) {
      result.aborted.push_back({id, *cause});
    } else if (s.IsCommitted(id)) {
      result.committed.push_back(id);
    } else {
      result.not_found.push_back(id);
    }
  }
  for (LockId lock : command.locks) {
    if (!s.UseLock(lock, now, unit).ok()) result.locks_not_found.push_back(lock);
  }
  return result;
}

void State::Impl::Remember(const RequestKey& key,
                           RequestKind kind,
                           int64_t fingerprint,
                           int64_t first_id,
                           int64_t count,
                           Now now,
                           Unit& unit) {
  RequestRow row;
  row.kind = static_cast<int32_t>(kind);
  row.fingerprint = fingerprint;
  row.first_id = first_id;
  row.count = count;
  row.time = now.wall;
  requests.Record(
      key, std::move(row), [this](const RequestRow& r) { return IsAlive(r); }, unit);
}

bool State::Impl::IsAlive(const RequestRow& row) const {
  switch (static_cast<RequestKind>(row.kind)) {
    case RequestKind::kOpen: {
      const auto it = txns.open().lower_bound(TxnId(row.first_id));
      return it != txns.open().end() && it->first.value() < row.first_id + row.count;
    }
    case RequestKind::kLock:
      return lock_rows.Find(LockId(row.first_id)) != nullptr;
    case RequestKind::kEnqueue: {
      const CompactionRow* entry = queue.Find(CompactionId(row.first_id));
      return entry != nullptr && !IsTerminal(entry->state);
    }
    case RequestKind::kCreateTable:
    case RequestKind::kRegisterTable:
      return registry.Find(TableId(row.first_id)) != nullptr;
  }
  return false;
}

}  // namespace skep::state

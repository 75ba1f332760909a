// Locks: the LockTable decides who gets what; here its decisions become rows, declared writes and
// notices.

#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/status_macros.h"

namespace skep::state {

namespace {

int64_t FingerprintOf(const AcquireLocks& c) {
  Fingerprint print;
  print.Add(c.txn.value()).Add(int64_t{c.wait}).Add(c.user).Add(c.host).Add(c.agent);
  for (const LockComponent& component : c.components) {
    print.Add(component.resource.database).Add(component.resource.table);
    print.Add(component.resource.partition).Add(static_cast<int64_t>(component.kind));
    print.Add(component.op ? static_cast<int64_t>(*component.op) : -1)
        .Add(int64_t{component.dynamic});
  }
  return print.value();
}

LockOwner OwnerOf(LockId lock, TxnId txn) {
  return txn.is_none() ? LockOwner::OfLock(lock) : LockOwner::OfTxn(txn);
}

// What must be right about a component before its table is looked at.
absl::Status CheckForm(const LockComponent& c, bool in_txn) {
  if (c.resource.database.empty()) return InvalidField("resource.database", "is missing");
  if (c.resource.table.empty() && !c.resource.partition.empty()) {
    return InvalidField("resource.partition", "has no table to belong to");
  }
  if (!c.op) {
    return c.dynamic ? InvalidField("operation", "is missing for dynamic partitions")
                     : absl::OkStatus();
  }
  if (c.resource.table.empty()) {
    return InvalidField("operation", "a write is to a table; a lock on a database declares none");
  }
  if (!in_txn) {
    return InvalidField("operation",
                        "a write needs a transaction; a lock outside any declares none");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LockRows::Component> State::Impl::MakeLockComponent(const LockComponent& component,
                                                                   const OpenTxn* txn) {
  SKEP_RETURN_IF_ERROR(CheckForm(component, txn != nullptr));
  LockRows::Component made;
  made.kind = component.kind;
  made.op = component.op.value_or(WriteOp::kInsert);
  made.declares = component.op.has_value();
  made.dynamic = component.dynamic;
  LockResource resource = component.resource;
  if (!resource.table.empty()) {
    const TableName name{resource.database, resource.table};
    const TableRow* table = registry.Find(name);
    if (txn != nullptr) {
      SKEP_ASSIGN_OR_RETURN(table, ResolveFor(txn->row, name));
    }
    if (table == nullptr) return NoSuchTable(name);
    made.table = table->id;
    if (!resource.partition.empty()) {
      SKEP_ASSIGN_OR_RETURN(resource.partition, CanonicalPartition(*table, resource.partition));
    }
    if (component.op) {
      SKEP_RETURN_IF_ERROR(
          CheckWrite(txn->row, *table, resource.partition, *component.op).status());
    }
  }
  made.resource = lock_rows.Share(resource);
  return made;
}

absl::StatusOr<LockRows::Request> State::Impl::MakeLockRequest(const AcquireLocks& command,
                                                               const OpenTxn* txn,
                                                               Now now) {
  const int64_t count = std::ssize(command.components);
  if (count < 1 || count > options.max_lock_components) {
    return InvalidField(
        "components",
        fmt::format(
            "{} in one request are not possible, 1 to {} are", count, options.max_lock_components));
  }
  LockRows::Request request;
  request.txn = command.txn;
  request.client =
      txn != nullptr ? txn->row.client : clients.Get({command.user, command.host, command.agent});
  request.request_time = now.wall;
  for (const LockComponent& component : command.components) {
    SKEP_ASSIGN_OR_RETURN(LockRows::Component made, MakeLockComponent(component, txn));
    request.components.push_back(std::move(made));
  }
  return request;
}

LockAnswer State::Impl::Enqueue(LockRows::Request request,
                                IfBlocked if_blocked,
                                Now now,
                                Unit& unit) {
  const LockId id = next_lock;
  const TxnId txn = request.txn;
  LockRequest asked{id, OwnerOf(id, txn), {}, options.reader_bypass.count() > 0};
  for (const auto& component : request.components) {
    asked.targets.push_back({*component.resource, component.kind});
  }
  const LockAdded added = lock_table.Add(std::move(asked), if_blocked);
  if (added.state == LockState::kNotAcquired) {
    LockAnswer answer;
    answer.state = added.state;
    for (const LockBlocker& blocker : added.blocked_by)
      answer.blocked_by.push_back(BlockerOf(blocker));
    answer.reason = WaitReason(answer.blocked_by);
    return answer;
  }
  next_lock = next_lock.Next();
  if (added.state == LockState::kWaiting && options.reader_bypass.count() > 0) {
    bypass_ends.emplace_back(now.mono + options.reader_bypass, id);
  }
  if (added.state == LockState::kAcquired) {
    request.set_state(LockState::kAcquired);
    request.acquire_time = now.wall;
  }
  if (!txn.is_none()) {
    const CommitSeq snapshot = txns.Find(txn)->row.snapshot_seq;
    for (const auto& component : request.components) {
      if (component.table.is_none()) {
        pins.NameDatabase(txn, snapshot, component.resource->database);
      } else {
        pins.Name(txn, snapshot, component.table);
      }
    }
  } else {
    lock_leases.Renew(id, now.mono, options.txn_timeout);
  }
  lock_rows.Add(id, std::move(request), unit);
  if (added.state == LockState::kAcquired) {
    DeclareWritesOf(id, unit);
    NoteBypass(id);
    GrantAll(added.granted, now, unit);
  }
  return AnswerOf(id);
}

void State::Impl::EndBypasses(Now now, Unit& unit) {
  while (!bypass_ends.empty() && bypass_ends.front().first <= now.mono) {
    const LockId lock = bypass_ends.front().second;
    bypass_ends.pop_front();
    lock_table.EndBypass(lock);
    const std::optional<LockOwner> owner = lock_table.OwnerOf(lock);
    if (!owner) continue;
    for (LockId waiting : lock_table.WaitingOf(*owner)) {
      BreakDeadlocks(waiting, now, unit);
    }
  }
  for (LockId lock : std::exchange(maybe_circles, {})) BreakDeadlocks(lock, now, unit);
}

void State::Impl::NoteBypass(LockId granted) {
  const TxnId txn = lock_rows.Find(granted)->txn;
  if (options.reader_bypass.count() == 0 || txn.is_none()) return;
  for (LockId waiting : lock_table.WaitingOf(LockOwner::OfTxn(txn))) {
    maybe_circles.push_back(waiting);
  }
}

absl::StatusOr<LockAnswer> State::Lock(const AcquireLocks& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  s.EndBypasses(now, unit);
  const OpenTxn* txn = nullptr;
  if (!command.txn.is_none()) {
    SKEP_ASSIGN_OR_RETURN(txn, s.Use(command.txn, now, unit));
  }
  const int64_t fingerprint = FingerprintOf(command);
  SKEP_ASSIGN_OR_RETURN(const RequestRow* known,
                        s.requests.Find(command.request, RequestKind::kLock, fingerprint));
  if (known != nullptr) return CheckLock(LockId(known->first_id), now, unit);
  SKEP_ASSIGN_OR_RETURN(LockRows::Request request, s.MakeLockRequest(command, txn, now));
  const LockAnswer answer = s.Enqueue(
      std::move(request), command.wait ? IfBlocked::kWait : IfBlocked::kRefuse, now, unit);
  if (answer.state == LockState::kNotAcquired) return answer;
  s.Remember(command.request, RequestKind::kLock, fingerprint, answer.lock.value(), 1, now, unit);
  if (answer.state == LockState::kAcquired) return answer;

  const std::string cycle = s.BreakDeadlocks(answer.lock, now, unit);
  // The caller has its answer from here, not from a notice.
  std::erase_if(s.notices, [&](const LockNotice& notice) { return notice.lock == answer.lock; });
  if (s.lock_rows.Find(answer.lock) != nullptr) return s.AnswerOf(answer.lock);
  if (!command.txn.is_none()) return TxnAborted(command.txn, AbortCause::kDeadlock, cycle);
  LockAnswer refused;
  refused.state = LockState::kNotAcquired;
  refused.reason = cycle;
  return refused;
}

std::string State::Impl::BreakDeadlocks(LockId waiting, Now now, Unit& unit) {
  std::string text;
  while (const auto deadlock = lock_table.FindDeadlock(waiting)) {
    text = deadlock->text;
    if (deadlock->victim.is_txn()) {
      EndTxn(deadlock->victim.txn(), {AbortCause::kDeadlock, EndedBy::kServer, text}, now, unit);
    } else {
      EndRequest(deadlock->victim_request, LockState::kNotAcquired, text, now, unit);
    }
  }
  return text;
}

void State::Impl::DeclareWritesOf(LockId lock, Unit& unit) {
  const LockRows::Request& request = *lock_rows.Find(lock);
  if (request.txn.is_none()) return;
  for (const auto& c : request.components) {
    if (!c.declares) continue;
    const std::string partition = c.dynamic ? "" : c.resource->partition;
    AddComponent(*txns.Find(request.txn), {request.txn, c.table, partition, c.op, c.dynamic}, unit);
  }
}

void State::Impl::GrantAll(const std::vector<LockId>& locks, Now now, Unit& unit) {
  for (LockId lock : locks) {
    // Granted by a load and gone before the first Reap.
    if (lock_rows.Find(lock) == nullptr) continue;
    lock_rows.Grant(lock, now.wall, unit);
    if (lock_rows.Find(lock)->txn.is_none()) lock_leases.Renew(lock, now.mono, options.txn_timeout);
    DeclareWritesOf(lock, unit);
    NoteBypass(lock);
    notices.push_back({lock, AnswerOf(lock)});
  }
}

void State::Impl::EndRequest(
    LockId lock, LockState state, const std::string& reason, Now now, Unit& unit) {
  const LockRows::Request* request = lock_rows.Find(lock);
  if (request == nullptr) return;
  if (request->state() == LockState::kWaiting) {
    LockAnswer answer;
    answer.lock = lock;
    answer.state = state;
    answer.reason = reason;
    notices.push_back({lock, std::move(answer)});
  }
  lock_rows.Erase(lock, unit);
  lock_leases.Drop(lock);
  GrantAll(lock_table.Release(lock), now, unit);
}

void State::Impl::ReleaseLocksOf(TxnId txn, const Ending& ending, Now now, Unit& unit) {
  const LockOwner owner = LockOwner::OfTxn(txn);
  for (LockId lock : lock_table.LocksOf(owner)) {
    if (lock_rows.Find(lock)->state() == LockState::kWaiting) {
      LockAnswer answer;
      answer.lock = lock;
      answer.state = LockState::kAborted;
      answer.reason = fmt::format("transaction {} ended: {}",
                                  txn.value(),
                                  ending.reason.empty() ? "it committed" : ending.reason);
      notices.push_back({lock, std::move(answer)});
    }
    lock_rows.Erase(lock, unit);
  }
  GrantAll(lock_table.ReleaseAll(owner), now, unit);
}

absl::Status State::Impl::UseLock(LockId lock, Now now, Unit& unit) {
  const LockRows::Request* request = lock_rows.Find(lock);
  if (request == nullptr) return NoSuchLock(lock);
  if (!request->txn.is_none()) return Use(request->txn, now, unit).status();
  if (lock_leases.IsOver(lock, now.mono)) {
    EndRequest(lock, LockState::kNotAcquired, "its lease was over", now, unit);
    return NoSuchLock(lock);
  }
  lock_leases.Renew(lock, now.mono, options.txn_timeout);
  return absl::OkStatus();
}

absl::StatusOr<LockAnswer> State::CheckLock(LockId lock, Now now, Unit& unit) {
  SKEP_RETURN_IF_ERROR(impl_->UseLock(lock, now, unit));
  return impl_->AnswerOf(lock);
}

absl::Status State::Release(const ReleaseLock& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  s.EndBypasses(now, unit);
  const LockRows::Request* request = s.lock_rows.Find(command.lock);
  if (request == nullptr) return absl::OkStatus();  // LCU-3
  const TxnId owner = request->txn;
  if (request->state() == LockState::kWaiting || owner.is_none()) {
    s.EndRequest(command.lock, LockState::kNotAcquired, "it was given up", now, unit);
    return absl::OkStatus();
  }
  if (s.txn_leases.IsOver(owner, now.mono)) {
    s.EndExpired(owner, now, unit);
    return absl::OkStatus();
  }
  if (!command.force) {
    const LockRows::Component& first = request->components.front();
    return MakeError(
        ErrorReason::kTxnOpen,
        fmt::format("lock {} ({} on {}) belongs to transaction {}, which is open, and goes "
                    "when it ends; commit or abort it",
                    command.lock.value(),
                    LockKindName(first.kind),
                    first.resource->ToString(),
                    owner.value()),
        {{"lockId", command.lock.ToString()}, {"txnId", owner.ToString()}});
  }
  OpenTxn& txn = *s.txns.Find(owner);
  txn.row.abort_only = true;
  s.txns.Save(txn, unit);
  s.EndRequest(command.lock, LockState::kNotAcquired, "an operator released it", now, unit);
  // What waited under the lock's privileges may now wait in a circle.
  for (LockId waiting : s.lock_table.WaitingOf(LockOwner::OfTxn(owner))) {
    s.BreakDeadlocks(waiting, now, unit);
  }
  return absl::OkStatus();
}

std::vector<LockNotice> State::TakeNotices() { return std::exchange(impl_->notices, {}); }

}  // namespace skep::state

// What a lock request is told: its state, who is in its way, and whether its snapshot is still
// good.

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/model/quote.h"

namespace skep::state {

Blocker State::Impl::BlockerOf(const LockBlocker& b) const {
  Blocker blocker;
  blocker.lock = b.lock;
  blocker.txn = b.owner.txn();
  blocker.resource = b.held.resource;
  blocker.kind = b.held.kind;
  blocker.state = b.state;
  if (const LockRows::Request* request = lock_rows.Find(b.lock)) {
    blocker.user = request->client->user;
    blocker.host = request->client->host;
    blocker.agent = request->client->agent;
    blocker.since =
        request->state() == LockState::kAcquired ? request->acquire_time : request->request_time;
  }
  return blocker;
}

std::optional<Timestamp> State::Impl::LastBeatOf(const Blocker& blocker, Now now) const {
  if (const OpenTxn* txn = txns.Find(blocker.txn)) return txn->last_heartbeat;
  // Of a lock outside transactions the lease alone is kept; a stall has moved its end.
  const auto left = lock_leases.Left(blocker.lock, now.mono);
  if (!left) return std::nullopt;
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::max<std::chrono::nanoseconds>(options.txn_timeout - *left, {}));
  return now.wall - age;
}

std::string State::Impl::WaitReason(const std::vector<Blocker>& blockers) {
  if (blockers.empty()) return "";
  const Blocker& first = blockers.front();
  std::string owner = first.txn.is_none() ? fmt::format("lock {}", first.lock.value())
                                          : fmt::format("transaction {}", first.txn.value());
  if (!first.user.empty()) owner += " of " + OwnerText(first.user, first.host);
  if (!first.agent.empty()) owner += fmt::format(" ({})", first.agent);
  std::string text = fmt::format("{} {} {} on {}",
                                 owner,
                                 first.state == LockState::kAcquired ? "holds" : "waits first for",
                                 LockKindName(first.kind),
                                 first.resource.ToString());
  text += fmt::format(" since {}", FormatRfc3339(first.since));
  // No more than so many are looked for.
  const bool all = std::ssize(blockers) < LockTable::kShownBlockers;
  if (blockers.size() > 1) {
    text += fmt::format(", and {}{} more", all ? "" : "at least ", blockers.size() - 1);
  }
  return text;
}

// would a write of what was locked be refused for the age of the snapshot? EXCLUSIVE may
// replace everything, EXCL_WRITE change rows.
bool State::Impl::IsStale(LockId lock) const {
  const LockRows::Request& request = *lock_rows.Find(lock);
  const OpenTxn* txn = txns.Find(request.txn);
  if (txn == nullptr) return false;
  for (const auto& c : request.components) {
    if (c.table.is_none() || c.kind < LockKind::kExclWrite) continue;
    const bool overwrites =
        c.kind == LockKind::kExclusive || (c.declares && c.op == WriteOp::kOverwrite);
    const WriteOp op = overwrites ? WriteOp::kOverwrite : WriteOp::kUpdate;
    const std::string& partition = c.resource->partition;
    if (FindConflict(
            {c.table, partition, op}, marks.Newest(c.table, partition), txn->row.snapshot_seq))
      return true;
  }
  return false;
}

LockAnswer State::Impl::AnswerOf(LockId lock) const {
  LockAnswer answer;
  answer.lock = lock;
  answer.state = lock_rows.Find(lock)->state();
  if (answer.state == LockState::kAcquired) {
    answer.snapshot_stale = IsStale(lock);
    return answer;
  }
  for (const LockBlocker& blocker : lock_table.Blockers(lock)) {
    answer.blocked_by.push_back(BlockerOf(blocker));
  }
  answer.position = lock_table.Position(lock);
  answer.reason = WaitReason(answer.blocked_by);
  return answer;
}

bool State::Impl::IsFree(const LockTarget& target) const {
  for (LockId lock : lock_table.Overlapping(target.resource)) {
    for (const auto& c : lock_rows.Find(lock)->components) {
      if (ResourcesOverlap(*c.resource, target.resource) && LocksConflict(c.kind, target.kind))
        return false;
    }
  }
  return true;
}

std::vector<LockRow> State::Locks(const ListLocks& command) const {
  const Impl& s = *impl_;
  std::vector<LockRow> found;
  const auto take = [&](LockId lock, const LockRows::Request& request) {
    if (!command.txn.is_none() && request.txn != command.txn) return;
    if (command.waiting_only && request.state() != LockState::kWaiting) return;
    for (LockRow& row : LockRows::RowsOf(lock, request)) {
      if (command.resource && !ResourcesOverlap(row.resource, *command.resource)) continue;
      found.push_back(std::move(row));
    }
  };
  // A request is never split over two pages.
  const auto full = [&] { return std::ssize(found) >= command.limit; };
  if (command.resource) {
    for (LockId lock : s.lock_table.Overlapping(*command.resource)) {
      if (full()) break;
      if (lock > command.after) take(lock, *s.lock_rows.Find(lock));
    }
    return found;
  }
  const auto& all = s.lock_rows.all();
  for (auto it = all.upper_bound(command.after); it != all.end() && !full(); ++it) {
    take(it->first, it->second);
  }
  return found;
}

absl::StatusOr<LockAnswer> State::ExplainLock(LockId lock, Now now) const {
  const Impl& s = *impl_;
  if (s.lock_rows.Find(lock) == nullptr) return NoSuchLock(lock);
  LockAnswer answer = s.AnswerOf(lock);
  for (Blocker& blocker : answer.blocked_by) {
    blocker.last_heartbeat = s.LastBeatOf(blocker, now);
    blocker.position = s.lock_table.Position(blocker.lock);
  }
  return answer;
}

}  // namespace skep::state

// Questions about transactions. They change nothing: a lease that is over shows as nothing left of
// it.

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/status_macros.h"

namespace skep::state {

namespace {

bool Writes(const OpenTxn& txn, TableId table) {
  return !txn.write_ids.Of(table).is_none() || txn.components.Names(table);
}

bool IsWanted(const std::vector<TxnState>& states, TxnState state) {
  if (states.empty()) return state == TxnState::kOpen;
  return std::find(states.begin(), states.end(), state) != states.end();
}

}  // namespace

TxnInfo State::Impl::InfoOf(const OpenTxn& txn, Now now) const {
  TxnInfo info;
  info.id = txn.row.id;
  info.open = txn.row.ToRow();
  info.last_heartbeat = txn.last_heartbeat;
  if (const auto left = txn_leases.Left(txn.row.id, now.mono)) {
    info.lease_left = std::chrono::duration_cast<std::chrono::milliseconds>(*left);
  }
  std::set<TableId> tables;
  for (const auto& [table, write_id] : txn.write_ids.all()) tables.insert(table);
  for (const ComponentRow& component : txn.components.Rows(txn.row.id))
    tables.insert(component.table);
  for (TableId id : tables) {
    if (const TableRow* row = registry.Find(id)) info.tables.push_back(row->name);
  }
  info.locks = lock_table.LocksOf(LockOwner::OfTxn(txn.row.id));
  if (const ReplicaRow* replica = replicas.Of(txn.row.id)) {
    info.stands_for = CommitTxn::Source{replica->policy, replica->source};
  }
  return info;
}

absl::StatusOr<TxnInfo> State::GetTxn(TxnId txn, Now now) const {
  const Impl& s = *impl_;
  if (const OpenTxn* open = s.txns.Find(txn)) return s.InfoOf(*open, now);
  if (!s.txns.WasGivenOut(txn)) return NoSuchTxn(txn);
  TxnInfo info;
  info.id = txn;
  const auto cause = s.txns.CauseOf(txn);
  info.state = cause ? TxnState::kAborted : TxnState::kCommitted;
  info.cause = cause.value_or(AbortCause::kNone);
  return info;
}

absl::StatusOr<TxnInfo> State::GetReplica(const CommitTxn::Source& source, Now now) const {
  const auto txn = impl_->replicas.Find(source.policy, source.txn);
  if (txn) return GetTxn(*txn, now);
  return MakeError(ErrorReason::kNoSuchTxn,
                   fmt::format("no open transaction stands for transaction {} of {}; it may have "
                               "ended, or never came here",
                               source.txn.value(),
                               source.policy),
                   {{"txnId", source.txn.ToString()}, {"policy", source.policy}});
}

std::vector<TxnInfo> State::Txns(const ListTxns& command, Now now) const {
  const Impl& s = *impl_;
  std::vector<TxnInfo> found;
  // Aborted ones have no owner and no tables on record.
  if (IsWanted(command.states, TxnState::kAborted) && command.user.empty() &&
      command.policy.empty() && !command.table) {
    for (int64_t id : s.txns.aborted().IdsAfter(command.after.value(), command.limit)) {
      TxnInfo info;
      info.id = TxnId(id);
      info.state = TxnState::kAborted;
      info.cause = s.txns.CauseOf(info.id).value_or(AbortCause::kNone);
      found.push_back(std::move(info));
    }
  }
  if (IsWanted(command.states, TxnState::kOpen)) {
    int64_t open = 0;
    for (auto it = s.txns.open().upper_bound(command.after);
         it != s.txns.open().end() && open < command.limit;
         ++it) {
      if (!command.user.empty() && it->second.row.client->user != command.user) continue;
      if (!command.policy.empty()) {
        const ReplicaRow* replica = s.replicas.Of(it->first);
        if (replica == nullptr || replica->policy != command.policy) continue;
      }
      if (command.table && !Writes(it->second, *command.table)) continue;
      found.push_back(s.InfoOf(it->second, now));
      ++open;
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  if (std::ssize(found) > command.limit) found.resize(command.limit);
  return found;
}

State::Totals State::Summary(Now now) const {
  const Impl& s = *impl_;
  Totals totals;
  totals.seq = s.published;
  totals.open_txns = s.txns.open_count();
  totals.aborted_txns = s.txns.aborted_count();
  totals.tables = s.registry.count();
  totals.locks_held = s.lock_rows.held_components();
  totals.locks_waiting = s.lock_rows.waiting_components();
  totals.queued = std::ssize(s.queue.InState(CompactionState::kInitiated));
  totals.working = std::ssize(s.queue.InState(CompactionState::kWorking));
  totals.to_clean = std::ssize(s.queue.InState(CompactionState::kReadyForCleaning));
  if (!s.txns.open().empty()) totals.oldest_open = s.InfoOf(s.txns.open().begin()->second, now);
  return totals;
}

}  // namespace skep::state

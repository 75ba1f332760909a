#include <memory>
#include <set>
#include <utility>

#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/check.h"

namespace skep::state {

bool State::Impl::IsCommitted(TxnId id) const {
  return txns.WasGivenOut(id) && txns.Find(id) == nullptr && !txns.CauseOf(id);
}

absl::Status State::Impl::EndedError(TxnId id) const {
  if (!txns.WasGivenOut(id)) return NoSuchTxn(id);
  if (const auto cause = txns.CauseOf(id)) return TxnAborted(id, *cause);
  return TxnAlreadyCommitted(id);
}

absl::StatusOr<OpenTxn*> State::Impl::Use(TxnId id, Now now, Unit& unit) {
  OpenTxn* txn = txns.Find(id);
  if (txn == nullptr) return EndedError(id);
  if (txn_leases.IsOver(id, now.mono)) {
    EndExpired(id, now, unit);
    return EndedError(id);
  }
  txn_leases.Renew(id, now.mono, std::chrono::milliseconds(txn->row.timeout_ms));
  txn->last_heartbeat = now.wall;
  return txn;
}

void State::Impl::EndExpired(TxnId id, Now now, Unit& unit) {
  expired_txns.push_back(id);
  const bool compacts = !txns.Find(id)->compaction.is_none();
  EndTxn(id,
         {compacts ? AbortCause::kCompaction : AbortCause::kTimeout,
          EndedBy::kServer,
          "its lease was over"},
         now,
         unit);
}

OpenTxn& State::Impl::OpenOne(TxnFacts row, Pins::Reach reach, Now now, Unit& unit) {
  row.opened_seq = unit.seq();
  row.snapshot_seq = unit.seq();
  row.open_time = now.wall;
  OpenTxn& txn = txns.Open(std::move(row), unit);
  txn.last_heartbeat = now.wall;
  // NTF-3
  if (txn.row.type != TxnType::kReadOnly) unit.events().Opened(txn.row.id, txn.row.type);
  live.Add(unit.seq());
  limit.Opened(txn.row.client->user);
  pins.Add(txn.row.id, unit.seq(), reach);
  txn_leases.Renew(txn.row.id, now.mono, std::chrono::milliseconds(txn.row.timeout_ms));
  return txn;
}

void State::Impl::AddComponent(OpenTxn& txn, ComponentRow row, Unit& unit) {
  if (txn.components.Add(row)) unit.Add(Put<ComponentRow>{std::move(row)});
}

EventTable State::Impl::EventTableOf(TableId id) const {
  EventTable table{id, registry.SharedName(id)};
  if (table.name == nullptr) {
    const DroppedTableRow* dropped = registry.Dropped(id);
    table.name =
        std::make_shared<const TableName>(dropped == nullptr ? TableName() : dropped->name);
  }
  return table;
}

void State::Impl::EndTxn(TxnId id, const Ending& ending, Now now, Unit& unit) {
  OpenTxn* txn = txns.Find(id);
  SKEP_CHECK(txn != nullptr);
  const bool committed = ending.cause == AbortCause::kNone;
  const TxnFacts row = txn->row;
  const CompactionId compaction = txn->compaction;
  if (!committed && row.type != TxnType::kReadOnly) {
    std::set<TableId> tables;
    for (const auto& [table, write_id] : txn->write_ids.all()) tables.insert(table);
    for (const ComponentRow& component : txn->components.Rows(id)) tables.insert(component.table);
    AbortedEvent aborted{id, row.type, ending.cause, {}};
    for (TableId table : tables) aborted.tables.push_back(EventTableOf(table));
    unit.events().Add(std::move(aborted));
  } else if (!compaction.is_none()) {
    unit.events().Committed(id, row.type, {});
  }
  for (const auto& [table, write_id] : txn->write_ids.all()) {
    write_ids.Resolve(table,
                      write_id,
                      committed ? WriteIds::Outcome::kCommitted : WriteIds::Outcome::kAborted,
                      unit);
    if (!committed && registry.Find(table) != nullptr) changes.Record(table, "", unit.seq());
  }
  if (!txn->components.empty()) unit.Add(EraseComponents{id});
  if (!committed) {
    for (const ComponentRow& component : txn->components.Rows(id)) {
      if (txn->write_ids.Of(component.table).is_none()) continue;
      if (registry.Find(component.table) == nullptr) continue;  // dropped: nothing to compact
      changes.Record(component.table, component.partition, unit.seq());
    }
  }
  // A compactor that lost its claim publishes nothing: after a restart nobody waits for it.
  const bool stays_pinned = ending.by == EndedBy::kServer && compaction.is_none();
  txn_leases.Drop(id);
  txns.End(id, ending.cause, std::chrono::milliseconds(stays_pinned ? row.timeout_ms : 0), unit);
  replicas.End(id, unit);
  view_locks.End(id, unit);
  limit.Ended(row.client->user);
  if (ending.by == EndedBy::kServer) {
    Linger(row, now);
  } else {
    pins.Remove(id);
    live.Remove(row.snapshot_seq);
  }
  ReleaseLocksOf(id, ending, now, unit);
  if (!compaction.is_none() && !committed) ReturnClaim(compaction, ending.reason, unit);
}

void State::Impl::Linger(const TxnFacts& row, Now now) {
  lingering[row.id] = row;
  lingering_leases.Renew(row.id, now.mono, std::chrono::milliseconds(row.timeout_ms));
}

void State::Impl::StopLingering(TxnId id) {
  const auto it = lingering.find(id);
  if (it == lingering.end()) return;
  live.Remove(it->second.snapshot_seq);
  pins.Remove(id);
  lingering_leases.Drop(id);
  lingering.erase(it);
}

void State::Reap(Now now, Unit& unit) {
  Impl& s = *impl_;
  s.GrantAll(std::exchange(s.grant_after_load, {}), now, unit);
  s.EndBypasses(now, unit);
  for (TxnId id : s.txn_leases.Over(now.mono, kMaxEndedAtOnce)) s.EndExpired(id, now, unit);
  for (LockId lock : s.lock_leases.Over(now.mono, kMaxEndedAtOnce)) {
    s.expired_locks.push_back(lock);
    s.EndRequest(lock, LockState::kNotAcquired, "its lease was over", now, unit);
  }
  for (TxnId id : s.lingering_leases.Over(now.mono, kMaxEndedAtOnce)) s.StopLingering(id);
  s.ForgetOutdated(now, unit);
}

void State::ExtendLeases(std::chrono::nanoseconds stall) {
  impl_->txn_leases.Extend(stall);
  impl_->lock_leases.Extend(stall);
  impl_->lingering_leases.Extend(stall);
}

void State::KeepLeases(const State& before, Now now) {
  Impl& s = *impl_;
  const Impl& was = *before.impl_;
  for (const auto& [id, loaded] : s.txns.open()) {
    const OpenTxn* const known = was.txns.Find(id);
    if (known == nullptr) continue;
    s.txns.Find(id)->last_heartbeat = known->last_heartbeat;
    if (const auto left = was.txn_leases.Left(id, now.mono))
      s.txn_leases.Renew(id, now.mono, *left);
  }
  for (const auto& [id, request] : s.lock_rows.all()) {
    if (const auto left = was.lock_leases.Left(id, now.mono)) {
      s.lock_leases.Renew(id, now.mono, *left);
    }
  }
  for (const auto& [id, facts] : s.lingering) {
    // One that is not known any more had lingered long enough.
    const auto left = was.lingering_leases.Left(id, now.mono);
    s.lingering_leases.Renew(id, now.mono, left.value_or(std::chrono::nanoseconds(0)));
  }
  const auto is_over = [&](auto& leases, const auto& ids) {
    for (const auto id : ids) {
      if (leases.Left(id, now.mono)) leases.Renew(id, now.mono, std::chrono::nanoseconds(0));
    }
  };
  is_over(s.txn_leases, was.expired_txns);
  is_over(s.lock_leases, was.expired_locks);
}

std::optional<MonoTime> State::NextExpiry() const {
  std::optional<MonoTime> next;
  for (const auto& other : {impl_->txn_leases.NextOver(),
                            impl_->lock_leases.NextOver(),
                            impl_->lingering_leases.NextOver()}) {
    if (other && (!next || *other < *next)) next = other;
  }
  return next;
}

}  // namespace skep::state

#include "tests/sim/truth.h"

#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "tests/sim/lock_rules.h"

namespace skep::sim {

void Truth::Stored(const Effects& effects) {
  if (pending_) report_("a unit was stored while another one's outcome is not known");
  const CounterRow before = state_.counters;
  ApplyEffects(state_, effects);
  ++units_;
  CheckCounters(before);
  NoteWriteIds(effects);
  if (model_ != nullptr) TellModel(effects);
  events_.Stored(state_.counters.seq, effects, NoteEnds(effects));
  CheckLocks();
  if (!on_publish_) return;
  for (const Effect& effect : effects) {
    const auto* row = std::get_if<Put<CompactionRow>>(&effect);
    const bool published = row != nullptr && row->row->state == CompactionState::kReadyForCleaning;
    if (published && row->row->published_seq == state_.counters.seq) on_publish_(*row->row);
  }
}

void Truth::Unknown(const Effects& effects) {
  if (pending_) report_("two units whose outcome is not known");
  pending_ = effects;
}

void Truth::Loaded(const StoredState& state) {
  if (state == state_) {
    if (pending_) ++settled_as_lost_;
    pending_.reset();
    return;
  }
  const std::string lost = Differences(state, state_);
  if (!pending_) {
    return report_(
        fmt::format("the store loads another state than it was given (unit {} against "
                    "{}): {} differ",
                    state.counters.seq.value(),
                    state_.counters.seq.value(),
                    lost));
  }
  const Effects effects = *std::exchange(pending_, std::nullopt);
  Stored(effects);
  ++settled_as_there_;
  if (state == state_) return;
  report_(
      fmt::format("the store holds half a unit, or has lost more than the last one (unit {} "
                  "against {}): without it {} differ, with it {}",
                  state.counters.seq.value(),
                  state_.counters.seq.value(),
                  lost,
                  Differences(state, state_)));
}

void Truth::CheckCounters(const CounterRow& before) {
  const CounterRow& now = state_.counters;
  const auto grows = [&](std::string_view name, auto a, auto b) {
    if (b < a) report_(fmt::format("{} went back from {} to {}", name, a.value(), b.value()));
  };
  if (now.seq <= before.seq) {
    report_(fmt::format("unit {} follows unit {}", now.seq.value(), before.seq.value()));
  }
  grows("the next transaction", before.next_txn, now.next_txn);
  grows("the next lock", before.next_lock, now.next_lock);
  grows("the next compaction", before.next_compaction, now.next_compaction);
  grows("the next table", before.next_table, now.next_table);
}

void Truth::NoteWriteIds(const Effects& effects) {
  for (const Effect& effect : effects) {
    const auto* put = std::get_if<Put<WriteIdRow>>(&effect);
    if (put == nullptr) continue;
    const auto [it, fresh] =
        owners_.emplace(std::pair(put->row.table, put->row.write_id), put->row.txn);
    if (!fresh && it->second != put->row.txn) {
      report_(fmt::format("write id {} of table {} belongs to transaction {} and to {}",
                          put->row.write_id.value(),
                          put->row.table.value(),
                          it->second.value(),
                          put->row.txn.value()));
    }
  }
}

void Truth::TellModel(const Effects& effects) {
  const CommitSeq unit = state_.counters.seq;
  std::set<TxnId> ending;
  for (const Effect& effect : effects) {
    if (const auto* end = std::get_if<EraseTxn>(&effect)) ending.insert(end->id);
  }
  for (const Effect& effect : effects) {
    if (const auto* txn = std::get_if<Put<TxnRow>>(&effect)) {
      model_->Opened(txn->row.id, unit);
    } else if (const auto* id = std::get_if<Put<WriteIdRow>>(&effect)) {
      model_->Allocated(id->row.table, id->row.write_id, id->row.txn, unit);
    } else if (const auto* component = std::get_if<Put<ComponentRow>>(&effect)) {
      model_->Touched(component->row.txn, component->row.table);
    } else if (const auto* gone = std::get_if<EraseWriteId>(&effect)) {
      const TxnId owner = model_->OwnerOf(gone->table, gone->write_id);
      if (!ending.contains(owner)) model_->Replaced(gone->table, gone->write_id, unit);
    }
  }
}

std::map<TxnId, AbortCause> Truth::NoteEnds(const Effects& effects) {
  std::map<TxnId, AbortCause> ended;
  for (const Effect& effect : effects) {
    if (const auto* put = std::get_if<Put<TxnRow>>(&effect)) {
      snapshots_[put->row.id] = put->row.snapshot_seq;
    }
    const auto* end = std::get_if<EraseTxn>(&effect);
    if (end == nullptr) continue;
    auto aborted = state_.aborted_txns.upper_bound(end->id);
    TxnOutcome outcome{state_.counters.seq, snapshots_[end->id]};
    if (aborted != state_.aborted_txns.begin()) {
      --aborted;
      if (end->id <= aborted->second.last) outcome.cause = aborted->second.cause;
    }
    snapshots_.erase(end->id);
    if (model_ != nullptr) model_->Ended(end->id, outcome.seq, outcome.committed());
    if (outcomes_.emplace(end->id, outcome).second) {
      on_end_(end->id, outcome);
    } else {
      report_(fmt::format("transaction {} ended twice", end->id.value()));
    }
    ended[end->id] = outcome.cause;
  }
  return ended;
}

void Truth::CheckLocks() {
  std::vector<const LockRow*> granted;
  for (const auto& [key, row] : state_.locks) {
    if (row.state != LockState::kAcquired) continue;
    granted.push_back(&row);
    granted_.emplace(row.lock, units_);
  }
  for (size_t i = 0; i < granted.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const LockRow& earlier = *granted[j];
      const LockRow& later = *granted[i];
      if (earlier.lock == later.lock) continue;
      if (!earlier.txn.is_none() && earlier.txn == later.txn) continue;
      if (!MayHoldTogether({earlier.resource, earlier.kind}, {later.resource, later.kind})) {
        report_(fmt::format(
            "locks {} and {} are held together", earlier.lock.value(), later.lock.value()));
      }
    }
  }
}

std::string Differences(const StoredState& a, const StoredState& b) {
  std::string names;
  const auto compare = [&](bool same, const char* name) {
    if (!same) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  compare(a.counters == b.counters, "counters");
  compare(a.txns == b.txns, "txns");
  compare(a.replicas == b.replicas, "replicas");
  compare(a.resolved_txns == b.resolved_txns, "resolved_txns");
  compare(a.aborted_txns == b.aborted_txns, "aborted_txns");
  compare(a.tables == b.tables, "tables");
  compare(a.dropped_tables == b.dropped_tables, "dropped_tables");
  compare(a.partitions == b.partitions, "partitions");
  compare(a.write_ids == b.write_ids, "write_ids");
  compare(a.resolved_write_ids == b.resolved_write_ids, "resolved_write_ids");
  compare(a.aborted_write_ids == b.aborted_write_ids, "aborted_write_ids");
  compare(a.components == b.components, "components");
  compare(a.write_marks == b.write_marks, "write_marks");
  compare(a.locks == b.locks, "locks");
  compare(a.compactions == b.compactions, "compactions");
  compare(a.requests == b.requests, "requests");
  compare(a.table_changes == b.table_changes, "table_changes");
  compare(a.view_locks == b.view_locks, "view_locks");
  return names;
}

}  // namespace skep::sim

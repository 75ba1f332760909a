#include "server/state/state.h"

#include <utility>

#include "server/state/impl.h"

namespace skep::state {

State::State(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
State::~State() = default;

Unit State::Begin(Effects memory, std::vector<Event> event_memory) const {
  return Unit(impl_->published.Next(), std::move(memory), std::move(event_memory));
}

void State::Seal(Unit& unit) {
  Impl& s = *impl_;
  if (unit.empty()) return;
  const CommitSeq oldest = s.live.OldestOr(unit.seq());
  const bool forget_txns = s.txns.Seal(s.live, unit);
  const bool forget_write_ids = s.write_ids.Seal(s.live, unit);
  if (forget_txns || forget_write_ids) unit.Add(ForgetResolved{oldest});
  s.marks.Seal(oldest, unit);
  s.row_changes.Seal(unit);
  for (TableId id : s.registry.Seal(oldest, unit)) {
    s.write_ids.ForgetTable(id);
    s.marks.DropTable(id);
    s.row_changes.DropTable(id);
  }
  unit.Add(Put<CounterRow>{s.Counters(unit.seq())});
}

void State::Published(const Unit& unit) {
  if (unit.empty()) return;
  impl_->published = unit.seq();
  impl_->expired_txns.clear();
  impl_->expired_locks.clear();
}

CounterRow State::Impl::Counters(CommitSeq seq) const {
  CounterRow row;
  txns.StoreCounters(row);
  requests.StoreCounters(row);
  row.seq = seq;
  row.next_lock = next_lock;
  row.next_compaction = next_compaction;
  row.next_table = next_table;
  return row;
}

StoredState State::ToStored() const {
  const Impl& s = *impl_;
  StoredState stored;
  s.txns.Store(stored);
  s.replicas.Store(stored);
  s.write_ids.Store(stored);
  s.marks.Store(stored);
  s.row_changes.Store(stored);
  s.view_locks.Store(stored);
  s.registry.Store(stored);
  s.lock_rows.Store(stored);
  s.requests.Store(stored);
  stored.compactions = s.queue.rows();
  stored.counters = s.Counters(s.published);
  return stored;
}

}  // namespace skep::state

#include "server/state/txn_table.h"

#include <algorithm>
#include <utility>

#include "storage/base/check.h"

namespace skep::state {

OpenTxn* TxnTable::Find(TxnId id) {
  const auto it = open_.find(id);
  return it == open_.end() ? nullptr : &it->second;
}

const OpenTxn* TxnTable::Find(TxnId id) const {
  const auto it = open_.find(id);
  return it == open_.end() ? nullptr : &it->second;
}

OpenTxn& TxnTable::Open(TxnRow row, Unit& unit) {
  row.id = next_;
  next_ = next_.Next();
  changed_ = unit.seq();
  OpenTxn& txn = open_[row.id];
  txn.row = std::move(row);
  Save(txn, unit);
  return txn;
}

void TxnTable::End(TxnId id, AbortCause cause, Unit& unit) {
  const auto it = open_.find(id);
  SKEP_CHECK(it != open_.end());
  const bool committed = cause == AbortCause::kNone;
  resolved_.push_back({unit.seq(), id, it->second.row.opened_seq, committed});
  open_.erase(it);
  changed_ = unit.seq();
  unit.Add(EraseTxn{id});
  if (committed) return;
  const AbortedIntervals::Change change = aborted_.Add(id.value(), cause);
  if (change.erase_first) unit.Add(EraseAbortedTxns{TxnId(*change.erase_first)});
  unit.Add(
      Put<AbortedTxnsRow>{{TxnId(change.put.first), TxnId(change.put.last), change.put.cause}});
}

void TxnTable::Skip(TxnId id, Unit& unit) {
  if (id < next_) return;
  // One of the skipped ids, as opened and ended by this unit, keeps all of them above the high mark
  // of every older snapshot, also after a restart.
  resolved_.push_back({unit.seq(), next_, unit.seq(), true});
  next_ = id.Next();
  changed_ = unit.seq();
}

ValidIdsCache::List TxnTable::At(CommitSeq seq) const {
  const CommitSeq key = std::min(seq, changed_);
  return lists_.GetOrMake(key, [&] { return MakeList(seq); });
}

ValidIds TxnTable::MakeList(CommitSeq seq) const {
  ValidIds list;
  list.high = next_.value() - 1;
  std::vector<int64_t> aborted_later;
  const auto later = std::upper_bound(
      resolved_.begin(), resolved_.end(), seq, [](CommitSeq s, const ResolvedTxnRow& row) {
        return s < row.end_seq;
      });
  for (auto it = later; it != resolved_.end(); ++it) {
    if (it->opened_seq > seq) {
      list.high = std::min(list.high, it->id.value() - 1);
      continue;
    }
    list.open.push_back(it->id.value());
    if (!it->committed) aborted_later.push_back(it->id.value());
  }
  for (const auto& [id, txn] : open_) {
    if (txn.row.opened_seq > seq) {
      list.high = std::min(list.high, id.value() - 1);
      break;
    }
    list.open.push_back(id.value());
  }
  std::sort(list.open.begin(), list.open.end());
  std::sort(aborted_later.begin(), aborted_later.end());
  list.aborted = aborted_.IdsUpTo(list.high, aborted_later);
  return list;
}

bool TxnTable::Seal(CommitSeq oldest, Unit& unit) {
  if (oldest < unit.seq()) {
    auto it = resolved_.end();
    while (it != resolved_.begin() && std::prev(it)->end_seq == unit.seq()) --it;
    for (; it != resolved_.end(); ++it) unit.Add(Put<ResolvedTxnRow>{*it});
  }
  bool stored = false;
  while (!resolved_.empty() && resolved_.front().end_seq <= oldest) {
    stored |= resolved_.front().end_seq < unit.seq();
    resolved_.pop_front();
  }
  return stored;
}

void TxnTable::Load(const StoredState& stored) {
  next_ = stored.counters.next_txn;
  changed_ = stored.counters.seq;
  for (const auto& [id, row] : stored.txns) {
    open_[id].row = row;
    open_[id].list_given = true;
  }
  for (const auto& [key, row] : stored.resolved_txns) resolved_.push_back(row);
  for (const auto& [first, row] : stored.aborted_txns) {
    aborted_.Load({row.first.value(), row.last.value(), row.cause});
  }
}

void TxnTable::Store(StoredState& out) const {
  for (const auto& [id, txn] : open_) {
    out.txns[id] = txn.row;
    for (const auto& [key, row] : txn.components) {
      out.components[{row.txn, row.table, row.partition, row.op}] = row;
    }
  }
  for (const ResolvedTxnRow& row : resolved_) out.resolved_txns[{row.end_seq, row.id}] = row;
  for (const auto& i : aborted_.Intervals()) {
    out.aborted_txns[TxnId(i.first)] = {TxnId(i.first), TxnId(i.last), i.cause};
  }
}

}  // namespace skep::state

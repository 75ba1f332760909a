#include "server/state/txn_table.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "storage/base/check.h"

namespace skep::state {

TxnRow TxnFacts::ToRow() const {
  TxnRow row;
  row.id = id;
  row.type = type;
  row.opened_seq = opened_seq;
  row.snapshot_seq = snapshot_seq;
  row.open_time = open_time;
  row.user = client->user;
  row.host = client->host;
  row.agent = client->agent;
  row.timeout_ms = timeout_ms;
  row.from_batch = from_batch;
  row.keep_all_pinned = keep_all_pinned;
  row.abort_only = abort_only;
  return row;
}

namespace {

TxnFacts FactsOf(const TxnRow& row, Clients& clients) {
  TxnFacts facts;
  facts.id = row.id;
  facts.opened_seq = row.opened_seq;
  facts.snapshot_seq = row.snapshot_seq;
  facts.open_time = row.open_time;
  facts.timeout_ms = row.timeout_ms;
  facts.client = clients.Get({row.user, row.host, row.agent});
  facts.type = row.type;
  facts.from_batch = row.from_batch;
  facts.keep_all_pinned = row.keep_all_pinned;
  facts.abort_only = row.abort_only;
  return facts;
}

template <class Ids>
auto PlaceOf(Ids& ids, TableId table) {
  return std::lower_bound(
      ids.begin(), ids.end(), table, [](const auto& own, TableId t) { return own.first < t; });
}

}  // namespace

WriteId OwnWriteIds::Of(TableId table) const {
  if (ids_ == nullptr) return WriteId();
  const auto place = PlaceOf(*ids_, table);
  return place == ids_->end() || place->first != table ? WriteId() : place->second;
}

void OwnWriteIds::Set(TableId table, WriteId id) {
  if (ids_ == nullptr) ids_ = std::make_unique<Ids>();
  const auto place = PlaceOf(*ids_, table);
  if (place != ids_->end() && place->first == table) {
    place->second = id;
  } else {
    ids_->insert(place, {table, id});
  }
}

void OwnWriteIds::Erase(TableId table) {
  if (Of(table).is_none()) return;
  ids_->erase(PlaceOf(*ids_, table));
  if (ids_->empty()) ids_ = nullptr;
}

std::span<const std::pair<TableId, WriteId>> OwnWriteIds::all() const {
  if (ids_ == nullptr) return {};
  return {ids_->data(), ids_->size()};
}

OpenTxn* TxnTable::Find(TxnId id) { return open_.Find(id); }

const OpenTxn* TxnTable::Find(TxnId id) const { return open_.Find(id); }

OpenTxn& TxnTable::Open(TxnFacts facts, Unit& unit) {
  facts.id = std::exchange(next_, next_.Next());
  changed_ = unit.seq();
  OpenTxn& txn = open_.Insert(facts.id);
  txn.row = std::move(facts);
  txn.previous_opened = std::exchange(last_opened_, txn.row.opened_seq);
  Save(txn, unit);
  return txn;
}

void TxnTable::End(TxnId id, AbortCause cause, std::chrono::milliseconds pinned, Unit& unit) {
  const OpenTxn* txn = open_.Find(id);
  SKEP_CHECK(txn != nullptr);
  const bool committed = cause == AbortCause::kNone;
  ended_.push_back(
      {{unit.seq(), id, txn->row.opened_seq, committed, pinned.count()}, txn->previous_opened});
  open_.Erase(id);
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
  ended_.push_back(
      {{unit.seq(), next_, unit.seq(), true, 0}, std::exchange(last_opened_, unit.seq())});
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
  const auto later =
      std::upper_bound(ended_.begin(), ended_.end(), seq, [](CommitSeq s, const Ended& e) {
        return s < e.row.end_seq;
      });
  for (auto it = later; it != ended_.end(); ++it) {
    const ResolvedTxnRow& row = it->row;
    if (row.opened_seq > seq) {
      list.high = std::min(list.high, row.id.value() - 1);
      continue;
    }
    list.open.push_back(row.id.value());
    if (!row.committed) aborted_later.push_back(row.id.value());
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

bool TxnTable::Seal(const LiveSnapshots& live, Unit& unit) {
  const auto is_of_unit = [&](const Ended& e) { return e.row.end_seq == unit.seq(); };
  auto fresh = std::find_if(ended_.rbegin(), ended_.rend(), std::not_fn(is_of_unit)).base();
  const auto is_forgotten = [&](const Ended& e) {
    return !live.AnyIn(e.previous_opened, e.row.end_seq);
  };
  ended_.erase(std::remove_if(fresh, ended_.end(), is_forgotten), ended_.end());
  fresh = std::find_if(ended_.rbegin(), ended_.rend(), std::not_fn(is_of_unit)).base();
  for (auto it = fresh; it != ended_.end(); ++it) unit.Add(Put<ResolvedTxnRow>{it->row});

  const CommitSeq oldest = live.OldestOr(unit.seq());
  bool stored = false;
  while (!ended_.empty() && ended_.front().row.end_seq <= oldest) {
    stored = true;
    ended_.pop_front();
  }
  return stored;
}

void TxnTable::Load(const StoredState& stored, Clients& clients) {
  next_ = stored.counters.next_txn;
  changed_ = stored.counters.seq;
  std::map<TxnId, CommitSeq> opened;
  for (const auto& [id, row] : stored.txns) {
    OpenTxn& txn = open_.Insert(id);
    txn.row = FactsOf(row, clients);
    txn.row.list_given = true;
    opened[id] = row.opened_seq;
  }
  for (const auto& [key, row] : stored.resolved_txns) {
    ended_.push_back({row, CommitSeq()});
    opened[row.id] = row.opened_seq;
  }
  // Where ids between are forgotten this is too early, which only keeps more.
  for (const auto& [id, seq] : opened) {
    const CommitSeq previous = std::exchange(last_opened_, seq);
    if (OpenTxn* txn = Find(id)) txn->previous_opened = previous;
  }
  for (const auto& [first, row] : stored.aborted_txns) {
    aborted_.Load({row.first.value(), row.last.value(), row.cause});
  }
}

void TxnTable::Store(StoredState& out) const {
  for (const auto& [id, txn] : open_) {
    out.txns[id] = txn.row.ToRow();
    for (const ComponentRow& row : txn.components.Rows(id)) {
      out.components[{row.txn, row.table, row.partition, row.op}] = row;
    }
  }
  for (const Ended& e : ended_) out.resolved_txns[{e.row.end_seq, e.row.id}] = e.row;
  for (const auto& i : aborted_.Intervals()) {
    out.aborted_txns[TxnId(i.first)] = {TxnId(i.first), TxnId(i.last), i.cause};
  }
}

}  // namespace skep::state

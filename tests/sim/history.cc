#include "tests/sim/history.h"

#include <algorithm>

#include <fmt/format.h>

namespace skep::sim {
namespace {

bool Replaces(WriteOp op) { return op == WriteOp::kOverwrite || op == WriteOp::kDrop; }

// First committer wins: what replaces everything meets every write, other changes meet
// changes, inserts meet nothing else.
bool Clash(WriteOp a, WriteOp b) {
  if (Replaces(a) || Replaces(b)) return true;
  return a != WriteOp::kInsert && b != WriteOp::kInsert;
}

std::string Text(const Place& place) {
  return fmt::format(
      "table {}{}{}", place.table.value(), place.partition.empty() ? "" : "/", place.partition);
}

std::string Text(const Rows& rows) {
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format(" {}.{}={}", row.write_id.value(), row.number, row.value);
  }
  return text.empty() ? " none" : text;
}

}  // namespace

History::Txn* History::Find(TxnId txn) {
  const auto found = txns_.find(txn);
  return found == txns_.end() ? nullptr : &found->second;
}

// ---- transactions ----

void History::Opened(const std::string& client,
                     TxnId id,
                     CommitSeq snapshot,
                     std::function<bool()> lease_lasts) {
  ++counts_.opened;
  // An end may already be known: the answer was on its way for long.
  Txn& txn = txns_[id];
  if (!txn.client.empty()) {
    report_(
        fmt::format("transaction {} was given to {} and to {}", id.value(), txn.client, client));
  }
  txn.client = client;
  txn.snapshot = snapshot;
  txn.lease_lasts = std::move(lease_lasts);
}

void History::Wrote(TxnId txn, Written written) {
  ++counts_.writes;
  txns_[txn].writes.push_back(std::move(written));
}

void History::Refreshed(TxnId txn, CommitSeq snapshot) {
  if (Txn* const found = Find(txn)) found->snapshot = snapshot;
}

void History::ToldCommitted(TxnId id, CommitSeq seq) {
  Txn* const txn = Find(id);
  if (txn == nullptr) return;
  ++counts_.told_committed;
  txn->told_committed = true;
  if (!seq.is_none()) txn->told_seq = seq;
  if (!txn->ended) {
    return report_(
        fmt::format("the commit of transaction {} was acknowledged, but no durable unit "
                    "holds it",
                    id.value()));
  }
  CheckEnd(id, *txn);
}

void History::ToldAborted(TxnId id) {
  Txn* const txn = Find(id);
  if (txn == nullptr) return;
  txn->told_aborted = true;
  if (!txn->ended) {
    return report_(
        fmt::format("{} was told that transaction {} is aborted, but no durable unit "
                    "says so",
                    txn->client,
                    id.value()));
  }
  CheckEnd(id, *txn);
}

void History::Ended(TxnId id, const TxnOutcome& outcome) {
  Txn& txn = txns_[id];
  txn.ended = outcome.seq;
  txn.committed = outcome.committed();
  ++(txn.committed ? counts_.committed : counts_.aborted);
  // The server counts from later than the client: it may never be the first to think it over.
  if (outcome.cause == AbortCause::kTimeout && txn.lease_lasts && txn.lease_lasts()) {
    report_(fmt::format("the lease of transaction {} was ended while its owner may rely on it",
                        id.value()));
  }
  txn.lease_lasts = nullptr;
  // Where others ended it, its owner does not know yet.
  ReleasedAll(id);
  CheckEnd(id, txn);
  if (!txn.committed) return;
  CheckFirstCommitter(id, txn, outcome.snapshot);
  for (const Written& written : txn.writes) {
    commits_[written.place].push_back({outcome.seq, id, &written});
  }
}

void History::CheckEnd(TxnId id, const Txn& txn) {
  if (!txn.ended) return;
  if (txn.told_committed && !txn.committed) {
    report_(fmt::format("the commit of transaction {} was acknowledged, and it is aborted",
                        id.value()));
  }
  if (txn.told_aborted && txn.committed) {
    report_(fmt::format("transaction {} is committed, and its owner was told that it is aborted",
                        id.value()));
  }
  if (txn.told_seq && *txn.told_seq != *txn.ended) {
    report_(fmt::format("transaction {} was said to be committed by unit {}, it was {}",
                        id.value(),
                        txn.told_seq->value(),
                        txn.ended->value()));
  }
}

void History::CheckFirstCommitter(TxnId id, const Txn& txn, CommitSeq snapshot) {
  for (const Written& own : txn.writes) {
    const auto others = commits_.find(own.place);
    if (others == commits_.end()) continue;
    for (auto other = others->second.rbegin(); other != others->second.rend(); ++other) {
      if (other->seq <= snapshot) break;
      if (other->txn == id || !Clash(own.op, other->written->op)) continue;
      report_(
          fmt::format("lost update on {}: transaction {} ({}, snapshot {}) committed over "
                      "transaction {} ({}, committed by unit {})",
                      Text(own.place),
                      id.value(),
                      WriteOpName(own.op),
                      snapshot.value(),
                      other->txn.value(),
                      WriteOpName(other->written->op),
                      other->seq.value()));
    }
  }
}

// ---- write ids ----

void History::Allocated(TxnId txn, TableId table, WriteId write_id) {
  const auto [it, fresh] = write_ids_.emplace(std::pair(table, write_id), txn);
  if (!fresh && it->second != txn) {
    report_(fmt::format("write id {} of table {} was given to transactions {} and {}",
                        write_id.value(),
                        table.value(),
                        it->second.value(),
                        txn.value()));
  }
}

// ---- snapshots ----

void History::Listed(TxnId id, const WriteIdSnapshot& list) {
  Txn* const txn = Find(id);
  if (txn == nullptr) return;
  ++counts_.lists;
  if (!txn->snapshot.is_none() && list.seq != txn->snapshot) {
    report_(fmt::format("transaction {} has snapshot {} and was given a list of {}",
                        id.value(),
                        txn->snapshot.value(),
                        list.seq.value()));
  }
  const auto [it, fresh] = txn->lists.emplace(list.table_id, list);
  if (fresh) return;
  if (it->second.seq == list.seq && !(it->second.ids == list.ids)) {
    report_(fmt::format("transaction {} was given two lists of table {}: {} and {}",
                        id.value(),
                        list.table_id.value(),
                        FormatWriteIdList(it->second),
                        FormatWriteIdList(list)));
  }
  it->second = list;
}

void History::SawTxns(TxnId id, const TxnSnapshot& snapshot) {
  Txn* const txn = Find(id);
  if (txn == nullptr) return;
  ++counts_.lists;
  if (txn->txns && txn->txns->seq == snapshot.seq && !(txn->txns->ids == snapshot.ids)) {
    report_(fmt::format("transaction {} was given two snapshots: {} and {}",
                        id.value(),
                        FormatTxnList(*txn->txns),
                        FormatTxnList(snapshot)));
  }
  txn->txns = snapshot;
  for (const auto& [other, known] : txns_) {
    if (other == id || other.value() > snapshot.ids.high) continue;
    const bool visible = known.committed && known.ended && *known.ended <= snapshot.seq;
    if (known.client.empty() || visible == snapshot.IsVisible(other)) continue;
    return report_(
        fmt::format("snapshot {} of transaction {} says that transaction {} is {}",
                    snapshot.seq.value(),
                    id.value(),
                    other.value(),
                    visible ? "not committed, and it was" : "committed, and it was not"));
  }
}

Rows History::RowsAt(const Place& place, CommitSeq seq) const {
  Rows rows;
  const auto commits = commits_.find(place);
  if (commits == commits_.end()) return rows;
  for (const Commit& commit : commits->second) {
    if (commit.seq > seq) break;
    if (Replaces(commit.written->op)) rows.clear();
    for (const Row& row : commit.written->removed) rows.erase(row);
    rows.insert(commit.written->added.begin(), commit.written->added.end());
  }
  return rows;
}

void History::Read(TxnId txn, CommitSeq snapshot, const Place& place, const Rows& rows) {
  ++counts_.reads;
  counts_.rows_read += static_cast<int64_t>(rows.size());
  const Rows expected = RowsAt(place, snapshot);
  if (rows == expected) return;
  report_(fmt::format("transaction {} with snapshot {} reads in {}{}, committed by then were{}",
                      txn.value(),
                      snapshot.value(),
                      Text(place),
                      Text(rows),
                      Text(expected)));
}

// ---- locks ----

void History::Granted(LockId lock,
                      TxnId txn,
                      std::vector<HeldLock> held,
                      std::function<bool()> in_force) {
  if (taken_away_.contains(lock) || !in_force()) return;
  ++counts_.grants;
  std::erase_if(holds_, [](const auto& entry) { return !entry.second.in_force(); });
  for (const auto& [other, hold] : holds_) {
    if (other == lock || (!txn.is_none() && hold.txn == txn)) continue;
    for (const HeldLock& a : held) {
      for (const HeldLock& b : hold.held) {
        if (MayHoldTogether(a, b)) continue;
        report_(
            fmt::format("lock {} ({} {} of transaction {}) was granted while lock {} ({} {} of "
                        "transaction {}) is in force",
                        lock.value(),
                        LockKindName(a.kind),
                        a.resource.ToString(),
                        txn.value(),
                        other.value(),
                        LockKindName(b.kind),
                        b.resource.ToString(),
                        hold.txn.value()));
      }
    }
  }
  holds_[lock] = {txn, std::move(held), std::move(in_force)};
}

void History::Released(LockId lock) { holds_.erase(lock); }

void History::TakenAway(LockId lock) {
  holds_.erase(lock);
  taken_away_.insert(lock);
}

void History::ReleasedAll(TxnId txn) {
  std::erase_if(holds_, [txn](const auto& entry) { return entry.second.txn == txn; });
}

}  // namespace skep::sim

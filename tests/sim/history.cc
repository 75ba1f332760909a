#include "tests/sim/history.h"

#include <algorithm>
#include <utility>

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

void Apply(const Written& written, Rows& rows) {
  if (Replaces(written.op)) rows.clear();
  for (const Row& row : written.removed) rows.erase(row);
  rows.insert(written.added.begin(), written.added.end());
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

void History::CheckSnapshot(TxnId id, CommitSeq snapshot, CommitSeq at_least) {
  if (snapshot.is_none() || snapshot >= at_least) return;
  report_(
      fmt::format("transaction {} was given snapshot {} after the commit of unit {} was "
                  "acknowledged",
                  id.value(),
                  snapshot.value(),
                  at_least.value()));
}

void History::Opened(const std::string& client,
                     TxnId id,
                     CommitSeq snapshot,
                     std::function<bool()> lease_lasts,
                     CommitSeq at_least) {
  log_.Note("opened", {{"client", client}, {"txn", id.value()}, {"snapshot", snapshot.value()}});
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
  CheckSnapshot(id, snapshot, at_least);
}

void History::Wrote(TxnId txn, Written written) {
  if (log_.on()) {
    log_.Note("wrote",
              {{"txn", txn.value()},
               {"table", written.place.table.value()},
               {"partition", written.place.partition},
               {"how", std::string(WriteOpName(written.op))},
               {"added", Text(Rows(written.added.begin(), written.added.end()))},
               {"removed", Text(Rows(written.removed.begin(), written.removed.end()))}});
  }
  ++counts_.writes;
  txns_[txn].touched.insert(written.place);
  txns_[txn].writes.push_back(std::move(written));
}

void History::Discarded(TxnId txn, TableId table) {
  log_.Note("discarded", {{"txn", txn.value()}, {"table", table.value()}});
  std::erase_if(txns_[txn].writes,
                [table](const Written& written) { return written.place.table == table; });
}

void History::Drops(TxnId txn, TableId table) { txns_[txn].drops.insert(table); }

void History::Refreshed(TxnId id, CommitSeq snapshot, CommitSeq at_least) {
  log_.Note("refreshed", {{"txn", id.value()}, {"snapshot", snapshot.value()}});
  Txn* const txn = Find(id);
  if (txn == nullptr) return;
  if (txn->handed_out && !snapshot.is_none() && snapshot != txn->snapshot) {
    report_(fmt::format("the snapshot of transaction {} was moved to {} after it was used",
                        id.value(),
                        snapshot.value()));
  }
  txn->snapshot = snapshot;
  txn->partitions.clear();
  CheckSnapshot(id, snapshot, at_least);
}

void History::ToldCommitted(TxnId id, CommitSeq seq) {
  log_.Note("told committed", {{"txn", id.value()}, {"seq", seq.value()}});
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
  acknowledged_ = std::max(acknowledged_, txn->ended->seq);
  CheckEnd(id, *txn);
}

void History::ToldAborted(TxnId id) {
  log_.Note("told aborted", {{"txn", id.value()}});
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

void History::LostTo(TxnId id, TxnId winner) {
  log_.Note("lost", {{"txn", id.value()}, {"winner", winner.value()}});
  ++counts_.conflicts;
  const Txn* const txn = Find(id);
  const Txn* const other = Find(winner);
  if (txn == nullptr || !txn->ended) return;
  if (other == nullptr || !other->committed() || other->ended->seq <= txn->ended->snapshot) {
    return report_(
        fmt::format("transaction {} (snapshot {}) lost to transaction {}, which "
                    "committed nothing since",
                    id.value(),
                    txn->ended->snapshot.value(),
                    winner.value()));
  }
  if (!other->drops.empty() || !model_.SharedTable(id, winner).is_none()) return;
  report_(fmt::format("transaction {} lost to transaction {}, and they wrote to no table in common",
                      id.value(),
                      winner.value()));
}

void History::AbortOnly(TxnId txn, CommitSeq since) { txns_[txn].abort_only = since; }

void History::Ended(TxnId id, const TxnOutcome& outcome) {
  log_.Note(
      "ended",
      {{"txn", id.value()}, {"seq", outcome.seq.value()}, {"committed", outcome.committed()}});
  Txn& txn = txns_[id];
  txn.ended = outcome;
  ++(txn.committed() ? counts_.committed : counts_.aborted);
  // The server counts from later than the client: it may never be the first to think it over.
  if (outcome.cause == AbortCause::kTimeout && txn.lease_lasts && txn.lease_lasts()) {
    report_(fmt::format("the lease of transaction {} was ended while its owner may rely on it",
                        id.value()));
  }
  txn.lease_lasts = nullptr;
  // Where others ended it, its owner does not know yet.
  ReleasedAll(id);
  CheckEnd(id, txn);
  if (!txn.committed()) return;
  CheckFirstCommitter(id, txn);
  CheckDrops(id, txn);
  for (const Written& written : txn.writes) {
    commits_[written.place].push_back({outcome.seq, id, &written});
  }
}

void History::CheckEnd(TxnId id, const Txn& txn) {
  if (!txn.ended) return;
  const auto wrong = [&](std::string_view what) {
    report_(fmt::format("transaction {} is {}", id.value(), what));
  };
  if (txn.told_committed && !txn.committed()) {
    wrong("aborted, and its commit was acknowledged");
  }
  if (txn.told_aborted && txn.committed()) {
    wrong("committed, and its owner was told that it is aborted");
  }
  if (txn.abort_only && txn.committed() && txn.ended->seq > *txn.abort_only) {
    wrong("committed, and a lock was taken from it before");
  }
  if (txn.told_seq && *txn.told_seq != txn.ended->seq) {
    report_(fmt::format("transaction {} was said to be committed by unit {}, it was {}",
                        id.value(),
                        txn.told_seq->value(),
                        txn.ended->seq.value()));
  }
}

void History::CheckFirstCommitter(TxnId id, const Txn& txn) {
  for (const Written& own : txn.writes) {
    const auto others = commits_.find(own.place);
    if (others == commits_.end()) continue;
    for (auto other = others->second.rbegin(); other != others->second.rend(); ++other) {
      if (other->seq <= txn.ended->snapshot) break;
      if (other->txn == id || !Clash(own.op, other->written->op)) continue;
      report_(
          fmt::format("lost update on {}: transaction {} ({}, snapshot {}) committed over "
                      "transaction {} ({}, committed by unit {})",
                      Text(own.place),
                      id.value(),
                      WriteOpName(own.op),
                      txn.ended->snapshot.value(),
                      other->txn.value(),
                      WriteOpName(other->written->op),
                      other->seq.value()));
    }
  }
}

// A drop meets every write to the table, both ways, and nothing is written to it afterwards.
void History::CheckDrops(TxnId id, const Txn& txn) {
  for (const Written& own : txn.writes) {
    const auto dropped = dropped_.find(own.place.table);
    if (dropped == dropped_.end()) continue;
    report_(fmt::format("transaction {} committed into {}, which unit {} dropped",
                        id.value(),
                        Text(own.place),
                        dropped->second.value()));
  }
  for (const TableId table : txn.drops) {
    dropped_[table] = txn.ended->seq;
    for (auto place = commits_.lower_bound({table, ""});
         place != commits_.end() && place->first.table == table;
         ++place) {
      const Commit& last = place->second.back();
      if (last.seq <= txn.ended->snapshot) continue;
      report_(
          fmt::format("transaction {} (snapshot {}) dropped {} over what transaction {} "
                      "committed by unit {}",
                      id.value(),
                      txn.ended->snapshot.value(),
                      Text(place->first),
                      last.txn.value(),
                      last.seq.value()));
    }
  }
}

// ---- write ids ----

void History::Allocated(TxnId txn, TableId table, WriteId write_id) {
  log_.Note("allocated",
            {{"txn", txn.value()}, {"table", table.value()}, {"writeId", write_id.value()}});
  if (Txn* const known = Find(txn)) known->handed_out = true;
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
  if (log_.on()) {
    log_.Note("listed",
              {{"txn", id.value()}, {"seq", list.seq.value()}, {"list", FormatWriteIdList(list)}});
  }
  Txn* const txn = Find(id);
  if (txn == nullptr) return;
  ++counts_.lists;
  txn->handed_out = true;
  if (!txn->snapshot.is_none() && list.seq != txn->snapshot) {
    report_(fmt::format("transaction {} has snapshot {} and was given a list of {}",
                        id.value(),
                        txn->snapshot.value(),
                        list.seq.value()));
  }
  txn->snapshot = list.seq;  // whoever lost the answer to a refresh learns it here
  WriteIdSnapshot expected = list;
  expected.ids = model_.WriteIdsAt(list.table_id, list.seq);
  // Where the unit that gave the snapshot also gave a write id, that is no exception to its owner.
  std::erase_if(expected.ids.open,
                [&](int64_t open) { return model_.OwnerOf(list.table_id, WriteId(open)) == id; });
  if (!(expected.ids == list.ids)) {
    report_(fmt::format("transaction {} with snapshot {} was given the list {}, it is {}",
                        id.value(),
                        list.seq.value(),
                        FormatWriteIdList(list),
                        FormatWriteIdList(expected)));
  }
  for (const int64_t own : list.own) {
    if (model_.OwnerOf(list.table_id, WriteId(own)) == id) continue;
    report_(fmt::format("write id {} of table {} is not transaction {}'s own",
                        own,
                        list.table_id.value(),
                        id.value()));
  }
}

void History::SawTxns(TxnId id, const TxnSnapshot& snapshot) {
  ++counts_.lists;
  TxnSnapshot expected = snapshot;
  expected.ids = model_.TxnsAt(snapshot.seq);
  if (!(expected.ids == snapshot.ids)) {
    report_(fmt::format("transaction {} was given the snapshot {}: {}, it is {}",
                        id.value(),
                        snapshot.seq.value(),
                        FormatTxnList(snapshot),
                        FormatTxnList(expected)));
  }
}

// What it declares itself comes on top, so a later answer may be longer by its own.
void History::SawPartitions(TxnId id, TableId table, std::set<std::string> partitions) {
  Txn* const txn = Find(id);
  if (txn == nullptr || txn->snapshot.is_none()) return;
  std::set<std::string> own;
  for (const Place& place : txn->touched) {
    if (place.table == table) own.insert(place.partition);
  }
  std::erase_if(partitions, [&](const std::string& name) { return own.contains(name); });
  const auto [it, fresh] = txn->partitions.emplace(table, partitions);
  std::set<std::string> before = it->second;
  std::erase_if(before, [&](const std::string& name) { return own.contains(name); });
  if (!fresh && before != partitions) {
    report_(fmt::format("transaction {} was shown {} partitions of table {} and then {}",
                        id.value(),
                        before.size(),
                        table.value(),
                        partitions.size()));
  }
}

// True: it wrote there, and what it wrote is in `rows` now.
bool History::OwnWrites(TxnId id, const Place& place, Rows& rows) const {
  bool any = false;
  const auto txn = txns_.find(id);
  if (txn == txns_.end()) return false;
  for (const Written& written : txn->second.writes) {
    if (written.place != place) continue;
    any = true;
    Apply(written, rows);
  }
  return any;
}

Rows History::RowsAt(const Place& place, CommitSeq seq) const {
  Rows rows;
  const auto commits = commits_.find(place);
  if (commits == commits_.end()) return rows;
  for (const Commit& commit : commits->second) {
    if (commit.seq > seq) break;
    Apply(*commit.written, rows);
  }
  return rows;
}

void History::Read(TxnId txn, CommitSeq snapshot, const Place& place, const Rows& rows) {
  if (log_.on()) {
    log_.Note("read",
              {{"txn", txn.value()},
               {"snapshot", snapshot.value()},
               {"table", place.table.value()},
               {"partition", place.partition},
               {"rows", Text(rows)}});
  }
  ++counts_.reads;
  counts_.rows_read += static_cast<int64_t>(rows.size());
  Rows expected = RowsAt(place, snapshot);
  if (OwnWrites(txn, place, expected)) {
    ++counts_.own_reads;
    // Ended by others, its own files may go at any time.
    if (!model_.IsOpen(txn)) return;
  }
  if (rows == expected) return;
  report_(fmt::format("transaction {} with snapshot {} reads in {}{}, committed by then were{}",
                      txn.value(),
                      snapshot.value(),
                      Text(place),
                      Text(rows),
                      Text(expected)));
}

void History::ReadAtTheEnd(CommitSeq seq, const Place& place, const Rows& rows) {
  const Rows expected = RowsAt(place, seq);
  if (rows == expected) return;
  report_(fmt::format(
      "in the end {} holds{}, committed were{}", Text(place), Text(rows), Text(expected)));
}

}  // namespace skep::sim

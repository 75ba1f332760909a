// What a transaction sees: its list of transactions, and of write ids per table.

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/status_macros.h"

namespace skep::state {

absl::StatusOr<TxnSnapshot> State::Snapshot(TxnId txn, Now now, Unit& unit) {
  Impl& s = *impl_;
  CommitSeq seq = s.published;
  if (!txn.is_none()) {
    SKEP_ASSIGN_OR_RETURN(const OpenTxn* open, s.Use(txn, now, unit));
    seq = open->row.snapshot_seq;
    // Other commands may still join the unit that this snapshot will show.
    if (seq > s.published) return NotPublishedYet(txn);
  }
  return TxnSnapshot{seq, *s.txns.At(seq), txn};
}

namespace {

constexpr std::string_view kFreshSnapshot = "take a fresh snapshot";

absl::Status CheckNothingGiven(const OpenTxn& txn) {
  if (!txn.row.list_given && txn.write_ids.empty()) return absl::OkStatus();
  return TxnMayNot(
      txn.row.id,
      kFreshSnapshot,
      "a write-id list or a write id was given to it, so something may have been read or "
      "written under the old one (R-3); run it again as a new transaction");
}

CommitSeq MoveSnapshot(State::Impl& s, OpenTxn& txn, Unit& unit) {
  if (txn.row.snapshot_seq == unit.seq()) return unit.seq();
  s.live.Remove(txn.row.snapshot_seq);
  s.live.Add(unit.seq());
  s.pins.Refresh(txn.row.id, unit.seq());
  txn.row.snapshot_seq = unit.seq();
  s.txns.Save(txn, unit);
  return unit.seq();
}

// `list` is what version `now` names; how it differs from version `known`, if that can be told.
ListVersion VersionOf(CommitSeq now,
                      CommitSeq known,
                      const ValidIds& list,
                      const ValidIdsCache::List& known_list) {
  ListVersion version{now, {}, {}};
  if (known.is_none()) return version;
  if (known == now) {
    version.change.emplace();
  } else if (known < now && known_list != nullptr) {
    version.change = ChangeBetween(*known_list, list);
  }
  if (version.change) version.since = known;
  return version;
}

}  // namespace

absl::StatusOr<VersionedTxns> State::SnapshotSince(TxnId txn,
                                                   CommitSeq known,
                                                   Now now,
                                                   Unit& unit) {
  SKEP_ASSIGN_OR_RETURN(TxnSnapshot list, Snapshot(txn, now, unit));
  const TxnTable& txns = impl_->txns;
  ListVersion version = VersionOf(txns.VersionAt(list.seq), known, list.ids, txns.Lately(known));
  return VersionedTxns{std::move(list), std::move(version)};
}

absl::StatusOr<CommitSeq> State::RefreshSnapshot(TxnId txn,
                                                 Now now,
                                                 Unit& unit,
                                                 CommitSeq instead_of) {
  Impl& s = *impl_;
  SKEP_ASSIGN_OR_RETURN(OpenTxn * open, s.Use(txn, now, unit));
  // A request that arrives twice, the second time after its answer was used.
  if (!instead_of.is_none() && open->row.snapshot_seq != instead_of) return open->row.snapshot_seq;
  SKEP_RETURN_IF_ERROR(CheckNothingGiven(*open));
  bool locked = false;
  for (LockId lock : s.lock_table.LocksOf(LockOwner::OfTxn(txn))) {
    const LockRows::Request& request = *s.lock_rows.Find(lock);
    for (const auto& c : request.components) {
      locked |= request.state() == LockState::kAcquired && c.kind >= LockKind::kExclWrite;
    }
  }
  if (!locked) {
    return TxnMayNot(
        txn, kFreshSnapshot, "it holds no EXCL_WRITE or EXCLUSIVE lock; acquire one first");
  }
  return MoveSnapshot(s, *open, unit);
}

absl::StatusOr<CommitSeq> State::SnapshotAtGrant(TxnId txn, Now now, Unit& unit) {
  Impl& s = *impl_;
  SKEP_ASSIGN_OR_RETURN(OpenTxn * open, s.Use(txn, now, unit));
  SKEP_RETURN_IF_ERROR(CheckNothingGiven(*open));
  return MoveSnapshot(s, *open, unit);
}

std::pair<WriteIdSnapshot, ListVersion> State::Impl::ListOf(const TableRow& table,
                                                            const OpenTxn& txn,
                                                            CommitSeq known) const {
  const CommitSeq seq = txn.row.snapshot_seq;
  WriteIdSnapshot list;
  list.table = table.name;
  list.table_id = table.id;
  list.seq = seq;
  list.ids = *write_ids.At(table.id, seq, table.next_write_id);
  ListVersion version = VersionOf(write_ids.VersionAt(table.id, seq),
                                  known,
                                  list.ids,
                                  known.is_none() ? nullptr : write_ids.Lately(table.id, known));
  const WriteId own = txn.write_ids.Of(table.id);
  if (!own.is_none()) {
    // Opened and allocated in one unit, an own id is part of its own snapshot; it never is an
    // exception. Such a list is nobody else's.
    list.own.push_back(own.value());
    if (std::erase(list.ids.open, own.value()) > 0) version = {};
  }
  return {std::move(list), std::move(version)};
}

absl::StatusOr<ValidWriteIds> State::ValidWriteIdsOf(const GetValidWriteIds& command,
                                                     Now now,
                                                     Unit& unit) {
  Impl& s = *impl_;
  SKEP_ASSIGN_OR_RETURN(OpenTxn * txn, s.Use(command.txn, now, unit));
  if (txn->row.snapshot_seq > s.published) return NotPublishedYet(command.txn);
  std::vector<const TableRow*> tables;
  for (const TableName& name : command.tables) {
    SKEP_ASSIGN_OR_RETURN(const TableRow* table, s.ResolveAsOf(txn->row, name));
    if (txn->row.snapshot_seq < table->cleaned_seq) {
      return SnapshotTooOld(
          command.txn,
          name,
          fmt::format(
              "files that it needs were cleaned away at sequence {}, before the transaction "
              "named the table (name all tables in the first call, or open it with all "
              "tables pinned)",
              table->cleaned_seq.value()));
    }
    tables.push_back(table);
  }
  ValidWriteIds answer;
  for (const TableRow* table : tables) {
    s.pins.Name(command.txn, txn->row.snapshot_seq, table->id);
    const auto known = command.known.find(table->id);
    auto [list, version] =
        s.ListOf(*table, *txn, known == command.known.end() ? CommitSeq() : known->second);
    answer.tables.push_back(std::move(list));
    answer.versions.push_back(std::move(version));
  }
  txn->row.list_given |= !tables.empty();
  if (command.names_all) s.pins.NamedAll(command.txn);
  return answer;
}

}  // namespace skep::state

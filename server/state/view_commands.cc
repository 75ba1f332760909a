// Materialised views: who rebuilds one, and what became of its sources since it was built.

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/status_macros.h"
#include "storage/model/snapshot_change.h"

namespace skep::state {

ViewLock State::Impl::ViewLockOf(const ViewLockRow& row) const {
  const Client& holder = *txns.Find(row.txn)->row.client;
  return {row.view, row.txn, holder.user, holder.host, holder.agent, row.acquire_time};
}

absl::StatusOr<ViewLockAnswer> State::LockView(const LockViewRebuild& command,
                                               Now now,
                                               Unit& unit) {
  Impl& s = *impl_;
  SKEP_ASSIGN_OR_RETURN(const OpenTxn* txn, s.Use(command.txn, now, unit));
  if (txn->row.type != TxnType::kMaterializedViewRebuild) {
    return TxnMayNot(
        command.txn,
        "rebuild " + command.view.ToString(),
        fmt::format("it is {}; open one of type MATERIALIZED_VIEW_REBUILD, which keeps the view's "
                    "lock by its heartbeats and releases it at its end",
                    TxnTypeName(txn->row.type)));
  }
  const ViewLockRow* held = s.view_locks.Find(command.view);
  if (held != nullptr && s.txn_leases.IsOver(held->txn, now.mono)) {
    s.EndExpired(held->txn, now, unit);
    held = nullptr;
  }
  if (held == nullptr) {
    s.view_locks.Add({command.view, command.txn, now.wall}, unit);
    held = s.view_locks.Find(command.view);
  }
  const LockState state = held->txn == command.txn ? LockState::kAcquired : LockState::kNotAcquired;
  return ViewLockAnswer{state, s.ViewLockOf(*held)};
}

std::vector<ViewLock> State::ViewLocks(const ListLocks& command) const {
  std::vector<ViewLock> found;
  if (command.waiting_only) return found;
  const auto& rows = impl_->view_locks.rows();
  for (auto it = rows.begin(); it != rows.end() && std::ssize(found) < command.limit; ++it) {
    const ViewLockRow& row = it->second;
    if (!command.txn.is_none() && row.txn != command.txn) continue;
    const auto& resource = command.resource;
    if (resource && (resource->database != row.view.database || !resource->partition.empty() ||
                     (!resource->table.empty() && resource->table != row.view.table))) {
      continue;
    }
    found.push_back(impl_->ViewLockOf(row));
  }
  return found;
}

namespace {

TableChange Unknown(const WriteIdSnapshot& list, std::string reason) {
  TableChange change;
  change.table = list.table_id;
  change.reason = std::move(reason);
  return change;
}

}  // namespace

// `list` against the list of sequence `seq`.
TableChange State::Impl::ChangeSince(const WriteIdSnapshot& list, CommitSeq seq) const {
  const TableRow* table = registry.Find(list.table_id);
  if (table == nullptr) {
    return Unknown(list,
                   fmt::format("there is no table with id {} (any more); one that has its name is "
                               "another",
                               list.table_id.value()));
  }
  if (table->created_seq > seq) {
    return Unknown(list,
                   fmt::format("{} was created at sequence {}, after {}, which the question is of",
                               table->name.ToString(),
                               table->created_seq.value(),
                               seq.value()));
  }
  if (list.seq > seq) {
    return Unknown(
        list,
        fmt::format("the list is of sequence {}, newer than {}, which the question is of",
                    list.seq.value(),
                    seq.value()));
  }
  if (list.seq < table->created_seq) {
    return Unknown(list,
                   fmt::format("the list is of sequence {}, before {} was created at {}",
                               list.seq.value(),
                               table->name.ToString(),
                               table->created_seq.value()));
  }
  const auto current = write_ids.At(table->id, seq, table->next_write_id);
  if (list.ids.high > current->high) {
    return Unknown(
        list,
        fmt::format("the list reaches to write id {}, and {} was the highest at sequence "
                    "{}: it is of another server or of a copy of this one",
                    list.ids.high,
                    current->high,
                    seq.value()));
  }
  TableChange change;
  change.table = table->id;
  const TableChangeRow newest = row_changes.Of(table->id);
  change.compacted = newest.compacted_seq > list.seq;
  change.now_visible = NewlyVisible(list, *current);
  if (change.now_visible.empty()) {
    change.kind = TableChange::Kind::kUnchanged;
  } else if (newest.rows_changed_seq <= list.seq) {
    change.kind = TableChange::Kind::kInsertsOnly;
  } else {
    change.kind = TableChange::Kind::kRowsChanged;
    // Only the newest one is on record, so one before it may have been within the time asked of.
    if (newest.rows_changed_seq > seq) {
      change.reason = fmt::format(
          "rows were changed at sequence {}, after {}; whether some were "
          "changed before is not on record",
          newest.rows_changed_seq.value(),
          seq.value());
    }
  }
  return change;
}

absl::StatusOr<TableChanges> State::TableChangesSince(const GetTableChanges& command,
                                                      Now now,
                                                      Unit& unit) {
  Impl& s = *impl_;
  TableChanges answer{s.published, {}};
  if (!command.txn.is_none()) {
    SKEP_ASSIGN_OR_RETURN(const OpenTxn* txn, s.Use(command.txn, now, unit));
    if (txn->row.snapshot_seq > s.published) return NotPublishedYet(command.txn);
    answer.seq = txn->row.snapshot_seq;
  }
  for (const WriteIdSnapshot& list : command.built_from) {
    answer.tables.push_back(s.ChangeSince(list, answer.seq));
  }
  return answer;
}

}  // namespace skep::state

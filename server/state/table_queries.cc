// Questions about tables, as of a transaction's snapshot where one is given.

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::state {

namespace {

struct AsOf {
  const TableRow* table = nullptr;
  const OpenTxn* txn = nullptr;  // none: now
};

absl::StatusOr<AsOf> Resolve(const State::Impl& s, const TableName& name, TxnId txn, Now now) {
  if (txn.is_none()) {
    const TableRow* table = s.registry.Find(name);
    if (table == nullptr) return NoSuchTable(name);
    return AsOf{table, nullptr};
  }
  const OpenTxn* open = s.txns.Find(txn);
  if (open == nullptr) return s.EndedError(txn);
  if (s.txn_leases.IsOver(txn, now.mono)) {  // R-15; the reaper ends it
    return TxnAborted(txn, AbortCause::kTimeout);
  }
  SKEP_ASSIGN_OR_RETURN(const TableRow* table, s.ResolveAsOf(open->row, name));
  return AsOf{table, open};
}

}  // namespace

TableInfo State::Impl::InfoOf(const TableRow& row) const {
  return {row, std::ssize(registry.Partitions(row.id)), write_ids.open_count(row.id)};
}

absl::StatusOr<TableInfo> State::GetTable(const TableName& name) const {
  const TableRow* table = impl_->registry.Find(name);
  if (table == nullptr) return NoSuchTable(name);
  return impl_->InfoOf(*table);
}

absl::StatusOr<TableInfo> State::GetTable(const TableName& name, TxnId txn, Now now) const {
  SKEP_ASSIGN_OR_RETURN(const AsOf as_of, Resolve(*impl_, name, txn, now));
  return impl_->InfoOf(*as_of.table);
}

absl::StatusOr<TableView> State::View(TableId table) const {
  const Impl& s = *impl_;
  const TableRow* row = s.registry.Find(table);
  if (row == nullptr || row->created_seq > s.published) {
    return MakeError(ErrorReason::kNoSuchTable,
                     "there is no table with id " + table.ToString() + "; it may have been dropped",
                     {{"table", table.ToString()}});
  }
  TableView view;
  view.table = *row;
  view.write_ids.table = row->name;
  view.write_ids.table_id = row->id;
  view.write_ids.seq = s.published;
  view.write_ids.ids = *s.write_ids.At(row->id, s.published, row->next_write_id);
  view.txns = TxnSnapshot{s.published, *s.txns.At(s.published), TxnId()};
  return view;
}

std::vector<TableInfo> State::Tables(const std::string& database,
                                     const std::string& after,
                                     int64_t limit) const {
  const Impl& s = *impl_;
  const auto& names = s.registry.names();
  auto it = database.empty() ? names.begin() : names.lower_bound(TableName{database, ""});
  if (const auto last = ParseTableName(after); last.ok()) {
    if (it != names.end() && it->first <= *last) it = names.upper_bound(*last);
  }
  std::vector<TableInfo> found;
  for (; it != names.end() && std::ssize(found) < limit; ++it) {
    if (!database.empty() && it->first.database != database) break;
    found.push_back(s.InfoOf(*s.registry.Find(it->second)));
  }
  return found;
}

absl::StatusOr<std::vector<std::string>> State::Partitions(
    const TableName& name, TxnId txn, Now now, const std::string& after, int64_t limit) const {
  SKEP_ASSIGN_OR_RETURN(const AsOf as_of, Resolve(*impl_, name, txn, now));
  // The transaction's own partitions are there for itself before it commits.
  std::set<std::string> own;
  if (as_of.txn != nullptr) {
    for (const ComponentRow& component : as_of.txn->components.Rows(txn)) {
      if (component.table == as_of.table->id && component.partition > after)
        own.insert(component.partition);
    }
  }
  const auto& all = impl_->registry.Partitions(as_of.table->id);
  std::vector<std::string> found;
  auto it = all.upper_bound(after);
  auto mine = own.begin();
  while (std::ssize(found) < limit && (it != all.end() || mine != own.end())) {
    if (it != all.end() && as_of.txn != nullptr && it->second > as_of.txn->row.snapshot_seq &&
        !own.contains(it->first)) {
      ++it;
      continue;
    }
    if (mine == own.end() || (it != all.end() && it->first < *mine)) {
      found.push_back((it++)->first);
    } else {
      if (it != all.end() && it->first == *mine) ++it;
      found.push_back(*mine++);
    }
  }
  return found;
}

std::vector<State::Changed> State::ChangedSince(CommitSeq since) const {
  const Impl& s = *impl_;
  std::set<ChangeLog::Resource> changed;
  if (since < s.loaded) {  // what was written before the load is not on record: everything may be
    for (const auto& [name, id] : s.registry.names()) {
      if (s.registry.Find(id)->schema.partition_columns.empty()) changed.insert({id, ""});
      for (const auto& [partition, seq] : s.registry.Partitions(id))
        changed.insert({id, partition});
    }
  }
  for (const auto& resource : s.changes.Since(since)) changed.insert(resource);
  std::vector<Changed> out;
  for (const auto& [table, partition] : changed) out.push_back({table, partition});
  return out;
}

}  // namespace skep::state

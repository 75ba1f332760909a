#include "server/state/conflicts.h"

#include <algorithm>

namespace skep::state {

std::set<Write> CompleteWriteSet(std::span<const DeclaredTable> declared,
                                 std::span<const ComponentRow> components,
                                 const std::set<TableId>& with_write_id) {
  std::set<Write> writes;
  std::set<TableId> complete;
  for (const DeclaredTable& table : declared) {
    complete.insert(table.table);
    writes.insert(table.writes.begin(), table.writes.end());
  }
  for (const ComponentRow& c : components) {
    if (c.dynamic && complete.contains(c.table)) continue;
    writes.insert({c.table, c.dynamic ? "" : c.partition, c.op});
  }
  for (TableId table : with_write_id) {
    if (!complete.contains(table)) writes.insert({table, "", WriteOp::kUpdate});
  }
  return writes;
}

std::optional<Conflict> FindConflict(const Write& own,
                                     const NewestWrites& newest,
                                     CommitSeq snapshot) {
  if (newest.overwrite.seq > snapshot) {
    return Conflict{own, WriteOp::kOverwrite, newest.overwrite.seq, newest.overwrite.txn};
  }
  if (own.op == WriteOp::kInsert) return std::nullopt;
  if (newest.update.seq > snapshot) {
    return Conflict{own, WriteOp::kUpdate, newest.update.seq, newest.update.txn};
  }
  const bool replaces = own.op == WriteOp::kOverwrite || own.op == WriteOp::kDrop;
  if (replaces && newest.insert.seq > snapshot) {
    return Conflict{own, WriteOp::kInsert, newest.insert.seq, newest.insert.txn};
  }
  return std::nullopt;
}

std::optional<Conflict> DecideCommit(const std::set<Write>& writes,
                                     const WriteMarks& marks,
                                     CommitSeq snapshot) {
  for (const Write& own : writes) {
    const auto conflict = FindConflict(own, marks.Newest(own.table, own.partition), snapshot);
    if (conflict) return conflict;
  }
  return std::nullopt;
}

}  // namespace skep::state

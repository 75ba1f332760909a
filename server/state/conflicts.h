#pragma once

// What a commit wrote and whether it may: pure functions over values.

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "server/state/write_marks.h"
#include "storage/model/rows.h"

namespace skep::state {

// A write to one resource. An empty partition is the table: all partitions of a partitioned one.
struct Write {
  TableId table;
  std::string partition;
  WriteOp op = WriteOp::kInsert;
  friend auto operator<=>(const Write&, const Write&) = default;
};

// Everything a transaction says it wrote to one table, placeholders of dynamic partitions resolved.
struct DeclaredTable {
  TableId table;
  std::vector<Write> writes;  // empty: nothing after all
};

// The write set of a commit is complete or total:
//   - of a declared table: what was declared, and what locks and AddPartitions named before, but
//   for the
//     placeholders of dynamic partitions;
//   - of any other table with a component: the components, a placeholder as the whole table;
//   - of any other table with a write id: also an update of the whole table.
std::set<Write> CompleteWriteSet(std::span<const DeclaredTable> declared,
                                 std::span<const ComponentRow> components,
                                 const std::set<TableId>& with_write_id);

struct Conflict {
  Write own;
  WriteOp theirs = WriteOp::kInsert;  // kInsert, kUpdate or kOverwrite
  CommitSeq seq;                      // of the winner's commit
  TxnId winner;
};

// First committer wins. `newest` overlaps `own`; what it holds after `snapshot` conflicts as
// follows:
//   own ↓ / theirs →   insert   update, delete   overwrite, drop
//   insert               –            –              yes
//   update, delete       –           yes             yes
//   overwrite, drop     yes          yes             yes
std::optional<Conflict> FindConflict(const Write& own,
                                     const NewestWrites& newest,
                                     CommitSeq snapshot);

// The first conflict of a write set in its order, if there is one. One look-up per write.
std::optional<Conflict> DecideCommit(const std::set<Write>& writes,
                                     const WriteMarks& marks,
                                     CommitSeq snapshot);

}  // namespace skep::state

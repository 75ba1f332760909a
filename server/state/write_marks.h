#pragma once

#include <string>
#include <unordered_map>

#include "server/state/by_age.h"
#include "server/state/state.h"
#include "storage/model/rows.h"

namespace skep::state {

// A committed write, newest of its kind. seq 0: none.
struct NewestWrite {
  CommitSeq seq;
  TxnId txn;
};
// The newest committed writes that overlap a resource.
struct NewestWrites {
  NewestWrite insert, update, overwrite;
};

// Which transaction last wrote what: all that the conflict check asks (W-10 of Hive's weaknesses:
// one look-up per resource instead of a join). A mark is kept while a live snapshot is older than
// it. Confined to the loop thread.
class WriteMarks {
 public:
  // An empty partition is the whole table.
  void Record(TableId table, const std::string& partition, WriteOp op, CommitSeq seq, TxnId txn);
  void DropTable(TableId table);  // the store does the same on EraseTable

  // Of a partition: its own writes and those of the whole table. Of the whole table: all of its
  // partitions too. O(1).
  NewestWrites Newest(TableId table, const std::string& partition) const;

  // Writes the marks that this unit changed if a snapshot older than the unit lives; forgets those
  // at or before `oldest`.
  void Seal(CommitSeq oldest, Unit& unit);

  void Load(const StoredState& stored);
  void Store(StoredState& out) const;

 private:
  struct Mark : WriteMarkRow {
    bool stored = false;
  };

  static CommitSeq NewestOf(const WriteMarkRow& row);
  static void Merge(const WriteMarkRow& row, NewestWrites& into);

  ByAge<Mark> marks_;
  std::unordered_map<TableId, NewestWrites> all_;  // of the tables that have marks
};

}  // namespace skep::state

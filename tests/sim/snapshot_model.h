#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "storage/model/ids.h"
#include "storage/model/snapshot.h"

namespace skep::sim {

// What a snapshot must show, from nothing but this: which unit opened a transaction, which one gave
// out a write id, which one ended them and how. Lists are made by going through all of it. Confined
// to one thread.
class SnapshotModel {
 public:
  void Opened(TxnId txn, CommitSeq unit) { txns_.emplace(txn.value(), Life{unit, {}, false, txn}); }
  void Ended(TxnId txn, CommitSeq unit, bool committed);
  void Allocated(TableId table, WriteId write_id, TxnId owner, CommitSeq unit);
  // It declared a write to it, or has a write id of it.
  void Touched(TxnId txn, TableId table) { touched_[txn].insert(table); }
  // Taken from its owner, who goes on.
  void Replaced(TableId table, WriteId write_id, CommitSeq unit);

  bool IsOpen(TxnId txn) const;
  ValidIds TxnsAt(CommitSeq seq) const;
  ValidIds WriteIdsAt(TableId table, CommitSeq seq) const;
  // None: never given out.
  TxnId OwnerOf(TableId table, WriteId write_id) const;
  // A table that both touched; none: there is no such table.
  TableId SharedTable(TxnId a, TxnId b) const;

 private:
  struct Life {
    CommitSeq begun;
    std::optional<CommitSeq> ended;
    bool committed = false;
    TxnId owner;
  };
  using Lives = std::map<int64_t, Life>;  // by id

  static ValidIds ListAt(const Lives& lives, CommitSeq seq);

  Lives txns_;
  std::map<TableId, Lives> write_ids_;
  std::map<TxnId, std::vector<std::pair<TableId, WriteId>>> owned_;
  std::map<TxnId, std::set<TableId>> touched_;
};

}  // namespace skep::sim

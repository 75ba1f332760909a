#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include "storage/model/ids.h"

namespace skep::state {

// Which snapshots may still read old files of which table: what the cleaner waits for. Memory only.
// Confined to the loop thread.
class Pins {
 public:
  // How far a transaction's pin goes before and after it names tables.
  enum class Reach {
    kAllUntilNamed,     // every table until it names one, then those it named
    kNamed,             // those it named: opened in a batch
    kAllUntilAllNamed,  // older than the last load: every table until one call names all it holds
                        //
    kAll,               // every table to its end: asked for at open
  };

  // In place of what the transaction had.
  void Add(TxnId txn, CommitSeq snapshot, Reach reach);
  void Name(TxnId txn, TableId table);
  // All tables of the database.
  void NameDatabase(TxnId txn, const std::string& database);
  // What the transaction named is all it holds.
  void NamedAll(TxnId txn);
  // The transaction has a newer snapshot now.
  void Refresh(TxnId txn, CommitSeq snapshot);
  void Remove(TxnId txn);

  bool PinsEveryTable(TxnId txn) const;
  // Who pins the table with a snapshot below `below`, ascending. O(log n) if nobody does.
  std::vector<TxnId> Of(TableId table, const std::string& database, CommitSeq below) const;

 private:
  using Holders = absl::btree_set<std::pair<CommitSeq, TxnId>>;
  struct Pin {
    CommitSeq snapshot;
    Reach reach = Reach::kNamed;
    absl::btree_set<TableId> tables;
    absl::btree_set<std::string> databases;
  };
  static bool IsEverywhere(const Pin& pin) { return pin.reach != Reach::kNamed; }
  void Narrow(TxnId txn, Pin& pin);
  void Unlink(TxnId txn, const Pin& pin);
  void Link(TxnId txn, const Pin& pin);

  absl::flat_hash_map<TxnId, Pin> pins_;
  Holders everywhere_;
  std::map<TableId, Holders> tables_;
  std::map<std::string, Holders> databases_;
};

}  // namespace skep::state

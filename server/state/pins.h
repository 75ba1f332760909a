#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <absl/container/btree_set.h>

#include "server/state/id_map.h"
#include "storage/model/ids.h"

namespace skep::state {

// Which snapshots may still read old files of which table: what the cleaner waits for. Memory only;
// who pins nothing takes none. Confined to the loop thread.
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
  // `snapshot`: the transaction's, as everywhere here.
  void Name(TxnId txn, CommitSeq snapshot, TableId table);
  // All tables of the database.
  void NameDatabase(TxnId txn, CommitSeq snapshot, const std::string& database);
  // What the transaction named is all it holds.
  void NamedAll(TxnId txn);
  // The transaction has a newer snapshot now.
  void Refresh(TxnId txn, CommitSeq snapshot);
  void Remove(TxnId txn);

  bool PinsEveryTable(TxnId txn) const;
  // Who pins the table with a snapshot below `below`, ascending. O(log n) if nobody does.
  std::vector<TxnId> Of(TableId table, const std::string& database, CommitSeq below) const;

 private:
  using Holder = std::pair<CommitSeq, TxnId>;
  using Holders = absl::btree_set<Holder>;
  // What a transaction named after its first table.
  struct More {
    std::vector<TableId> tables;
    std::vector<std::string> databases;
  };
  // One for most open transactions: bytes count here.
  struct Pin {
    CommitSeq snapshot;
    TableId table;               // the first that it named; none: it named none
    std::unique_ptr<More> more;  // null: there is none
    Reach reach = Reach::kNamed;

    bool is_everywhere() const { return reach != Reach::kNamed; }
    bool is_nothing() const { return !is_everywhere() && table.is_none() && more == nullptr; }
  };
  static More& MoreOf(Pin& pin);
  template <class OnTable, class OnDatabase>
  static void ForEachNamed(const Pin& pin, OnTable on_table, OnDatabase on_database);
  Pin& PinOf(TxnId txn, CommitSeq snapshot);
  void Narrow(TxnId txn, Pin& pin);
  void Unlink(TxnId txn, const Pin& pin);
  void Link(TxnId txn, const Pin& pin);

  IdMap<TxnId, Pin> pins_;  // of those that pin something
  Holders everywhere_;
  std::map<TableId, Holders> tables_;
  std::map<std::string, Holders> databases_;
};

}  // namespace skep::state

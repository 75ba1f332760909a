#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/btree_set.h>

#include "storage/model/rows.h"

namespace skep::state {

// What one open transaction writes, as far as it declared it: by table, partition and operation.
// Small where there is one, as of most; a transaction may name 100 000. Confined to one thread.
class Components {
 public:
  bool empty() const { return all_ == nullptr; }
  // False if it changes nothing: it was there, and not as a placeholder that this one replaces.
  // Without a placeholder's promise to name its partitions later, the table means all of them.
  bool Add(const ComponentRow& row);
  // Takes the placeholders of dynamic partitions of one table away, and says which they were.
  std::vector<ComponentRow> TakeDynamic(TxnId txn, TableId table);
  bool Names(TableId table) const;
  // All of them, in order, as rows of `txn`.
  std::vector<ComponentRow> Rows(TxnId txn) const;

 private:
  struct Component {
    TableId table;
    std::unique_ptr<const std::string> name;  // of the partition; null: the table
    WriteOp op : 8 = WriteOp::kInsert;
    bool dynamic = false;

    std::string_view partition() const { return name == nullptr ? std::string_view() : *name; }
  };
  struct Key {
    TableId table;
    std::string_view partition;
    WriteOp op;
  };
  struct Less {
    using is_transparent = void;
    bool operator()(const Component& a, const Component& b) const;
    bool operator()(const Component& a, const Key& b) const;
    bool operator()(const Key& a, const Component& b) const;
  };
  struct All {
    Component only;
    std::unique_ptr<absl::btree_set<Component, Less>> many;  // in its place; null: there is one
  };

  static Component Make(const ComponentRow& row);
  static ComponentRow RowOf(TxnId txn, const Component& component);
  template <class Visit>
  void ForEach(Visit visit) const;
  // Those of one table, without a look at the others.
  template <class Visit>
  void ForEachOf(TableId table, Visit visit) const;

  std::unique_ptr<All> all_;  // null: there are none
};

}  // namespace skep::state

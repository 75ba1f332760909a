#include "storage/meta/net_effects.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace skep::meta {
namespace {

// What a key names. The kinds from kAllOfLock on stand for everything that a range erase takes.
enum class Kind : uint8_t {
  kCounters,
  kTxn,
  kAbortedTxns,
  kTable,
  kDroppedTable,
  kPartition,
  kWriteId,
  kResolvedTxn,
  kResolvedWriteId,
  kAbortedWriteIds,
  kComponent,
  kWriteMark,
  kLock,
  kCompaction,
  kRequest,
  kReplica,
  kTableChange,
  kViewLock,
  kAllOfLock,
  kAllOfTxnComponents,
  kAllOfTable,
};

struct Key {
  Kind kind;
  int64_t a = 0;
  int64_t b = 0;
  int64_t c = 0;
  std::string_view text = {};  // into the effect
  std::string_view more = {};  // as `text`
  friend bool operator==(const Key&, const Key&) = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t hash = static_cast<uint64_t>(key.kind) + 1;
    for (const int64_t part : {key.a, key.b, key.c}) {
      hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15ull;
      hash ^= hash >> 32;
    }
    for (const std::string_view text : {key.text, key.more}) {
      if (!text.empty())
        hash = (hash ^ std::hash<std::string_view>()(text)) * 0x9e3779b97f4a7c15ull;
    }
    return hash;
  }
};

// Walks a unit from its end and answers for each effect whether it still counts.
class BackwardWalk {
 public:
  BackwardWalk(const StoredIds& stored, size_t effects) : stored_(stored) {
    later_.reserve(effects);
  }

  bool operator()(const Put<CounterRow>&) { return First({Kind::kCounters}); }
  bool operator()(const Put<TxnRow>& e) { return First({Kind::kTxn, e.row.id.value()}); }
  bool operator()(const Put<ResolvedTxnRow>& e) {
    return e.row.end_seq > forgotten_ &&
           First({Kind::kResolvedTxn, e.row.end_seq.value(), e.row.id.value()});
  }
  bool operator()(const Put<AbortedTxnsRow>& e) {
    return First({Kind::kAbortedTxns, e.row.first.value()});
  }
  bool operator()(const Put<TableRow>& e) {
    return !Dropped(e.row->id) && First({Kind::kTable, e.row->id.value()});
  }
  bool operator()(const Put<DroppedTableRow>& e) {
    return First({Kind::kDroppedTable, e.row.id.value()});
  }
  bool operator()(const Put<PartitionRow>& e) {
    return !Dropped(e.row.table) &&
           First({Kind::kPartition, e.row.table.value(), 0, 0, e.row.name});
  }
  bool operator()(const Put<WriteIdRow>& e) {
    return !Dropped(e.row.table) &&
           First({Kind::kWriteId, e.row.table.value(), e.row.write_id.value()});
  }
  bool operator()(const Put<ResolvedWriteIdRow>& e) {
    return e.row.end_seq > forgotten_ && !Dropped(e.row.table) &&
           First({Kind::kResolvedWriteId,
                  e.row.end_seq.value(),
                  e.row.table.value(),
                  e.row.write_id.value()});
  }
  bool operator()(const Put<AbortedWriteIdsRow>& e) {
    return !Dropped(e.row.table) &&
           First({Kind::kAbortedWriteIds, e.row.table.value(), e.row.first.value()});
  }
  bool operator()(const Put<ComponentRow>& e) {
    return !Seen({Kind::kAllOfTxnComponents, e.row.txn.value()}) && First(KeyOf(e.row));
  }
  bool operator()(const Put<WriteMarkRow>& e) {
    return !Dropped(e.row.table) &&
           First({Kind::kWriteMark, e.row.table.value(), 0, 0, e.row.partition});
  }
  bool operator()(const Put<LockRow>& e) {
    return !Seen({Kind::kAllOfLock, e.row->lock.value()}) &&
           First({Kind::kLock, e.row->lock.value(), e.row->component});
  }
  bool operator()(const Put<CompactionRow>& e) {
    return First({Kind::kCompaction, e.row->id.value()});
  }
  bool operator()(const Put<RequestRow>& e) { return First({Kind::kRequest, e.row.slot}); }
  bool operator()(const Put<ReplicaRow>& e) {
    return First({Kind::kReplica, e.row.source.value(), 0, 0, e.row.policy});
  }

  bool operator()(const Put<TableChangeRow>& e) {
    return !Dropped(e.row.table) && First({Kind::kTableChange, e.row.table.value()});
  }
  bool operator()(const Put<ViewLockRow>& e) { return First(KeyOf(e.row.view)); }

  bool operator()(const EraseTxn& e) {
    return First({Kind::kTxn, e.id.value()}) && e.id <= stored_.txn;
  }
  bool operator()(const EraseReplica& e) {
    return First({Kind::kReplica, e.source.value(), 0, 0, e.policy});
  }
  bool operator()(const EraseViewLock& e) { return First(KeyOf(e.view)); }
  bool operator()(const EraseAbortedTxns& e) {
    return First({Kind::kAbortedTxns, e.first.value()});
  }
  bool operator()(const EraseTable& e) {
    any_table_dropped_ = true;
    return First({Kind::kAllOfTable, e.id.value()});
  }
  bool operator()(const EraseDroppedTable& e) { return First({Kind::kDroppedTable, e.id.value()}); }
  bool operator()(const ErasePartition& e) {
    return First({Kind::kPartition, e.table.value(), 0, 0, e.name});
  }
  bool operator()(const EraseWriteId& e) {
    return First({Kind::kWriteId, e.table.value(), e.write_id.value()});
  }
  bool operator()(const EraseAbortedWriteIds& e) {
    return First({Kind::kAbortedWriteIds, e.table.value(), e.first.value()});
  }
  bool operator()(const EraseComponents& e) {
    return First({Kind::kAllOfTxnComponents, e.txn.value()}) && e.txn <= stored_.component_txn;
  }
  bool operator()(const EraseComponent& e) {
    return !Seen({Kind::kAllOfTxnComponents, e.key.txn.value()}) && First(KeyOf(e.key)) &&
           e.key.txn <= stored_.component_txn;
  }
  bool operator()(const EraseWriteMark& e) {
    return First({Kind::kWriteMark, e.table.value(), 0, 0, e.partition});
  }
  bool operator()(const EraseLock& e) {
    return First({Kind::kAllOfLock, e.lock.value()}) && e.lock <= stored_.lock;
  }
  bool operator()(const EraseCompaction& e) {
    return First({Kind::kCompaction, e.id.value()}) && e.id <= stored_.compaction;
  }
  bool operator()(const ForgetResolved& e) {
    if (e.seq <= forgotten_) return false;
    forgotten_ = e.seq;
    return true;
  }

 private:
  static Key KeyOf(const ComponentRow& row) {
    return {Kind::kComponent,
            row.txn.value(),
            row.table.value(),
            static_cast<int64_t>(row.op),
            row.partition};
  }
  static Key KeyOf(const TableName& view) {
    return {Kind::kViewLock, 0, 0, 0, view.database, view.table};
  }
  // True if no later effect speaks of the key.
  bool First(const Key& key) { return later_.insert(key).second; }
  bool Seen(const Key& key) const { return later_.contains(key); }
  bool Dropped(TableId table) const {
    return any_table_dropped_ && Seen({Kind::kAllOfTable, table.value()});
  }

  const StoredIds& stored_;
  std::unordered_set<Key, KeyHash> later_;
  bool any_table_dropped_ = false;
  CommitSeq forgotten_{INT64_MIN};
};

struct Raise {
  StoredIds& stored;
  void operator()(const Put<TxnRow>& e) { stored.txn = std::max(stored.txn, e.row.id); }
  void operator()(const Put<ComponentRow>& e) {
    stored.component_txn = std::max(stored.component_txn, e.row.txn);
  }
  void operator()(const Put<LockRow>& e) { stored.lock = std::max(stored.lock, e.row->lock); }
  void operator()(const Put<CompactionRow>& e) {
    stored.compaction = std::max(stored.compaction, e.row->id);
  }
  template <class Other>
  void operator()(const Other&) {}
};

}  // namespace

std::vector<const Effect*> NetEffects(const Effects& effects, const StoredIds& stored) {
  std::vector<const Effect*> net;
  net.reserve(effects.size());
  BackwardWalk counts(stored, effects.size());
  for (auto effect = effects.rbegin(); effect != effects.rend(); ++effect) {
    if (std::visit(counts, *effect)) net.push_back(&*effect);
  }
  std::reverse(net.begin(), net.end());
  return net;
}

void RaiseStoredIds(StoredIds& stored, const std::vector<const Effect*>& net) {
  for (const Effect* effect : net) std::visit(Raise{stored}, *effect);
}

}  // namespace skep::meta

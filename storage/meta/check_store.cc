#include "storage/meta/check_store.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/fs/file_system.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

constexpr std::string_view kNextTable = "next_table_id";
// Ids are given out one by one and taken over up to 2^62: above this no counter ever came.
constexpr int64_t kMaxCounter = int64_t{3} << 61;

class Checker {
 public:
  explicit Checker(const StoredState& state) : s_(state) {}

  std::vector<std::string> Run() {
    CheckCounters();
    CheckTables();
    CheckTxns();
    CheckWriteIds();
    CheckWrites();
    CheckLocks();
    CheckCompactions();
    return std::move(findings_);
  }

 private:
  template <class... Args>
  void Found(fmt::format_string<Args...> format, Args&&... args) {
    findings_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void RoomToCount(std::string_view counter, int64_t value, int64_t least = 1) {
    if (value >= least && value <= kMaxCounter) return;
    Found("{} is {}, and no id can be given out from there", counter, value);
  }
  void Below(const std::string& what, int64_t id, std::string_view counter, int64_t next) {
    if (id >= next) Found("{} has id {}, but {} is {}", what, id, counter, next);
  }
  void Known(const std::string& what, TxnId txn) {
    Below("the transaction of " + what, txn.value(), "next_txn_id", s_.counters.next_txn.value());
  }
  void Happened(const std::string& what, CommitSeq seq) {
    if (seq > s_.counters.seq) {
      Found("{} is of sequence {}, but the last unit is {}",
            what,
            seq.value(),
            s_.counters.seq.value());
    }
  }
  void HasTable(const std::string& what, TableId table) {
    if (!s_.tables.contains(table))
      Found("{} names table {}, which is not there", what, table.value());
  }

  void CheckCounters() {
    const CounterRow& c = s_.counters;
    RoomToCount("seq", c.seq.value(), 0);
    RoomToCount("next_txn_id", c.next_txn.value());
    RoomToCount("next_lock_id", c.next_lock.value());
    RoomToCount("next_compaction_id", c.next_compaction.value());
    RoomToCount(kNextTable, c.next_table.value());
    for (const auto& [id, table] : s_.tables) {
      RoomToCount(fmt::format("the next_write_id of table {}", id.value()),
                  table.next_write_id.value());
    }
  }

  void CheckTables() {
    std::map<TableName, TableId> names;
    std::map<std::string_view, TableId> locations;
    for (const auto& [id, table] : s_.tables) {
      const std::string what = fmt::format("table {} ({})", id.value(), table.name.ToString());
      Below(what, id.value(), kNextTable, s_.counters.next_table.value());
      Happened(what, table.created_seq);
      Happened("the cleaning of " + what, table.cleaned_seq);
      if (s_.dropped_tables.contains(id)) continue;  // kept for older snapshots
      if (const auto [other, added] = names.emplace(table.name, id); !added) {
        Found("{} has the name of table {}", what, other->second.value());
      }
      if (const auto [other, added] = locations.emplace(table.location, id); !added) {
        Found("{} has the location of table {}", what, other->second.value());
      }
    }
    CheckNesting(locations);
    for (const auto& [id, dropped] : s_.dropped_tables) {
      const std::string what = fmt::format("dropped table {}", id.value());
      Below(what, id.value(), kNextTable, s_.counters.next_table.value());
      Happened(what, dropped.dropped_seq);
    }
    for (const auto& [id, change] : s_.table_changes) {
      const std::string what = fmt::format("the newest change of table {}", id.value());
      HasTable(what, id);
      Happened(what, change.rows_changed_seq);
      Happened(what, change.compacted_seq);
    }
    for (const auto& [key, partition] : s_.partitions) {
      const std::string what =
          fmt::format("partition {} of table {}", partition.name, partition.table.value());
      HasTable(what, partition.table);
      Happened(what, partition.created_seq);
    }
  }

  void CheckNesting(const std::map<std::string_view, TableId>& locations) {
    for (const auto& [location, id] : locations) {
      for (std::string dir = fs::ParentPath(location); dir.size() > 1; dir = fs::ParentPath(dir)) {
        const auto outer = locations.find(dir);
        if (outer != locations.end()) {
          Found("table {} lies inside table {}", id.value(), outer->second.value());
        }
      }
    }
  }

  void CheckTxns() {
    for (const auto& [id, txn] : s_.txns) {
      const std::string what = fmt::format("open transaction {}", id.value());
      Known(what, id);
      Happened(what, txn.opened_seq);
      Happened("the snapshot of " + what, txn.snapshot_seq);
      if (txn.snapshot_seq < txn.opened_seq) Found("{} has a snapshot older than itself", what);
    }
    for (const auto& [key, replica] : s_.replicas) {
      if (s_.txns.contains(replica.txn)) continue;
      Found("transaction {} stands for {} of {} and is not open",
            replica.txn.value(),
            replica.source.value(),
            replica.policy);
    }
    for (const auto& [view, lock] : s_.view_locks) {
      if (s_.txns.contains(lock.txn)) continue;
      Found("transaction {} rebuilds {} and is not open", lock.txn.value(), view.ToString());
    }
    TxnId last_aborted;
    for (const auto& [first, aborted] : s_.aborted_txns) {
      const std::string what =
          fmt::format("aborted transactions {} to {}", first.value(), aborted.last.value());
      Known(what, aborted.last);
      if (aborted.last < first) Found("{}: the last is below the first", what);
      if (first <= last_aborted) Found("{} overlap those before", what);
      last_aborted = std::max(last_aborted, aborted.last);
      const auto open = s_.txns.lower_bound(first);
      if (open != s_.txns.end() && open->first <= aborted.last) {
        Found("{}: transaction {} is also open", what, open->first.value());
      }
    }
    for (const auto& [key, ended] : s_.resolved_txns) {
      const std::string what = fmt::format("ended transaction {}", ended.id.value());
      Known(what, ended.id);
      Happened(what, ended.end_seq);
      if (ended.opened_seq > ended.end_seq) Found("{} ended before it was opened", what);
      if (s_.txns.contains(ended.id)) Found("{} is also open", what);
    }
  }

  void GivenOut(const std::string& what, TableId table, WriteId write_id) {
    const auto found = s_.tables.find(table);
    if (found == s_.tables.end()) {
      Found("{} is of table {}, which is not there", what, table.value());
    } else {
      Below(
          what, write_id.value(), "the table's next_write_id", found->second.next_write_id.value());
    }
  }

  bool IsAborted(TableId table, WriteId write_id) const {
    auto after = s_.aborted_write_ids.upper_bound({table, write_id});
    if (after == s_.aborted_write_ids.begin()) return false;
    const AbortedWriteIdsRow& interval = std::prev(after)->second;
    return interval.table == table && interval.first <= write_id && write_id <= interval.last;
  }

  void CheckWriteIds() {
    std::map<std::pair<TxnId, TableId>, WriteId> of_txn;
    for (const auto& [key, row] : s_.write_ids) {
      const std::string what =
          fmt::format("open write id {} of table {}", row.write_id.value(), row.table.value());
      GivenOut(what, row.table, row.write_id);
      Happened(what, row.allocated_seq);
      if (!s_.txns.contains(row.txn)) {
        Found("{} belongs to transaction {}, which is not open", what, row.txn.value());
      }
      if (const auto [other, added] = of_txn.emplace(std::pair(row.txn, row.table), row.write_id);
          !added) {
        Found("{}: transaction {} also has write id {} there",
              what,
              row.txn.value(),
              other->second.value());
      }
      if (IsAborted(row.table, row.write_id)) Found("{} is also aborted", what);
    }
    for (const auto& [key, row] : s_.resolved_write_ids) {
      const std::string what =
          fmt::format("ended write id {} of table {}", row.write_id.value(), row.table.value());
      GivenOut(what, row.table, row.write_id);
      Happened(what, row.end_seq);
      if (row.allocated_seq > row.end_seq) Found("{} ended before it was given out", what);
      if (s_.write_ids.contains({row.table, row.write_id})) Found("{} is also open", what);
      if (row.committed && IsAborted(row.table, row.write_id)) {
        Found("{} is committed and aborted", what);
      }
    }
    std::pair<TableId, WriteId> last;
    for (const auto& [key, row] : s_.aborted_write_ids) {
      const std::string what = fmt::format("aborted write ids {} to {} of table {}",
                                           row.first.value(),
                                           row.last.value(),
                                           row.table.value());
      GivenOut(what, row.table, row.last);
      if (row.last < row.first) Found("{}: the last is below the first", what);
      if (key <= last) Found("{} overlap those before", what);
      last = {row.table, row.last};
    }
  }

  void CheckWrites() {
    for (const auto& [key, row] : s_.components) {
      const std::string what = fmt::format("a write of transaction {}", row.txn.value());
      // The table may have been dropped meanwhile: the commit is refused then.
      Below("the table of " + what, row.table.value(), kNextTable, s_.counters.next_table.value());
      if (!s_.txns.contains(row.txn)) Found("{}, which is not open", what);
    }
    for (const auto& [key, row] : s_.write_marks) {
      const std::string what =
          fmt::format("the latest writes of table {}/{}", row.table.value(), row.partition);
      HasTable(what, row.table);
      for (const CommitSeq seq : {row.insert_seq, row.update_seq, row.overwrite_seq}) {
        Happened(what, seq);
      }
      for (const TxnId txn : {row.insert_txn, row.update_txn, row.overwrite_txn}) Known(what, txn);
    }
  }

  void CheckLocks() {
    std::map<std::string, std::vector<const LockRow*>> granted;  // by database
    for (const auto& [key, lock] : s_.locks) {
      const std::string what = fmt::format(
          "lock {}.{} on {}", lock.lock.value(), lock.component, lock.resource.ToString());
      Below(what, lock.lock.value(), "next_lock_id", s_.counters.next_lock.value());
      if (lock.component < 1) Found("{}: components count from 1", what);
      if (!lock.txn.is_none() && !s_.txns.contains(lock.txn)) {
        Found("{} belongs to transaction {}, which is not open", what, lock.txn.value());
      }
      Below("the table of " + what, lock.table.value(), kNextTable, s_.counters.next_table.value());
      if (lock.state == LockState::kAcquired) {
        granted[lock.resource.database].push_back(&lock);
      } else if (lock.state != LockState::kWaiting) {
        Found("{} is in state {}", what, LockStateName(lock.state));
      }
    }
    for (auto& [database, locks] : granted) CheckGranted(locks);
  }

  static bool SameOwner(const LockRow& a, const LockRow& b) {
    return a.txn.is_none() ? a.lock == b.lock : a.txn == b.txn;
  }

  // SHARED_READ on a database and EXCLUSIVE below it stand side by side (LCM-4).
  static bool MayBothStand(const LockRow& a, const LockRow& b) {
    const auto exempt = [](const LockRow& database, const LockRow& below) {
      return database.resource.table.empty() && !below.resource.table.empty() &&
             database.kind == LockKind::kSharedRead && below.kind == LockKind::kExclusive;
    };
    return SameOwner(a, b) || !ResourcesOverlap(a.resource, b.resource) ||
           !LocksConflict(a.kind, b.kind) || exempt(a, b) || exempt(b, a);
  }

  // Of each kind one lock, and one of another owner: who conflicts with any lock of the kind
  // conflicts with one of the two. So the look stays linear, however many readers there are.
  struct Holders {
    const LockRow* first = nullptr;
    const LockRow* other = nullptr;
  };
  using ByKind = std::map<LockKind, Holders>;

  static void Hold(ByKind& held, const LockRow& lock) {
    Holders& of_kind = held[lock.kind];
    if (of_kind.first == nullptr) {
      of_kind.first = &lock;
    } else if (of_kind.other == nullptr && !SameOwner(*of_kind.first, lock)) {
      of_kind.other = &lock;
    }
  }

  void Meet(const ByKind& held, const LockRow& lock) {
    for (const auto& [kind, holders] : held) {
      for (const LockRow* holder : {holders.first, holders.other}) {
        if (holder == nullptr || MayBothStand(*holder, lock)) continue;
        Found("locks {} ({} on {}) and {} ({} on {}) are both granted",
              holder->lock.value(),
              LockKindName(holder->kind),
              holder->resource.ToString(),
              lock.lock.value(),
              LockKindName(lock.kind),
              lock.resource.ToString());
      }
    }
  }

  // Locks of one database. Sorted by resource, a lock comes after those on what it lies in and
  // beside those on the same: the only ones that it overlaps and has not met yet.
  void CheckGranted(std::vector<const LockRow*>& locks) {
    std::sort(locks.begin(), locks.end(), [](const LockRow* a, const LockRow* b) {
      return std::tie(a->resource, a->lock, a->component) <
             std::tie(b->resource, b->lock, b->component);
    });
    ByKind database;
    ByKind table;
    ByKind partition;
    const LockResource* last = &locks.front()->resource;
    for (const LockRow* lock : locks) {
      const LockResource& resource = lock->resource;
      if (resource.table != last->table) table.clear();
      if (resource != *last) partition.clear();
      last = &resource;
      for (const ByKind* held : {&database, &table, &partition}) Meet(*held, *lock);
      Hold(resource.table.empty()       ? database
           : resource.partition.empty() ? table
                                        : partition,
           *lock);
    }
  }

  void CheckCompactions() {
    for (const auto& [id, row] : s_.compactions) {
      const std::string what = fmt::format("compaction {}", id.value());
      Below(what, id.value(), "next_compaction_id", s_.counters.next_compaction.value());
      Known(what, row.txn);
      Happened("the output of " + what, row.published_seq);
      if (!IsTerminal(row.state)) HasTable(what, row.table);
      if (row.state == CompactionState::kWorking && !s_.txns.contains(row.txn)) {
        Found("{} is worked on outside any transaction", what);
      }
      if (row.state == CompactionState::kWorking && row.claim < 1) {
        Found("{} is worked on, but nobody claimed it", what);
      }
      if (row.state == CompactionState::kWorking && row.worker.empty()) {
        Found("{} is worked on by nobody", what);
      }
    }
  }

  const StoredState& s_;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> CheckInvariants(const StoredState& state) { return Checker(state).Run(); }

absl::Status RequireSound(const StoredState& state) {
  constexpr size_t kTold = 5;
  const std::vector<std::string> findings = CheckInvariants(state);
  if (findings.empty()) return absl::OkStatus();
  std::string told;
  for (size_t i = 0; i < findings.size() && i < kTold; ++i) {
    told += (i == 0 ? "" : "; ") + Printable(findings[i]);
  }
  if (findings.size() > kTold) {
    told += fmt::format("; and {} more, which skepd --check-store tells", findings.size() - kTold);
  }
  return MakeError(ErrorReason::kCorruptStore,
                   fmt::format("the store contradicts itself: {}. Keep a copy of the data "
                               "directory and restore the last backup",
                               told),
                   {{"what", Printable(findings.front())}});
}

}  // namespace skep::meta

// Random histories of one table against a naive model: whatever writers, compactor and cleaner did,
// a reader with a snapshot sees exactly the rows that the committed writes of that snapshot leave.

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/acid/obsolete.h"
#include "tests/storage/acid/event_model.h"

namespace skep::acid {
namespace {

enum class State { kOpen, kCommitted, kAborted };

// What every writer did, for the model: never looked at by the code under test.
struct Write {
  int64_t write_id = 0;
  bool overwrite = false;
  std::vector<RowKey> inserted;
  std::vector<RowKey> deleted;
};

struct Reader {
  int64_t seq = 0;
  WriteIdSnapshot write_ids;
  Visibility visibility;
  std::set<RowKey> truth;
};

struct Compaction {
  int64_t txn = 0;
  int64_t highest = 0;
  Disk output;
};

struct Published {
  int64_t seq = 0;
  int64_t highest = 0;
  WriteIdSnapshot write_ids;
  Visibility visibility;
};

class History {
 public:
  explicit History(uint32_t seed) : random_(seed) {}

  void Step() {
    const int64_t dice = Below(24);
    if (dice < 3) return Insert();
    if (dice < 6) return Delete();
    if (dice < 7) return Overwrite();
    if (dice < 9) return Batch();
    if (dice < 13) return ResolveOne();
    if (dice < 15) return BeginCompaction();
    if (dice < 18) return EndCompaction();
    if (dice < 20) return Clean();
    if (dice < 21) return CleanAborted();
    if (dice < 22) return OpenReader();
    CloseReader();
  }

  // Every live reader, and one that opens now.
  void Check() {
    CheckReader(TakeSnapshot());
    for (const Reader& reader : readers_) CheckReader(reader);
  }

  int compactions() const { return compactions_; }
  int removals() const { return removals_; }

 private:
  int64_t Below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }

  int64_t NewWriteId() {
    write_states_.push_back(State::kOpen);
    return static_cast<int64_t>(write_states_.size());
  }
  int64_t NewTxn() {
    txn_states_.push_back(State::kOpen);
    return static_cast<int64_t>(txn_states_.size());
  }

  static ValidIds IdsOf(const std::vector<State>& states) {
    ValidIds ids;
    ids.high = static_cast<int64_t>(states.size());
    for (size_t i = 0; i < states.size(); ++i) {
      if (states[i] == State::kOpen) ids.open.push_back(static_cast<int64_t>(i) + 1);
      if (states[i] == State::kAborted) ids.aborted.push_back(static_cast<int64_t>(i) + 1);
    }
    return ids;
  }

  Reader TakeSnapshot() const {
    Reader reader{.seq = seq_};
    reader.write_ids.ids = IdsOf(write_states_);
    reader.visibility.txns.ids = IdsOf(txn_states_);
    int64_t newest_overwrite = 0;
    std::set<RowKey> deleted;
    for (const Write& write : writes_) {
      if (!reader.write_ids.IsValid(WriteId(write.write_id))) continue;
      if (write.overwrite) newest_overwrite = std::max(newest_overwrite, write.write_id);
      deleted.insert(write.deleted.begin(), write.deleted.end());
    }
    for (const Write& write : writes_) {
      if (!reader.write_ids.IsValid(WriteId(write.write_id))) continue;
      if (write.write_id < newest_overwrite) continue;
      for (const RowKey& key : write.inserted) {
        if (!deleted.contains(key)) reader.truth.insert(key);
      }
    }
    return reader;
  }

  void CheckReader(const Reader& reader) const {
    const auto selection = SelectDirectories(ListingOf(disk_), reader.write_ids, reader.visibility);
    ASSERT_TRUE(selection.ok()) << selection.status().ToString();
    ASSERT_EQ(ReadRows(disk_, *selection, reader.write_ids), reader.truth)
        << "list " << FormatWriteIdList(reader.write_ids) << ", txns "
        << FormatTxnList(reader.visibility.txns) << Dump();
  }

  std::string Dump() const {
    std::string text;
    for (const auto& [name, events] : disk_) text += "\n  " + name;
    return text;
  }

  void Insert() {
    const int64_t id = NewWriteId();
    Write write{.write_id = id};
    const int64_t statements = 1 + Below(3);
    for (int32_t s = 0; s < statements; ++s) {
      std::vector<Event> events;
      for (int64_t row = 0; row <= Below(3); ++row) {
        events.push_back({{id, EncodeBucket(0, s), row}, id, false});
        write.inserted.push_back(events.back().key);
      }
      disk_[DeltaDirName(DirKind::kDelta, WriteId(id), WriteId(id), s)] = events;
    }
    writes_.push_back(write);
    if (Below(3) != 0) Resolve(id);
  }

  // Deletes rows of a fresh snapshot; sometimes inserts first and deletes one of its own rows.
  void Delete() {
    const Reader snapshot = TakeSnapshot();
    const int64_t id = NewWriteId();
    Write write{.write_id = id};
    int32_t statement = 0;
    std::vector<RowKey> candidates(snapshot.truth.begin(), snapshot.truth.end());
    if (Below(2) == 0) {
      const RowKey own{id, EncodeBucket(0, statement), 0};
      disk_[DeltaDirName(DirKind::kDelta, WriteId(id), WriteId(id), statement)] = {
          {own, id, false}};
      write.inserted.push_back(own);
      candidates.push_back(own);
      ++statement;
    }
    std::vector<Event> events;
    for (const RowKey& key : candidates) {
      if (Below(3) != 0) continue;
      events.push_back({key, id, true});
      write.deleted.push_back(key);
    }
    if (!events.empty()) {
      disk_[DeltaDirName(DirKind::kDeleteDelta, WriteId(id), WriteId(id), statement)] = events;
    }
    writes_.push_back(write);
    if (Below(3) != 0) Resolve(id);
  }

  // W-8: nothing else is open while it runs, so it is resolved at once.
  void Overwrite() {
    if (!IdsOf(write_states_).open.empty()) return;
    const int64_t id = NewWriteId();
    Write write{.write_id = id, .overwrite = true};
    std::vector<Event>& events = disk_[BaseDirName(WriteId(id))];
    for (int64_t row = 0; row < Below(3); ++row) {
      events.push_back({{id, EncodeBucket(0, 0), row}, id, false});
      write.inserted.push_back(events.back().key);
    }
    writes_.push_back(write);
    CheckReader(TakeSnapshot());  // while it is open
    Resolve(id);
  }

  void Batch() {  // T-1
    const int64_t first = NewWriteId();
    int64_t last = first;
    for (int64_t i = 0; i < Below(4); ++i) last = NewWriteId();
    std::vector<Event>& events =
        disk_[DeltaDirName(DirKind::kDelta, WriteId(first), WriteId(last), std::nullopt)];
    for (int64_t id = first; id <= last; ++id) {
      Write write{.write_id = id};
      for (int64_t row = 0; row < Below(3); ++row) {
        events.push_back({{id, EncodeBucket(0, 0), row}, id, false});
        write.inserted.push_back(events.back().key);
      }
      writes_.push_back(write);
    }
  }

  void Resolve(int64_t write_id) {
    ++seq_;
    write_states_[write_id - 1] = Below(4) == 0 ? State::kAborted : State::kCommitted;
  }

  void ResolveOne() {
    const std::vector<int64_t> open = IdsOf(write_states_).open;
    if (open.empty()) return;
    Resolve(Below(2) == 0 ? open.front() : open[Below(static_cast<int64_t>(open.size()))]);
  }

  void BeginCompaction() {
    if (running_) return;
    const int64_t txn = NewTxn();
    const Reader now = TakeSnapshot();
    const WriteIdSnapshot list = now.write_ids.ForCompactor();
    const auto selection = SelectDirectories(ListingOf(disk_), list, now.visibility);
    ASSERT_TRUE(selection.ok()) << selection.status().ToString();
    running_ = Below(2) == 0 ? Major(txn, list, *selection) : Minor(txn, list, *selection);
    if (!running_) {
      txn_states_[txn - 1] = State::kAborted;
      return;
    }
    disk_.insert(running_->output.begin(), running_->output.end());
  }

  // OUT-8; the name by Hive's h or by Skep's (OUT-15).
  std::optional<Compaction> Major(int64_t txn,
                                  const WriteIdSnapshot& list,
                                  const Selection& selection) {
    int64_t highest = list.ids.high;
    if (Below(2) == 0) {
      for (const auto& [name, events] : disk_) {
        const AcidDirName dir = **ParseDirName(name);
        if (dir.kind != DirKind::kBase && dir.min_write_id <= list.ids.high &&
            dir.max_write_id > list.ids.high) {
          highest = std::min(highest, dir.min_write_id - 1);
        }
      }
      const int64_t base = selection.base ? selection.base->name.max_write_id : 0;
      if (highest < base) highest = list.ids.high;
    }
    if (selection.deltas.empty() || highest == 0) return std::nullopt;
    Compaction compaction{.txn = txn, .highest = highest};
    std::vector<Event>& events = compaction.output[BaseDirName(WriteId(highest), TxnId(txn))];
    for (const RowKey& key : ReadRows(disk_, selection, list)) {
      events.push_back({key, key.write_id, false});
    }
    return compaction;
  }

  // OUT-1, OUT-2, OUT-4, OUT-9.
  std::optional<Compaction> Minor(int64_t txn,
                                  const WriteIdSnapshot& list,
                                  const Selection& selection) {
    if (selection.deltas.size() < 2) return std::nullopt;
    int64_t min = INT64_MAX;
    int64_t max = 0;
    std::set<Event> inserts;
    std::set<Event> deletes;
    for (const AcidDir& delta : selection.deltas) {
      min = std::min(min, delta.name.min_write_id);
      max = std::max(max, delta.name.max_write_id);
      for (const Event& event : disk_.at(delta.name.name)) {
        if (list.IsValid(WriteId(event.current_write_id))) {
          (event.is_delete ? deletes : inserts).insert(event);
        }
      }
    }
    Compaction compaction{.txn = txn, .highest = max};
    if (!inserts.empty()) {
      compaction.output[DeltaDirName(DirKind::kDelta, WriteId(min), WriteId(max), {}, TxnId(txn))]
          .assign(inserts.begin(), inserts.end());
    }
    if (!deletes.empty()) {
      compaction
          .output[DeltaDirName(DirKind::kDeleteDelta, WriteId(min), WriteId(max), {}, TxnId(txn))]
          .assign(deletes.begin(), deletes.end());
    }
    return compaction;
  }

  void EndCompaction() {
    if (!running_) return;
    ++seq_;
    const bool commit = Below(4) != 0;
    txn_states_[running_->txn - 1] = commit ? State::kCommitted : State::kAborted;
    if (commit) {
      ++compactions_;
      const Reader now = TakeSnapshot();
      published_.push_back({.seq = seq_,
                            .highest = running_->highest,
                            .write_ids = now.write_ids,
                            .visibility = now.visibility});
    }
    running_.reset();
  }

  void Remove(const std::vector<Removal>& removals) {
    for (const Removal& removal : removals) {
      ASSERT_TRUE(disk_.contains(removal.name));
      // A crash may come after any of them.
      if (Below(8) == 0) return;
      disk_.erase(removal.name);
      ++removals_;
    }
  }

  // only when no older snapshot lives, with the list of the compaction's own sequence.
  void Clean() {
    if (published_.empty()) return;
    const Published& entry = published_[Below(static_cast<int64_t>(published_.size()))];
    for (const Reader& reader : readers_) {
      if (reader.seq < entry.seq) return;
    }
    const std::vector<Removal> removals =
        SelectObsolete(ListingOf(disk_), entry.write_ids, entry.visibility, WriteId(entry.highest));
    for (const Removal& removal : removals) {
      EXPECT_LE((*ParseDirName(removal.name))->max_write_id, entry.highest);
    }
    // A running compaction reads its inputs as a reader does.
    if (!running_) Remove(removals);
  }

  void CleanAborted() {
    const Reader now = TakeSnapshot();
    Remove(SelectAborted(ListingOf(disk_), now.write_ids, now.visibility).removals);
  }

  void OpenReader() {
    if (readers_.size() < 4) readers_.push_back(TakeSnapshot());
  }
  void CloseReader() {
    if (readers_.empty()) return;
    readers_.erase(readers_.begin() + Below(static_cast<int64_t>(readers_.size())));
  }

  std::mt19937 random_;
  int64_t seq_ = 0;
  std::vector<State> write_states_;  // by write id - 1
  std::vector<State> txn_states_;    // compactor transactions, by id - 1
  std::vector<Write> writes_;
  Disk disk_;
  std::vector<Reader> readers_;
  std::optional<Compaction> running_;
  std::vector<Published> published_;
  int compactions_ = 0;
  int removals_ = 0;
};

TEST(History, KeepsEverySnapshotsRows) {
  int compactions = 0;
  int removals = 0;
  for (uint32_t seed = 1; seed <= 250; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    History history(seed);
    for (int step = 0; step < 80 && !::testing::Test::HasFailure(); ++step) {
      history.Step();
      history.Check();
    }
    if (::testing::Test::HasFailure()) return;
    compactions += history.compactions();
    removals += history.removals();
  }
  // The histories must have had something to say.
  EXPECT_GT(compactions, 300);
  EXPECT_GT(removals, 600);
}

}  // namespace
}  // namespace skep::acid

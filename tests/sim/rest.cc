// What must be true once everybody has gone.

#include <fmt/format.h>

#include "storage/meta/open_store.h"
#include "tests/sim/independent_reader.h"
#include "tests/sim/world.h"

namespace skep::sim {

void World::CheckRest() {
  disk_.Heal();
  if (daemon_.up()) CheckQuiet();
  if (!failure_.empty()) return;
  CheckRows();
  CheckForeignNames();
  if (!daemon_.up()) return;
  daemon_.StopInOrder();
  if (!failure_.empty()) return;
  if (!disk_.on()) disk_.Start(SimDisk::Loss::kPower);
  CheckFiles();
  if (!daemon_.Start()) Fail("the daemon does not start after an orderly end");
}

// Nobody asks for anything any more and nothing goes wrong: whatever lived by a lease ends, and
// what was kept for it goes.
void World::CheckQuiet() {
  const auto pass = [this](Nanos time) {
    const MonoTime end = clock_.MonoNow() + time;
    while (failure_.empty() && clock_.MonoNow() < end && scheduler_.RunOne()) {
    }
  };
  pass(std::chrono::minutes(10));
  // What is kept for live snapshots goes with the next unit.
  for (int unit = 0; unit < 2 && daemon_.up(); ++unit) {
    daemon_.port().Run(
        [](state::State& state, state::Now now, state::Unit& effects) {
          state::OpenTxns open;
          open.user = "rest";
          const auto opened = state.Open(open, now, effects);
          if (opened.ok()) {
            state.AbortOne(opened->first, AbortCause::kUser, now, effects).IgnoreError();
          }
        },
        [](const absl::Status&) {});
    pass(std::chrono::seconds(5));
  }
  if (!failure_.empty() || !daemon_.up()) return;
  const StoredState& state = truth_.state();
  const auto none = [this](const auto& rows, std::string_view what) {
    if (!rows.empty()) Fail(fmt::format("{} {} are left of nobody", rows.size(), what));
  };
  none(state.txns, "open transactions");
  none(state.locks, "locks");
  none(state.write_ids, "open write ids");
  none(state.components, "components");
  none(state.resolved_txns, "resolved transactions");
  none(state.resolved_write_ids, "resolved write ids");
  none(state.write_marks, "write marks");
}

// Every table, read by somebody who shares nothing with the product.
void World::CheckRows() {
  const CommitSeq now = truth_.state().counters.seq;
  const ValidIds txns = history_.model().TxnsAt(now);
  for (const auto& [id, table] : truth_.state().tables) {
    const ValidIds write_ids = history_.model().WriteIdsAt(id, now);
    const Sight sight{[&](int64_t write_id) { return write_ids.IsValid(write_id); },
                      [&](int64_t txn) { return txns.IsValid(txn); }};
    std::vector<std::string> partitions = {""};
    if (!table.schema.partition_columns.empty()) {
      partitions.clear();
      for (int p = 0; p < kPartitions; ++p) partitions.push_back(fmt::format("p={}", p));
    }
    for (const std::string& partition : partitions) {
      const std::string dir = Warehouse::DirectoryOf(table.location, partition);
      const auto rows = ReadSlowly(warehouse_, dir, sight);
      if (!rows.ok())
        return Fail("cannot read " + dir + " at the end: " + rows.status().ToString());
      history_.ReadAtTheEnd(now, {id, partition}, *rows);
    }
  }
}

void World::PlantForeignNames(const std::string& location) {
  for (const char* name : {"_notes_of_somebody", "p=0/_notes_of_somebody"}) {
    const std::string path = fmt::format("{}/{}", location, name);
    files_.CreateDirectories(fs::ParentPath(path)).IgnoreError();
    if (fs::WriteSmallFile(files_, path, "mine").ok()) planted_.insert(path);
  }
}

void World::CheckForeignNames() {
  for (const std::string& path : planted_) {
    if (files_.Find(path) == nullptr) Fail(path + " was removed, and it is nobody's here");
  }
}

// The store's files by their own checks: SQLite's and ours.
void World::CheckFiles() {
  const auto findings = meta::CheckStore(daemon_.StoreOptions(), meta::SqliteStore::Depth::kDeep);
  if (!findings.ok()) return Fail("the store cannot be checked: " + findings.status().ToString());
  for (const std::string& finding : *findings) Fail("the store's files: " + finding);
}

}  // namespace skep::sim

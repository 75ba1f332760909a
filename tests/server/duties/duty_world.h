#pragma once

// A server without threads: the real state machine, real files in a temporary warehouse, time and
// tasks by hand.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/duties/cleaner.h"
#include "server/duties/initiator.h"
#include "server/duties/worker.h"
#include "storage/fs/posix_file_system.h"
#include "tests/storage/compact/acid_files.h"
#include "tests/testing/manual_clock.h"
#include "tests/testing/manual_executor.h"
#include "tests/testing/memory_command_port.h"
#include "tests/testing/temp_dir.h"

namespace skep::duties {

class DutyWorld {
 public:
  explicit DutyWorld(state::Options options = {}) : port(std::move(options), clock, executor) {}

  // ---- tables: (id int, status string), below the warehouse ----

  std::string Warehouse() const { return root / "warehouse"; }
  // partition_columns as in Hive's DDL: "order_date date"; empty: none.
  TableRow CreateTable(const std::string& name,
                       const std::string& partition_columns = "",
                       const Properties& properties = {});
  std::string Dir(const std::string& name, const std::string& partition = "") const;
  TableRow Table(const std::string& name) const;

  // ---- transactions ----

  TxnId Open(TxnType type = TxnType::kDefault);
  WriteId Allocate(TxnId txn, const std::string& name);
  absl::Status Commit(TxnId txn);
  absl::Status Commit(TxnId txn, const std::string& name, const std::string& partition, WriteOp op);
  void Abort(TxnId txn);

  // One transaction that inserts one row (id = its write id), by the write set of its commit.
  void InsertOne(const std::string& name, const std::string& partition = "");
  // acid-layout §16 in three transactions: orders 1 and 2 inserted, 1 updated, 2 deleted.
  void WorkedExample(const std::string& name, const std::string& partition);

  // What the transaction reads, as ScanRows prints it.
  std::vector<std::string> Rows(TxnId txn,
                                const std::string& name,
                                const std::string& partition = "",
                                const std::vector<Column>& columns = compact::OrderColumns());
  // Names in the table's or partition's directory.
  std::vector<std::string> Names(const std::string& name, const std::string& partition = "") const;

  // ---- compactions ----

  CompactionId Enqueue(const std::string& name, const std::string& partition, CompactionType type);
  CompactionRow Compaction(CompactionId id) const;
  std::vector<CompactionRow> Compactions() const;

  // ---- duties ----

  // Runs a duty until it rests, then stops it.
  template <class Duty>
  void RunOnce(Duty& duty) {
    duty.Start();
    executor.RunReady();
    Stop(duty);
  }
  template <class Duty>
  void Stop(Duty& duty) {
    bool stopped = false;
    duty.Stop([&stopped] { stopped = true; });
    executor.RunReady();
    EXPECT_TRUE(stopped);
  }
  void WorkOnce();   // a worker with default options
  void CleanOnce();  // a cleaner with default options

  testing::TempDir root;
  fs::PosixFileSystem fs;
  testing::ManualClock clock;
  testing::ManualExecutor executor{clock};
  testing::MemoryCommandPort port;
};

inline TableName NameOf(const std::string& table) { return {"sales", table}; }

}  // namespace skep::duties

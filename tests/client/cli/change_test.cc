// Commands that change something: what they ask, send and say.
#include <fstream>

#include "client/cli/exit_codes.h"
#include "tests/client/cli/world.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::cli {
namespace {

using client::milliseconds;
using client::Ok;
using client::Refuse;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Abort = v1::AbortTransactionsRequest;
using Enqueue = v1::EnqueueCompactionRequest;

struct AbortWorld : ToolWorld {
  AbortWorld() {
    server.On<v1::GetTransactionRequest>([this](const auto& request, auto& answer) {
      if (request.txn_id() > 100) return Refuse(ErrorReason::kNoSuchTxn);
      Fill(request.txn_id(), answer.mutable_transaction());
      return Ok();
    });
    server.On<v1::ListTransactionsRequest>([this](const auto&, auto& answer) {
      for (int64_t id = 1; id <= open; ++id) Fill(id, answer.add_transactions());
      return Ok();
    });
  }
  void Fill(int64_t id, v1::Transaction* txn) {
    txn->set_txn_id(id);
    txn->set_state(v1::TRANSACTION_STATE_OPEN);
    txn->set_user("etl");
    txn->set_host("host1");
    txn->set_agent("nightly");
    *txn->mutable_open_time() = Ago(minutes(3));
    txn->add_tables("d.t");
  }
  int64_t open = 3;
};

TEST(AbortTransactions, ShowsAsksAndAborts) {
  AbortWorld world;
  EXPECT_EQ(world.Run({"abort", "transactions", "4", "5"}, "y\n"), kDone) << world.err;
  EXPECT_EQ(world.err,
            "2 transactions to abort; what they wrote is lost:\n"
            "  4  etl@host1 (nightly), opened 3m ago, writes d.t\n"
            "  5  etl@host1 (nightly), opened 3m ago, writes d.t\n"
            "Abort 2 transactions? [y/N] ");
  EXPECT_EQ(world.out, "4  aborted\n5  aborted\n");
  Abort sent = world.server.RequestsOf<Abort>().at(0);
  EXPECT_THAT(sent.txn_ids(), ElementsAre(4, 5));
  EXPECT_TRUE(sent.by_operator());
}

TEST(AbortTransactions, DoesNothingWithoutAYes) {
  for (const char* input : {"n\n", "\n", "", "maybe\n"}) {
    AbortWorld world;
    EXPECT_EQ(world.Run({"abort", "transactions", "4"}, input), kFailed);
    EXPECT_TRUE(world.server.RequestsOf<Abort>().empty());
    EXPECT_THAT(world.err, HasSubstr("nothing was aborted"));
  }
}

TEST(AbortTransactions, NeedsSomebodyToAnswer) {
  AbortWorld world;
  EXPECT_EQ(world.Run({"abort", "transactions", "4", "--no-input"}, "y\n"), kUsage);
  world.terminal = false;
  EXPECT_EQ(world.Run({"abort", "transactions", "4"}, "y\n"), kUsage);
  EXPECT_THAT(world.err, HasSubstr("give --yes"));
  EXPECT_TRUE(world.server.RequestsOf<Abort>().empty());
  EXPECT_EQ(world.Run({"abort", "transactions", "4", "--yes"}), kDone);
  EXPECT_EQ(world.err, "");
  EXPECT_EQ(world.server.RequestsOf<Abort>().size(), 1u);
}

TEST(AbortTransactions, WantsToBeToldWhich) {
  AbortWorld world;
  EXPECT_EQ(world.Run({"abort", "transactions", "--yes"}), kUsage);
  EXPECT_THAT(world.err, HasSubstr("give ids, --user or --older-than"));
  EXPECT_TRUE(world.server.seen.empty());
}

TEST(AbortTransactions, WantsTheCountTypedWhenThereAreMany) {
  AbortWorld world;
  world.open = 11;
  EXPECT_EQ(world.Run({"abort", "transactions", "--user", "etl"}, "y\n"), kFailed);
  EXPECT_THAT(world.err, HasSubstr("Abort 11 transactions? Type 11 to go on:"));
  EXPECT_EQ(world.Run({"abort", "transactions", "--user", "etl"}, "11\n"), kDone);
  EXPECT_EQ(world.server.RequestsOf<Abort>().at(0).txn_ids_size(), 11);
  EXPECT_EQ(world.server.RequestsOf<v1::ListTransactionsRequest>().at(0).user(), "etl");
  world.open = 10;
  EXPECT_EQ(world.Run({"abort", "transactions", "--older-than", "2m"}, "y\n"), kDone);
}

TEST(AbortTransactions, OnlyShowsInADryRun) {
  AbortWorld world;
  EXPECT_EQ(world.Run({"abort", "transactions", "--user", "etl", "--dry-run"}), kDone);
  EXPECT_EQ(world.out,
            "1  etl@host1 (nightly), opened 3m ago, writes d.t\n"
            "2  etl@host1 (nightly), opened 3m ago, writes d.t\n"
            "3  etl@host1 (nightly), opened 3m ago, writes d.t\n");
  EXPECT_TRUE(world.server.RequestsOf<Abort>().empty());
  world.open = 0;
  EXPECT_EQ(world.Run({"abort", "transactions", "--user", "etl"}), kDone);
  EXPECT_EQ(world.err, "no open transactions match\n");
}

TEST(AbortTransactions, TellsWhatCouldNotBeAborted) {
  AbortWorld world;
  EXPECT_EQ(world.Run({"abort", "transactions", "500", "--yes"}), kNotFound);
  EXPECT_THAT(world.err, HasSubstr("NO_SUCH_TXN"));
  world.server.On<Abort>([](const auto&, auto& answer) {
    answer.add_aborted(4);
    answer.add_already_committed(5);
    return Ok();
  });
  EXPECT_EQ(world.Run({"abort", "transactions", "4", "5", "-y"}), kConflict);
  EXPECT_EQ(world.out, "4  aborted\n5  already committed\n");
  EXPECT_EQ(world.Run({"abort", "transactions", "4", "5", "-y", "--json"}), kConflict);
  EXPECT_EQ(Json::parse(world.out)["alreadyCommitted"][0], "5");
}

struct ReleaseWorld : ToolWorld {
  ReleaseWorld() {
    server.On<v1::ExplainLockRequest>([this](const auto& request, auto& answer) {
      v1::Lock* const lock = answer.add_locks();
      lock->set_lock_id(request.lock_id());
      lock->set_txn_id(txn);
      lock->set_kind(v1::LOCK_KIND_SHARED_READ);
      lock->set_state(v1::LOCK_STATE_ACQUIRED);
      lock->set_user("etl");
      lock->set_host("host1");
      lock->mutable_resource()->set_database("sales");
      lock->mutable_resource()->set_table("orders");
      *lock->mutable_acquire_time() = Ago(std::chrono::minutes(3));
      return Ok();
    });
    server.On<v1::ReleaseLockRequest>([](const auto&, auto&) { return Ok(); });
  }
  int64_t txn = 0;
};

TEST(ReleaseLock, ShowsAsksAndReleases) {
  ReleaseWorld world;
  EXPECT_EQ(world.Run({"release", "lock", "42"}, "y\n"), kDone);
  EXPECT_EQ(world.err,
            "lock 42:\n"
            "  SHARED_READ on sales.orders of etl@host1, acquired 3m ago\n"
            "Release it? [y/N] ");
  EXPECT_EQ(world.out, "lock 42 released\n");
  const auto sent = world.server.RequestsOf<v1::ReleaseLockRequest>().at(0);
  EXPECT_EQ(sent.lock_id(), 42);
  EXPECT_FALSE(sent.force());
}

TEST(ReleaseLock, ByForceSaysWhatBecomesOfTheTransaction) {
  ReleaseWorld world;
  world.txn = 7;
  EXPECT_EQ(world.Run({"release", "lock", "42", "--force"}, "n\n"), kFailed);
  EXPECT_THAT(world.err, HasSubstr("transaction 7"));
  EXPECT_THAT(world.err, HasSubstr("can only abort then"));
  EXPECT_TRUE(world.server.RequestsOf<v1::ReleaseLockRequest>().empty());
  EXPECT_EQ(world.Run({"release", "lock", "42", "--force", "--dry-run"}), kDone);
  EXPECT_TRUE(world.server.RequestsOf<v1::ReleaseLockRequest>().empty());
  EXPECT_EQ(world.Run({"release", "lock", "42", "--force", "--yes"}), kDone);
  EXPECT_TRUE(world.server.RequestsOf<v1::ReleaseLockRequest>().at(0).force());
}

struct CompactWorld : ToolWorld {
  CompactWorld() {
    server.On<v1::ListPartitionsRequest>([](const auto&, auto& answer) {
      answer.add_partitions("p=1");
      answer.add_partitions("p=2");
      return Ok();
    });
    server.On<Enqueue>([this](const auto&, auto& answer) {
      answer.set_compaction_id(next_id++);
      answer.set_accepted(true);
      answer.set_state(v1::COMPACTION_STATE_INITIATED);
      return Ok();
    });
    // WORKING the first times, then what the test wants.
    server.On<v1::GetCompactionRequest>([this](const auto& request, auto& answer) {
      answer.mutable_compaction()->set_compaction_id(request.compaction_id());
      answer.mutable_compaction()->set_state(++asked < 5 ? v1::COMPACTION_STATE_WORKING
                                                         : final_state);
      answer.mutable_compaction()->set_error_message(error);
      return Ok();
    });
  }
  void MakePartitioned() { table.add_partition_columns()->set_name("p"); }
  int64_t next_id = 12;
  int asked = 0;
  v1::CompactionState final_state = v1::COMPACTION_STATE_SUCCEEDED;
  std::string error;
};

TEST(Compact, EnqueuesOneForATableWithoutPartitions) {
  CompactWorld world;
  EXPECT_EQ(world.Run({"compact", "D.T", "--type", "MAJOR"}), kDone) << world.err;
  EXPECT_EQ(world.out, "compaction 12: major of d.t, queued\n");
  std::vector<Enqueue> sent = world.server.RequestsOf<Enqueue>();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].type(), v1::COMPACTION_TYPE_MAJOR);
  EXPECT_EQ(sent[0].partition(), "");
  EXPECT_EQ(sent[0].request_id().size(), 16u);
}

TEST(Compact, EnqueuesEachPartition) {
  CompactWorld world;
  world.MakePartitioned();
  EXPECT_EQ(world.Run({"compact", "d.t", "--type", "minor"}), kDone);
  EXPECT_EQ(world.out,
            "compaction 12: minor of d.t/p=1, queued\n"
            "compaction 13: minor of d.t/p=2, queued\n");
  EXPECT_EQ(world.Run({"compact", "d.t/P=2", "--type", "minor", "-o", "name"}), kDone);
  EXPECT_EQ(world.out, "14\n");
  EXPECT_EQ(world.server.RequestsOf<Enqueue>().back().partition(), "p=2");
  EXPECT_EQ(world.server.RequestsOf<Enqueue>().back().initiator(), "desk")
      << "the server adds that it was asked for by hand";
}

TEST(Compact, IsNoErrorWhereOneIsQueuedAlready) {
  CompactWorld world;
  world.server.On<Enqueue>([](const auto&, auto& answer) {
    answer.set_compaction_id(11);
    answer.set_state(v1::COMPACTION_STATE_READY_FOR_CLEANING);
    return Ok();
  });
  EXPECT_EQ(world.Run({"compact", "d.t", "--type", "major"}), kDone);
  EXPECT_EQ(world.out,
            "compaction 11 of d.t is ready for cleaning already, and nothing was written since\n");
}

TEST(Compact, WaitsForTheEnd) {
  CompactWorld world;
  world.MakePartitioned();
  EXPECT_EQ(world.Run({"compact", "d.t", "--type", "major", "--wait"}), kDone);
  EXPECT_THAT(world.err, HasSubstr("compaction 12: succeeded\ncompaction 13: succeeded\nafter "));
}

TEST(Compact, DoesNotWaitWhereNobodyWorks) {
  CompactWorld world;
  int64_t workers = 0;
  world.server.On<v1::GetStatusRequest>([&workers](const auto&, auto& answer) {
    answer.mutable_duties()->set_initiator(true);
    answer.mutable_duties()->set_workers(workers);
    return Ok();
  });
  const MonoTime start = world.clock.MonoNow();
  EXPECT_EQ(world.Run({"compact", "d.t", "--type", "major", "--wait"}), kFailed);
  EXPECT_EQ(world.err,
            "nobody works on it: this skepd has no workers (compactor.workers = 0), so it stays "
            "queued. To wait again: skepctl compact d.t --type major --wait; to look: skepctl show "
            "compactions d.t\n");
  EXPECT_LT(world.clock.MonoNow() - start, seconds(1));
  workers = 1;
  world.final_state = v1::COMPACTION_STATE_READY_FOR_CLEANING;
  EXPECT_EQ(world.Run({"compact", "d.t", "--type", "major", "--wait"}), kDone);
  EXPECT_THAT(world.err, HasSubstr("; the cleaner is off (cleaner.enabled = false)\n"));
  EXPECT_LT(world.clock.MonoNow() - start, seconds(5)) << "no moment for a cleaner that is off";
}

TEST(Compact, TellsOfAFailure) {
  CompactWorld world;
  world.final_state = v1::COMPACTION_STATE_FAILED;
  world.error = "CORRUPT_FILE: bucket_00000";
  EXPECT_EQ(world.Run({"compact", "d.t", "--type", "major", "--wait"}), kFailed);
  EXPECT_THAT(world.err, HasSubstr("compaction 12: failed: CORRUPT_FILE: bucket_00000\n"));
  world.final_state = v1::COMPACTION_STATE_REFUSED;
  world.error = "nothing to do";
  EXPECT_EQ(world.Run({"compact", "d.t", "--type", "major", "--wait"}), kDone);
  EXPECT_THAT(world.err, HasSubstr("refused: nothing to do"));
}

TEST(Compact, DoesNotWaitForReaders) {
  CompactWorld world;
  world.final_state = v1::COMPACTION_STATE_READY_FOR_CLEANING;
  world.server.On<v1::ExplainCleanerRequest>([](const auto&, auto& answer) {
    answer.add_entries()->add_pins()->set_txn_id(700);
    return Ok();
  });
  const MonoTime start = world.clock.MonoNow();
  EXPECT_EQ(world.Run({"compact", "d.t", "--type", "major", "--wait"}), kDone);
  EXPECT_THAT(world.err, HasSubstr("the result is visible"));
  EXPECT_THAT(world.err, HasSubstr("skepctl explain cleaner d.t"));
  EXPECT_LT(world.clock.MonoNow() - start, seconds(3));
}

TEST(Compact, GivesTheCleanerAMoment) {
  CompactWorld world;
  world.final_state = v1::COMPACTION_STATE_READY_FOR_CLEANING;
  const MonoTime start = world.clock.MonoNow();
  EXPECT_EQ(world.Run({"compact", "d.t", "--type", "major", "--wait"}), kDone);
  EXPECT_GE(world.clock.MonoNow() - start, seconds(10));
  EXPECT_LT(world.clock.MonoNow() - start, seconds(13));
}

TEST(Compact, DetachesOnCtrlC) {
  CompactWorld world;
  world.server.On<v1::GetCompactionRequest>([&world](const auto&, auto& answer) {
    if (++world.asked == 3) world.interrupted = true;
    answer.mutable_compaction()->set_state(v1::COMPACTION_STATE_WORKING);
    return Ok();
  });
  EXPECT_EQ(world.Run({"compact", "d.t", "--type", "major", "--wait"}), kInterrupted);
  EXPECT_EQ(world.err,
            "detached; compaction 12 goes on. To wait again: skepctl compact d.t --type major "
            "--wait; to look: "
            "skepctl show compactions d.t\n");
}

TEST(Compact, EndsTheWaitingAtItsTimeout) {
  CompactWorld world;
  world.server.On<v1::GetCompactionRequest>([](const auto&, auto& answer) {
    answer.mutable_compaction()->set_state(v1::COMPACTION_STATE_WORKING);
    return Ok();
  });
  EXPECT_EQ(world.Run({"compact", "d.t", "--type", "major", "--wait", "--timeout", "3s"}),
            kWaitTimeout);
  EXPECT_THAT(world.err, HasSubstr("it goes on"));
}

TEST(Compact, PassesRefusalsOn) {
  CompactWorld world;
  world.server.On<Enqueue>(
      [](const auto&, auto&) { return Refuse(ErrorReason::kTableNotTransactional); });
  EXPECT_EQ(world.Run({"compact", "d.t", "--type", "major"}), kConflict);
  EXPECT_THAT(world.err, HasSubstr("cannot compact: TABLE_NOT_TRANSACTIONAL"));
  EXPECT_EQ(world.Run({"compact", "d", "--type", "major"}), kUsage);
}

TEST(CreateTable, SendsWhatWasSaid) {
  ToolWorld world;
  world.server.On<v1::CreateTableRequest>([](const auto& request, auto& answer) {
    *answer.mutable_table()->mutable_name() = request.name();
    answer.mutable_table()->set_kind(v1::TABLE_KIND_FULL_ACID);
    answer.mutable_table()->set_format(v1::FILE_FORMAT_ORC);
    answer.mutable_table()->set_location("/w/sales.db/orders");
    return Ok();
  });
  EXPECT_EQ(world.Run({"create",
                       "table",
                       "Sales.Orders",
                       "--columns",
                       "order_id BIGINT, amount decimal(12,2) comment 'net'",
                       "--partitioned-by",
                       "order_date date",
                       "--set",
                       "orc.compress=ZSTD",
                       "--set",
                       "note=a=b",
                       "--location",
                       "data/orders"}),
            kDone)
      << world.err;
  EXPECT_EQ(world.out, "created sales.orders (full acid, orc) at /w/sales.db/orders\n");
  auto sent = world.server.RequestsOf<v1::CreateTableRequest>().at(0);
  EXPECT_EQ(sent.name().table(), "orders");
  ASSERT_EQ(sent.columns_size(), 2);
  EXPECT_EQ(sent.columns(0).type(), "bigint");
  EXPECT_EQ(sent.columns(1).comment(), "net");
  EXPECT_EQ(sent.partition_columns(0).name(), "order_date");
  EXPECT_EQ(sent.format(), v1::FILE_FORMAT_ORC);
  EXPECT_FALSE(sent.external());
  EXPECT_EQ(sent.location(), "/home/ann/data/orders");
  EXPECT_EQ(sent.properties().at("orc.compress"), "ZSTD");
  EXPECT_EQ(sent.properties().at("note"), "a=b");
}

TEST(CreateTable, RefusesWhatItCannotRead) {
  ToolWorld world;
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::string complaint;
  };
  const Case cases[] = {
      {{"t", "--columns", "a int"}, kUsage, "INVALID_REQUEST"},
      {{"d.t", "--columns", "a number"}, kUsage, "--columns"},
      {{"d.t", "--columns", "a int", "--partitioned-by", "p"}, kUsage, "--partitioned-by"},
      {{"d.t", "--columns", "a int", "--format", "xml"}, kUsage, "xml"},
      {{"d.t", "--columns", "a int", "--set", "x"}, kUsage, "KEY=VALUE"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.complaint);
    std::vector<std::string> arguments = {"create", "table"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    EXPECT_EQ(world.Run(arguments), c.code);
    EXPECT_THAT(world.err, HasSubstr(c.complaint));
  }
  EXPECT_TRUE(world.server.seen.empty());
}

struct RegisterWorld : ToolWorld {
  RegisterWorld() {
    server.On<v1::RegisterTableRequest>([](const auto& request, auto& answer) {
      *answer.mutable_table()->mutable_name() = request.name();
      answer.mutable_table()->set_kind(v1::TABLE_KIND_FULL_ACID);
      answer.mutable_table()->set_format(v1::FILE_FORMAT_ORC);
      answer.mutable_table()->set_location(request.location());
      answer.mutable_table()->set_next_write_id(10);
      answer.add_notes("everything on disk counts as committed");
      return Ok();
    });
  }
  std::string Ddl(const std::string& text) {
    std::ofstream(dir / "t.sql") << text;
    return dir / "t.sql";
  }
  testing::TempDir dir;
};

TEST(RegisterTable, SendsTheListsAsTheyAre) {
  RegisterWorld world;
  EXPECT_EQ(
      world.Run(
          {"register", "table", "d.t", "tables/t", "--write-ids", "x.y:9:7:7:4", "--txns", "all"}),
      kDone)
      << world.err;
  EXPECT_EQ(world.out,
            "registered d.t (full acid, orc) at /home/ann/tables/t\n"
            "next write id 10\n"
            "note: everything on disk counts as committed\n");
  auto sent = world.server.RequestsOf<v1::RegisterTableRequest>().at(0);
  EXPECT_EQ(sent.valid_write_ids(), "x.y:9:7:7:4");
  EXPECT_EQ(sent.valid_txns(), "all");
  EXPECT_EQ(sent.columns_size(), 0);
}

TEST(RegisterTable, TakesTheSchemaFromHivesText) {
  RegisterWorld world;
  std::string file = world.Ddl(
      "CREATE TABLE `t`(`a` int, `b` struct<`x`:int>) PARTITIONED BY (`p` date) "
      "CLUSTERED BY (`A`) INTO 4 BUCKETS STORED AS ORC "
      "TBLPROPERTIES ('transactional'='true')");
  EXPECT_EQ(world.Run({"register", "table", "d.t", "/w/t", "--ddl", file}), kDone) << world.err;
  auto sent = world.server.RequestsOf<v1::RegisterTableRequest>().at(0);
  ASSERT_EQ(sent.columns_size(), 2);
  EXPECT_EQ(sent.columns(1).type(), "struct<x:int>");
  EXPECT_EQ(sent.partition_columns(0).type(), "date");
  EXPECT_EQ(sent.bucketing().columns(0), "a");
  EXPECT_EQ(sent.bucketing().count(), 4);
  EXPECT_EQ(sent.format(), v1::FILE_FORMAT_ORC);
  EXPECT_EQ(sent.properties().at("transactional"), "true");
}

TEST(RegisterTable, RefusesTextThatDoesNotFit) {
  RegisterWorld world;
  struct Case {
    std::string ddl;
    int code;
    std::string complaint;
  };
  const Case cases[] = {
      {"CREATE TABLE `t`(`a` int) STORED AS ORC", kConflict, "TABLE_NOT_TRANSACTIONAL"},
      {"CREATE EXTERNAL TABLE `t`(`a` int) STORED AS ORC", kFailed, "NOT_SUPPORTED"},
      {"CREATE TABLE `t`(`a` int", kFailed, "\n                        ^"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.ddl);
    EXPECT_EQ(world.Run({"register", "table", "d.t", "/w/t", "--ddl", world.Ddl(c.ddl)}), c.code);
    EXPECT_THAT(world.err, HasSubstr(c.complaint));
  }
  EXPECT_EQ(world.Run({"register", "table", "d.t", "/w/t", "--ddl", world.dir / "none.sql"}),
            kNotFound);
  EXPECT_TRUE(world.server.seen.empty());
}

TEST(SetProperties, SendsWhatIsSetAndRemovedAndShowsWhatThereIs) {
  ToolWorld world;
  world.server.On<v1::SetTablePropertiesRequest>([](const auto& request, auto& answer) {
    *answer.mutable_table()->mutable_name() = request.name();
    *answer.mutable_table()->mutable_properties() = request.set();
    return Ok();
  });
  EXPECT_EQ(world.Run({"set",
                       "properties",
                       "D.T",
                       "orc.compress=zstd",
                       "note=a=b",
                       "--unset",
                       "owner",
                       "--unset",
                       "x"}),
            kDone)
      << world.err;
  EXPECT_EQ(world.out, "d.t has\n  note=a=b\n  orc.compress=zstd\n");
  const auto sent = world.server.RequestsOf<v1::SetTablePropertiesRequest>().at(0);
  EXPECT_EQ(sent.name().table(), "t");
  EXPECT_EQ(sent.set().at("note"), "a=b");
  EXPECT_THAT(sent.unset(), ElementsAre("owner", "x"));

  EXPECT_EQ(world.Run({"set", "properties", "d.t", "--unset", "owner"}), kDone) << world.err;
  EXPECT_EQ(world.out, "d.t has no properties\n");
  EXPECT_EQ(world.Run({"set", "properties", "d.t"}), kUsage);
  EXPECT_THAT(world.err, HasSubstr("KEY=VALUE or --unset KEY"));
  EXPECT_EQ(world.Run({"set", "properties", "d.t", "novalue"}), kUsage);
  EXPECT_EQ(world.server.RequestsOf<v1::SetTablePropertiesRequest>().size(), 2u);
}

TEST(DropTable, AsksAndDropsInATransaction) {
  ToolWorld world;
  EXPECT_EQ(world.Run({"drop", "table", "D.T"}, "yes\n"), kDone) << world.err;
  EXPECT_EQ(world.err, "Drop d.t from the registry; its files stay in /w/t? [y/N] ");
  EXPECT_EQ(world.out, "dropped d.t from the registry; its files stay in /w/t\n");
  auto lock = world.server.RequestsOf<v1::AcquireLocksRequest>().at(0);
  EXPECT_EQ(lock.components(0).kind(), v1::LOCK_KIND_EXCLUSIVE);
  EXPECT_EQ(lock.components(0).resource().table(), "t");
  EXPECT_EQ(world.server.RequestsOf<v1::DropTableRequest>().at(0).txn_id(), 7);
  EXPECT_EQ(world.server.CallsOf<v1::CommitTransactionRequest>().size(), 1u);
}

TEST(DropTable, LeavesTheTableUnlessTold) {
  ToolWorld world;
  EXPECT_EQ(world.Run({"drop", "table", "d.t"}, "n\n"), kFailed);
  EXPECT_EQ(world.Run({"drop", "table", "d.t", "--dry-run"}), kDone);
  EXPECT_EQ(world.out, "would drop d.t from the registry; its files stay in /w/t\n");
  EXPECT_EQ(world.Run({"drop", "table", "d.t", "--no-input"}), kUsage);
  EXPECT_TRUE(world.server.CallsOf<v1::OpenTransactionsRequest>().empty());
}

TEST(DropTable, LeavesNothingOpenWhenTheTableIsInUse) {
  ToolWorld world;
  world.server.On<v1::AcquireLocksRequest>([](const auto&, auto& answer) {
    answer.set_lock_id(41);
    answer.set_state(v1::LOCK_STATE_WAITING);
    return Ok();
  });
  world.server.On<v1::CheckLockRequest>([](const auto&, auto& answer) {
    answer.set_state(v1::LOCK_STATE_WAITING);
    return Ok();
  });
  EXPECT_EQ(world.Run({"drop", "table", "d.t", "--yes", "--timeout", "2s"}), kUnavailable);
  EXPECT_THAT(world.err, HasSubstr("the lock was not granted within 2000 ms"));
  EXPECT_EQ(world.server.CallsOf<v1::ReleaseLockRequest>().size(), 1u);
  EXPECT_EQ(world.server.CallsOf<Abort>().size(), 1u);
  EXPECT_TRUE(world.server.CallsOf<v1::DropTableRequest>().empty());
}

TEST(Tool, RefusesArgumentsThatAreNotText) {
  ToolWorld world;
  EXPECT_EQ(world.Run({"show", "table", "d.\xFF"}), kUsage);
  EXPECT_THAT(world.err, HasSubstr("not valid UTF-8"));
}

TEST(Tool, TakesOtherEndpointsAndTimeouts) {
  ToolWorld world;
  EXPECT_EQ(world.Run({"show", "tables", "-e", "h:1", "--timeout", "3s"}), kDone);
  EXPECT_EQ(world.connected.endpoint, "h:1");
  EXPECT_EQ(world.connected.call_deadline, milliseconds(3'000));
}

}  // namespace
}  // namespace skep::cli

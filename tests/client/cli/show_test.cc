// What the listing commands print, character by character.
#include "client/cli/exit_codes.h"
#include "tests/client/cli/world.h"
#include "tests/testing/status_matchers.h"

namespace skep::cli {
namespace {

using client::Ok;
using client::Refuse;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void AddTransactions(ToolWorld& world) {
  world.server.On<v1::ListTransactionsRequest>([&world](const auto&, auto& answer) {
    v1::Transaction* txn = answer.add_transactions();
    txn->set_txn_id(812);
    txn->set_type(v1::TRANSACTION_TYPE_DEFAULT);
    txn->set_state(v1::TRANSACTION_STATE_OPEN);
    txn->set_user("ann");
    txn->set_host("host1");
    txn->set_agent("query 5");
    *txn->mutable_open_time() = world.Ago(minutes(3));
    *txn->mutable_last_heartbeat_time() = world.Ago(seconds(4));
    txn->mutable_lease_left()->set_seconds(26);
    txn->set_snapshot_seq(40);
    txn->add_tables("sales.items");
    txn->add_tables("sales.orders");
    txn->add_lock_ids(31);
    txn = answer.add_transactions();
    txn->set_txn_id(1000);
    txn->set_state(v1::TRANSACTION_STATE_ABORTED);
    txn->set_abort_cause(v1::ABORT_CAUSE_TIMEOUT);
    return Ok();
  });
}

TEST(ShowTransactions, PrintsATable) {
  ToolWorld world;
  AddTransactions(world);
  EXPECT_EQ(world.Run({"show", "transactions"}), kDone) << world.err;
  EXPECT_EQ(world.out,
            " TXN  STATE              OPENED  HEARTBEAT  LEASE LEFT  USER  HOST   AGENT    TABLES\n"
            " 812  open               3m ago  4s ago            26s  ann   host1  query 5  "
            "sales.items,sales.orders\n"
            "1000  aborted (timeout)\n");
  EXPECT_EQ(world.err, "");
  EXPECT_EQ(world.connected.endpoint, "unix:/run/skep/skepd.sock");
  EXPECT_EQ(world.connected.user, "ann");
  EXPECT_EQ(world.connected.agent, "skepctl show transactions");
}

TEST(ShowTransactions, PrintsFullTimesWhenWide) {
  ToolWorld world;
  AddTransactions(world);
  EXPECT_EQ(
      world.Run({"show", "transactions", "-o", "wide", "--columns", "txn,type,opened,snapshot"}),
      kDone);
  EXPECT_EQ(world.out,
            " TXN  TYPE     OPENED                SNAPSHOT\n"
            " 812  default  2026-09-30 23:57:00Z        40\n"
            "1000\n");
}

TEST(ShowTransactions, PrintsForPrograms) {
  ToolWorld world;
  AddTransactions(world);
  EXPECT_EQ(world.Run({"show", "transactions", "-o", "csv"}), kDone);
  EXPECT_EQ(
      world.out,
      "txn,state,type,opened,heartbeat,lease left,user,host,agent,tables,locks,snapshot\n"
      "812,open,default,2026-09-30T23:57:00.000Z,2026-09-30T23:59:56.000Z,26s,ann,host1,query "
      "5,\"sales.items,sales.orders\",31,40\n"
      "1000,aborted (timeout),,,,,,,,,,\n");
  EXPECT_EQ(world.Run({"show", "transactions", "-o", "name"}), kDone);
  EXPECT_EQ(world.out, " 812\n1000\n");
  EXPECT_EQ(world.Run({"show", "transactions", "-o", "jsonl"}), kDone);
  EXPECT_EQ(std::count(world.out.begin(), world.out.end(), '\n'), 2);
  EXPECT_THAT(world.out, HasSubstr(R"("txnId":"812")"));
  EXPECT_EQ(world.Run({"show", "transactions", "--json"}), kDone);
  EXPECT_THAT(world.out,
              ::testing::StartsWith("{\n  \"transactions\": [\n    {\n      \"txnId\": \"812\","));
}

TEST(ShowTransactions, PrintsWhatHivePrints) {
  ToolWorld world;
  AddTransactions(world);
  EXPECT_EQ(world.Run({"show", "transactions", "-o", "hive"}), kDone);
  EXPECT_EQ(world.out,
            "Transaction ID\tTransaction State\tStarted Time\tLast Heartbeat Time\tUser\tHostname\n"
            "812\tOPEN\t1790812620000\t1790812796000\tann\thost1\n"
            "1000\tABORTED\t0\t0\t\t\n");
  EXPECT_THAT(world.server.RequestsOf<v1::ListTransactionsRequest>().back().states(),
              ElementsAre(v1::TRANSACTION_STATE_OPEN, v1::TRANSACTION_STATE_ABORTED));
  EXPECT_EQ(world.Run({"show", "transactions", "-o", "hive", "--no-headers"}), kDone);
  EXPECT_EQ(world.out.substr(0, 4), "812\t");
}

TEST(ShowTransactions, AsksTheServerToFilter) {
  ToolWorld world;
  EXPECT_EQ(world.Run({"show",
                       "transactions",
                       "--state",
                       "Aborted",
                       "--user",
                       "etl",
                       "--table",
                       "Sales.Orders",
                       "--limit",
                       "7"}),
            kDone);
  auto request = world.server.RequestsOf<v1::ListTransactionsRequest>().at(0);
  EXPECT_THAT(request.states(), ElementsAre(v1::TRANSACTION_STATE_ABORTED));
  EXPECT_EQ(request.user(), "etl");
  EXPECT_EQ(request.table().database(), "sales");
  EXPECT_EQ(request.table().table(), "orders");
  EXPECT_EQ(request.page_size(), 7);
  EXPECT_EQ(world.out, "");
  EXPECT_EQ(world.err, "no transactions match\n");
  EXPECT_EQ(world.Run({"show", "transactions"}), kDone);
  EXPECT_EQ(world.err, "no open transactions\n");
  EXPECT_EQ(world.Run({"show", "transactions", "-q"}), kDone);
  EXPECT_EQ(world.err, "");
}

TEST(ShowTransactions, FiltersByAgeAndType) {
  ToolWorld world;
  AddTransactions(world);
  EXPECT_EQ(world.Run({"show", "transactions", "--older-than", "2m", "-o", "name"}), kDone);
  EXPECT_EQ(world.out, "812\n");
  EXPECT_EQ(world.Run({"show", "transactions", "--older-than", "4m", "-o", "name"}), kDone);
  EXPECT_EQ(world.out, "");
  EXPECT_EQ(world.Run({"show", "transactions", "--type", "DEFAULT", "-o", "name"}), kDone);
  EXPECT_EQ(world.out, "812\n");
}

TEST(ShowTransactions, RefusesAStateThatIsNotListed) {
  ToolWorld world;
  EXPECT_EQ(world.Run({"show", "transactions", "--state", "committed"}), kUsage);
  EXPECT_THAT(world.err, HasSubstr("there are open, aborted"));
}

void AddLocks(ToolWorld& world) {
  world.server.On<v1::ListLocksRequest>([&world](const auto&, auto& answer) {
    v1::Lock* lock = answer.add_locks();
    lock->set_lock_id(31);
    lock->set_component(1);
    lock->set_txn_id(812);
    lock->mutable_resource()->set_database("sales");
    lock->mutable_resource()->set_table("orders");
    lock->mutable_resource()->set_partition("order_date=2026-10-01");
    lock->set_kind(v1::LOCK_KIND_SHARED_WRITE);
    lock->set_state(v1::LOCK_STATE_ACQUIRED);
    *lock->mutable_request_time() = world.Ago(minutes(3));
    *lock->mutable_acquire_time() = world.Ago(minutes(2));
    *lock->mutable_last_heartbeat_time() = world.Ago(seconds(4));
    lock->set_user("ann");
    lock->set_host("host1");
    lock->set_agent("query 5");
    lock = answer.add_locks();
    lock->set_lock_id(32);
    lock->set_component(2);
    lock->mutable_resource()->set_database("sales");
    lock->set_kind(v1::LOCK_KIND_EXCLUSIVE);
    lock->set_state(v1::LOCK_STATE_WAITING);
    *lock->mutable_request_time() = world.Ago(seconds(30));
    *lock->mutable_last_heartbeat_time() = world.Ago(seconds(1));
    lock->set_user("bob");
    lock->set_host("host2");
    lock->set_blocked_by_lock_id(31);
    lock->set_blocked_by_component(1);
    return Ok();
  });
}

TEST(ShowLocks, PrintsATable) {
  ToolWorld world;
  AddLocks(world);
  EXPECT_EQ(world.Run({"show",
                       "locks",
                       "Sales.Orders/ORDER_DATE=2026-10-01",
                       "--waiting",
                       "--txn",
                       "812",
                       "--columns",
                       "lock,state,type,resource,txn,asked,held since,blocked by,user"}),
            kDone);
  EXPECT_EQ(world.out,
            "LOCK  STATE     TYPE          RESOURCE                            TXN  ASKED    HELD "
            "SINCE  BLOCKED BY  USER\n"
            "  31  acquired  SHARED_WRITE  sales.orders/order_date=2026-10-01  812  3m ago   2m "
            "ago                  ann\n"
            "  32  waiting   EXCLUSIVE     sales                                    30s ago        "
            "              31  bob\n");
  auto request = world.server.RequestsOf<v1::ListLocksRequest>().at(0);
  EXPECT_EQ(request.resource().database(), "sales");
  EXPECT_EQ(request.resource().table(), "orders");
  EXPECT_EQ(request.resource().partition(), "order_date=2026-10-01");
  EXPECT_TRUE(request.waiting_only());
  EXPECT_EQ(request.txn_id(), 812);
}

TEST(ShowLocks, ShowsWhoRebuildsAView) {
  ToolWorld world;
  world.server.On<v1::ListLocksRequest>([&world](const auto&, auto& answer) {
    v1::ViewRebuild* rebuild = answer.add_view_rebuilds();
    rebuild->mutable_view()->set_database("sales");
    rebuild->mutable_view()->set_table("by_day");
    rebuild->set_txn_id(812);
    rebuild->set_user("ann");
    rebuild->set_host("host1");
    *rebuild->mutable_since_time() = world.Ago(minutes(2));
    return Ok();
  });
  EXPECT_EQ(world.Run({"show", "locks"}), kDone);
  EXPECT_EQ(world.out,
            "STATE     TYPE          RESOURCE      TXN  HELD SINCE  USER  HOST\n"
            "acquired  VIEW_REBUILD  sales.by_day  812  2m ago      ann   host1\n");
  EXPECT_EQ(world.err, "");
  EXPECT_EQ(world.Run({"show", "locks", "-o", "name"}), kDone);
  EXPECT_EQ(world.out, "") << "it has no lock id";
}

TEST(ShowLocks, PrintsWhatHivePrints) {
  ToolWorld world;
  AddLocks(world);
  EXPECT_EQ(world.Run({"show", "locks", "-o", "hive"}), kDone);
  EXPECT_EQ(world.out,
            "Lock ID\tDatabase\tTable\tPartition\tState\tBlocked By\tType\tTransaction ID\tLast "
            "Heartbeat\tAcquired At\tUser\tHostname\tAgent Info\n"
            "31.1\tsales\torders\torder_date=2026-10-01\tACQUIRED\t            "
            "\tSHARED_WRITE\t812\t1790812796000\t1790812680000\tann\thost1\tquery 5\n"
            "32.2\tsales\tNULL\tNULL\tWAITING\t31."
            "1\tEXCLUSIVE\tNULL\t1790812799000\tNULL\tbob\thost2\tNULL\n");
}

TEST(ShowLocks, SaysThatThereAreNone) {
  ToolWorld world;
  EXPECT_EQ(world.Run({"show", "locks"}), kDone);
  EXPECT_EQ(world.err, "no locks are held or waited for\n");
  EXPECT_EQ(world.Run({"show", "locks", "--waiting"}), kDone);
  EXPECT_EQ(world.err, "no locks match\n");
}

TEST(ShowLocks, RefusesAPartitionWithoutATable) {
  ToolWorld world;
  EXPECT_EQ(world.Run({"show", "locks", "sales/p=1"}), kUsage);
  EXPECT_THAT(world.err, HasSubstr("give DB.TABLE or DB.TABLE/PARTITION"));
  EXPECT_TRUE(world.server.seen.empty());
}

void AddCompactions(ToolWorld& world) {
  world.server.On<v1::ListCompactionsRequest>([&world](const auto&, auto& answer) {
    v1::Compaction* done = answer.add_compactions();
    done->set_compaction_id(5);
    done->mutable_table()->set_database("sales");
    done->mutable_table()->set_table("orders");
    done->set_partition("order_date=2026-10-01");
    done->set_type(v1::COMPACTION_TYPE_MAJOR);
    done->set_state(v1::COMPACTION_STATE_READY_FOR_CLEANING);
    done->set_reason("11 deltas of at most 10");
    done->set_initiator("my-host-manual");
    done->set_worker("my-host-4");
    done->set_txn_id(820);
    done->set_highest_write_id(17);
    *done->mutable_enqueue_time() = world.Ago(hours(2));
    *done->mutable_start_time() = world.Ago(minutes(10));
    *done->mutable_commit_time() = world.Ago(minutes(8));
    v1::Compaction* failed = answer.add_compactions();
    failed->set_compaction_id(6);
    failed->mutable_table()->set_database("hr");
    failed->mutable_table()->set_table("staff");
    failed->set_type(v1::COMPACTION_TYPE_MINOR);
    failed->set_state(v1::COMPACTION_STATE_FAILED);
    failed->set_error_message("STORAGE_UNWRITABLE: disk full");
    failed->set_initiator("initiator");
    *failed->mutable_enqueue_time() = world.Ago(minutes(5));
    *failed->mutable_start_time() = world.Ago(seconds(100));
    *failed->mutable_end_time() = world.Ago(seconds(99));
    return Ok();
  });
}

TEST(ShowCompactions, PrintsATable) {
  ToolWorld world;
  AddCompactions(world);
  EXPECT_EQ(world.Run({"show", "compactions"}), kDone);
  EXPECT_EQ(
      world.out,
      "ID  TABLE         PARTITION              TYPE   STATE               QUEUED   TOOK  WHY\n"
      " 5  sales.orders  order_date=2026-10-01  major  ready for cleaning  2h ago  2m00s  11 "
      "deltas of at "
      "most 10\n"
      " 6  hr.staff                             minor  failed              5m ago     1s  "
      "STORAGE_UNWRITABLE: disk full\n");
}

TEST(ShowCompactions, PrintsWhatHivePrints) {
  ToolWorld world;
  AddCompactions(world);
  EXPECT_EQ(world.Run({"show", "compactions", "-o", "hive"}), kDone);
  EXPECT_EQ(world.out,
            "CompactionId\tDatabase\tTable\tPartition\tType\tState\tWorker host\tWorker\tEnqueue "
            "Time\tStart "
            "Time\tDuration(ms)\tHadoopJobId\tError message\tInitiator host\tInitiator\tPool "
            "name\tTxnId\tNext "
            "TxnId\tCommit Time\tHighest WriteId\n"
            "5\tsales\torders\torder_date=2026-10-01\tMAJOR\tready for "
            "cleaning\tmy-host\t4\t1790805600000\t1790812200000\t --- \tNone\t --- "
            "\tmy-host\tmanual\t --- "
            "\t820\t --- \t1790812320000\t17\n"
            "6\thr\tstaff\t --- \tMINOR\tfailed\t --- \t --- "
            "\t1790812500000\t1790812700000\t1000\tNone\tSTORAGE_UNWRITABLE: disk "
            "full\tinitiator\t --- \t --- "
            "\t --- \t --- \t --- \t --- \n");
}

TEST(ShowCompactions, FiltersWhereAsked) {
  ToolWorld world;
  AddCompactions(world);
  EXPECT_EQ(world.Run({"show", "compactions", "hr", "-o", "name"}), kDone);
  EXPECT_EQ(world.out, "6\n");
  EXPECT_EQ(world.Run({"show", "compactions", "--type", "major", "-o", "name"}), kDone);
  EXPECT_EQ(world.out, "5\n");
  EXPECT_EQ(world.Run({"show",
                       "compactions",
                       "sales.orders/order_date=2026-10-01",
                       "--state",
                       "Ready-for-cleaning,failed"}),
            kDone);
  auto request = world.server.RequestsOf<v1::ListCompactionsRequest>().back();
  EXPECT_EQ(request.table().table(), "orders");
  EXPECT_EQ(request.partition(), "order_date=2026-10-01");
  EXPECT_THAT(request.states(),
              ElementsAre(v1::COMPACTION_STATE_READY_FOR_CLEANING, v1::COMPACTION_STATE_FAILED));
  EXPECT_EQ(world.Run({"show", "compactions", "--state", "done"}), kUsage);
  EXPECT_THAT(world.err, HasSubstr("ready_for_cleaning"));
}

TEST(ShowCompactions, ShowsOneById) {
  ToolWorld world;
  world.server.On<v1::GetCompactionRequest>([](const auto& request, auto& answer) {
    if (request.compaction_id() != 9) return Refuse(ErrorReason::kNoSuchCompaction);
    answer.mutable_compaction()->set_compaction_id(9);
    return Ok();
  });
  EXPECT_EQ(world.Run({"show", "compactions", "--id", "9", "-o", "name"}), kDone);
  EXPECT_EQ(world.out, "9\n");
  EXPECT_EQ(world.Run({"show", "compactions", "--id", "8"}), kNotFound);
  EXPECT_THAT(world.err, HasSubstr("cannot show compactions: NO_SUCH_COMPACTION"));
}

TEST(ShowTables, PrintsATable) {
  ToolWorld world;
  world.server.On<v1::ListTablesRequest>([&world](const auto&, auto& answer) {
    v1::Table* table = answer.add_tables();
    table->mutable_name()->set_database("sales");
    table->mutable_name()->set_table("orders");
    table->set_kind(v1::TABLE_KIND_FULL_ACID);
    table->set_format(v1::FILE_FORMAT_ORC);
    table->add_partition_columns()->set_name("p");
    table->set_partition_count(3);
    table->set_next_write_id(4);
    table->set_open_write_id_count(1);
    table->set_location("/w/sales.db/orders");
    *table->mutable_create_time() = world.Ago(hours(30));
    table = answer.add_tables();
    table->mutable_name()->set_database("logs");
    table->mutable_name()->set_table("raw");
    table->set_kind(v1::TABLE_KIND_INSERT_ONLY);
    table->set_format(v1::FILE_FORMAT_TEXT);
    table->set_next_write_id(1);
    table->set_location("/w/logs.db/raw");
    return Ok();
  });
  EXPECT_EQ(world.Run({"show", "tables", "SALES"}), kDone);
  EXPECT_EQ(world.out,
            "TABLE         KIND         FORMAT  PARTITIONS  NEXT WRITE ID  OPEN WRITES  CREATED  "
            "LOCATION\n"
            "sales.orders  full acid    orc              3              4            1  30h ago  "
            "/w/sales.db/orders\n"
            "logs.raw      insert-only  text                            1            0           "
            "/w/logs.db/raw\n");
  EXPECT_EQ(world.server.RequestsOf<v1::ListTablesRequest>().at(0).database(), "sales");
  EXPECT_EQ(world.Run({"show", "tables", "-o", "hive"}), kUsage);
  EXPECT_THAT(world.err, HasSubstr("-o hive does not exist for show tables"));
}

TEST(ShowTable, PrintsABlock) {
  ToolWorld world;
  v1::Column* partition = world.table.add_partition_columns();
  partition->set_name("p");
  partition->set_type("date");
  world.table.mutable_bucketing()->add_columns("a");
  world.table.mutable_bucketing()->set_count(4);
  world.table.set_next_write_id(8);
  world.table.set_created_seq(2);
  (*world.table.mutable_properties())["orc.compress"] = "ZSTD";
  EXPECT_EQ(world.Run({"show", "table", "D.T"}), kDone);
  EXPECT_EQ(world.out,
            "table:                  d.t, id 3\n"
            "kind:                   full acid, orc\n"
            "location:               /w/t\n"
            "columns:                a int\n"
            "partitioned by:         p date\n"
            "partitions:             0\n"
            "clustered by:           a into 4 buckets; Skep adds no rows\n"
            "created:                , commit sequence 2\n"
            "next write id:          8, 0 open\n"
            "property orc.compress:  ZSTD\n");
}

TEST(ShowDeltas, SortsSizesAndTimesByValueAndGivesProgramsBytes) {
  ToolWorld world;
  world.server.On<v1::ListDirectoriesRequest>([](const auto&, auto& answer) {
    for (const auto& [name, bytes] : {std::pair("a", 1'500), std::pair("b", 979)}) {
      answer.add_directories()->set_name(name);
      answer.mutable_directories()->rbegin()->set_bytes(bytes);
    }
    return Ok();
  });
  EXPECT_EQ(world.Run({"show", "deltas", "d.t", "--sort", "size", "--columns", "name,size"}),
            kDone);
  EXPECT_EQ(world.out,
            "NAME    SIZE\n"
            "b      979 B\n"
            "a     1.5 KB\n");
  EXPECT_EQ(world.Run({"show", "deltas", "d.t", "-o", "tsv", "--columns", "name,size"}), kDone);
  EXPECT_EQ(world.out, "name\tsize\na\t1500\nb\t979\n");

  world.server.On<v1::ListTablesRequest>([&world](const auto&, auto& answer) {
    for (const auto& [name, age] : {std::pair("old", 180), std::pair("new", 24)}) {
      v1::Table* table = answer.add_tables();
      table->mutable_name()->set_database("d");
      table->mutable_name()->set_table(name);
      *table->mutable_create_time() = world.Ago(seconds(age));
    }
    return Ok();
  });
  EXPECT_EQ(world.Run({"show", "tables", "--sort", "-created", "--columns", "table,created"}),
            kDone);
  EXPECT_EQ(world.out,
            "TABLE  CREATED\n"
            "d.new  24s ago\n"
            "d.old  3m ago\n");
}

TEST(ShowDeltas, PrintsRolesAndReasons) {
  ToolWorld world;
  world.server.On<v1::ListDirectoriesRequest>([](const auto& request, auto& answer) {
    EXPECT_EQ(request.partition(), "p=1");
    auto* live = answer.add_directories();
    live->set_partition("p=1");
    live->set_name("base_0000003_v0000009");
    live->set_role(v1::ListDirectoriesResponse::ROLE_LIVE);
    live->set_bytes(1234);
    live->set_files(2);
    live->set_reason("newest base");
    auto* old = answer.add_directories();
    old->set_partition("p=1");
    old->set_name("delta_0000001_0000001_0000");
    old->set_role(v1::ListDirectoriesResponse::ROLE_OBSOLETE);
    old->set_bytes(7);
    old->set_files(1);
    old->set_reason("covered by base_0000003_v0000009");
    return Ok();
  });
  EXPECT_EQ(world.Run({"show", "deltas", "d.t/p=1"}), kDone);
  EXPECT_EQ(world.out,
            "PARTITION  NAME                        ROLE        SIZE  FILES  WHY\n"
            "p=1        base_0000003_v0000009       live      1.2 KB      2  newest base\n"
            "p=1        delta_0000001_0000001_0000  obsolete     7 B      1  covered by "
            "base_0000003_v0000009\n");
  EXPECT_EQ(world.Run({"show", "deltas", "d.t/p=1", "-o", "name"}), kDone);
  EXPECT_EQ(world.out, "base_0000003_v0000009\ndelta_0000001_0000001_0000\n");
}

TEST(ShowSnapshot, ShowsTransactions) {
  ToolWorld world;
  world.server.On<v1::GetSnapshotRequest>([](const auto& request, auto& answer) {
    EXPECT_FALSE(request.refresh());
    answer.set_snapshot_seq(41);
    answer.mutable_txns()->set_high_watermark(120);
    answer.mutable_txns()->add_open(118);
    auto* range = answer.mutable_txns()->add_aborted();
    range->set_first(97);
    range->set_last(99);
    return Ok();
  });
  EXPECT_EQ(world.Run({"show", "snapshot", "--txn", "118"}), kDone);
  EXPECT_EQ(world.out,
            "snapshot:      41\n"
            "transactions:  up to 120\n"
            "still open:    118\n"
            "aborted:       97-99\n");
  EXPECT_EQ(world.server.RequestsOf<v1::GetSnapshotRequest>().at(0).txn_id(), 118);
  EXPECT_EQ(world.Run({"show", "snapshot", "-o", "hive"}), kDone);
  EXPECT_EQ(world.out, "120:118:118:97,98,99\n");
}

TEST(ShowSnapshot, ShowsTheWriteIdsOfATableToATransactionOfItsOwn) {
  ToolWorld world;
  EXPECT_EQ(world.Run({"show", "snapshot", "d.t"}), kDone) << world.err;
  EXPECT_EQ(world.out,
            "table:       d.t, id 0\n"
            "snapshot:    5\n"
            "write ids:   up to 11\n"
            "still open:  9\n"
            "aborted:     none\n");
  EXPECT_EQ(world.server.RequestsOf<v1::OpenTransactionsRequest>().at(0).type(),
            v1::TRANSACTION_TYPE_READ_ONLY);
  EXPECT_EQ(world.server.CallsOf<v1::CommitTransactionRequest>().size(), 1u)
      << "it is not left open";
  EXPECT_EQ(world.Run({"show", "snapshot", "d.t", "-o", "hive"}), kDone);
  EXPECT_EQ(world.out, "d.t:11:9:9:\n");
}

TEST(ShowSnapshot, DoesNotAskInTheNameOfAnother) {
  ToolWorld world;
  EXPECT_EQ(world.Run({"show", "snapshot", "d.t", "--txn", "5"}), kUsage);
  EXPECT_TRUE(world.server.seen.empty());
}

}  // namespace
}  // namespace skep::cli

// Status and the answers to "why not".
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
using ::testing::HasSubstr;

void AddStatus(ToolWorld& world) {
  world.server.On<v1::GetStatusRequest>([&world](const auto&, auto& answer) {
    answer.set_version("0.1.0");
    *answer.mutable_start_time() = world.Ago(hours(50));
    answer.set_store_path("/var/lib/skep/skep.db");
    answer.add_warehouse_roots("/warehouse");
    answer.add_warehouse_roots("/archive");
    answer.add_endpoints("unix:/run/skep/skepd.sock");
    answer.set_commit_seq(4711);
    answer.set_open_transaction_count(2);
    answer.set_table_count(12);
    answer.set_held_lock_count(3);
    answer.set_waiting_lock_count(1);
    answer.set_working_compaction_count(1);
    answer.mutable_txn_timeout()->set_seconds(300);
    answer.mutable_duties()->set_initiator(true);
    answer.mutable_duties()->set_workers(2);
    answer.mutable_duties()->set_cleaner(true);
    v1::Transaction* oldest = answer.mutable_oldest_open_transaction();
    oldest->set_txn_id(812);
    oldest->set_user("ann");
    oldest->set_host("host1");
    oldest->set_agent("query 5");
    *oldest->mutable_open_time() = world.Ago(minutes(90));
    return Ok();
  });
}

TEST(Status, PrintsABlock) {
  ToolWorld world;
  AddStatus(world);
  EXPECT_EQ(world.Run({"status"}), kDone) << world.err;
  EXPECT_EQ(world.out,
            "skepd:         0.1.0\n"
            "started:       2d ago\n"
            "listens on:    unix:/run/skep/skepd.sock\n"
            "warehouse:     /warehouse, /archive\n"
            "store:         /var/lib/skep/skep.db, commit sequence 4711\n"
            "tables:        12\n"
            "transactions:  2 open, lease 5m00s\n"
            "oldest:        812, opened 1h ago by ann@host1 (query 5)\n"
            "locks:         3 held, 1 waiting\n"
            "compactions:   0 queued, 1 working, 0 ready for cleaning\n");
}

TEST(Status, NamesTheDutiesThatAreOff) {
  ToolWorld world;
  world.server.On<v1::GetStatusRequest>([](const auto&, auto& answer) {
    answer.mutable_duties()->set_initiator(true);
    return Ok();
  });
  EXPECT_EQ(world.Run({"status"}), kDone) << world.err;
  EXPECT_THAT(world.out, HasSubstr("off:           workers, cleaner\n"));
}

TEST(Status, SaysThatTheTablesOfTheStoreAreBehind) {
  ToolWorld world;
  world.server.On<v1::GetStatusRequest>([&world](const auto&, auto& answer) {
    answer.set_log_backlog_bytes(3'000'000);
    answer.set_log_backlog_limit_bytes(64 << 20);
    answer.set_log_backlog_cause("the disk of /var/lib/skep is full");
    *answer.mutable_log_backlog_since_time() = world.Ago(minutes(4));
    return Ok();
  });
  EXPECT_EQ(world.Run({"status"}), kDone) << world.err;
  EXPECT_THAT(world.out,
              HasSubstr("tables behind:  3.0 MB of 67.1 MB of log, since 4m ago: the disk of "
                        "/var/lib/skep is full\n"));
}

TEST(Status, SaysThatAFullDiskTakesNothingNew) {
  ToolWorld world;
  world.server.On<v1::GetStatusRequest>([](const auto&, auto& answer) {
    answer.set_store_full(true);
    return Ok();
  });
  EXPECT_EQ(world.Run({"status"}), kDone) << world.err;
  EXPECT_THAT(world.out, HasSubstr("disk full:"));
  EXPECT_THAT(world.out, HasSubstr("refused (STORE_FULL); commits, aborts"));
}

TEST(Status, PrintsJson) {
  ToolWorld world;
  AddStatus(world);
  EXPECT_EQ(world.Run({"status", "--json"}), kDone);
  Json reply = Json::parse(world.out);
  EXPECT_EQ(reply["version"], "0.1.0");
  EXPECT_EQ(reply["commitSeq"], "4711");
  EXPECT_EQ(world.Run({"status", "-o", "csv"}), kUsage);
  EXPECT_THAT(world.err, HasSubstr("-o csv does not exist for status"));
}

TEST(Status, SaysWhereNobodyAnswered) {
  ToolWorld world;
  world.server.SetDown(true);
  const MonoTime start = world.clock.MonoNow();
  EXPECT_EQ(world.Run({"status", "-e", "db1:9090"}), kUnavailable);
  EXPECT_THAT(world.err, HasSubstr("No answer from db1:9090: is skepd running there"));
  EXPECT_LT(world.clock.MonoNow() - start, seconds(3)) << "a person waits";
  EXPECT_EQ(world.out, "");
}

TEST(ExplainLock, PrintsTheChain) {
  ToolWorld world;
  world.server.On<v1::ExplainLockRequest>([&world](const auto& request, auto& answer) {
    if (request.lock_id() != 32) return Refuse(ErrorReason::kNoSuchLock);
    answer.set_summary("lock 32 waits for transaction 812, which holds sales.orders");
    v1::Lock* lock = answer.add_locks();
    lock->set_lock_id(32);
    lock->set_state(v1::LOCK_STATE_WAITING);
    lock->set_kind(v1::LOCK_KIND_EXCLUSIVE);
    lock->mutable_resource()->set_database("sales");
    lock->mutable_resource()->set_table("orders");
    *lock->mutable_request_time() = world.Ago(seconds(30));
    answer.set_queue_position(2);
    auto* step = answer.add_steps();
    step->set_level(1);
    step->set_waiting_lock_id(32);
    *step->mutable_last_heartbeat_time() = world.Ago(seconds(4));
    v1::LockBlocker* blocker = step->mutable_blocker();
    blocker->set_lock_id(31);
    blocker->set_txn_id(812);
    blocker->set_kind(v1::LOCK_KIND_SHARED_WRITE);
    blocker->set_state(v1::LOCK_STATE_WAITING);
    *blocker->mutable_resource() = lock->resource();
    blocker->set_user("ann");
    blocker->set_host("host1");
    *blocker->mutable_since_time() = world.Ago(minutes(3));
    step = answer.add_steps();
    step->set_level(2);
    step->set_waiting_lock_id(31);
    blocker = step->mutable_blocker();
    blocker->set_lock_id(30);
    blocker->set_txn_id(800);
    blocker->set_kind(v1::LOCK_KIND_EXCL_WRITE);
    blocker->set_state(v1::LOCK_STATE_ACQUIRED);
    *blocker->mutable_resource() = lock->resource();
    blocker->set_user("bob");
    blocker->set_host("host2");
    blocker->set_agent("nightly");
    *blocker->mutable_since_time() = world.Ago(hours(1));
    return Ok();
  });
  EXPECT_EQ(world.Run({"explain", "lock", "32"}), kDone) << world.err;
  EXPECT_EQ(world.out,
            "lock 32 waits for transaction 812, which holds sales.orders\n"
            "lock 32: waiting EXCLUSIVE on sales.orders, asked 30s ago\n"
            "waiting requests before it: 1\n"
            "  32 waits for lock 31: SHARED_WRITE on sales.orders, asked for 3m ago by transaction "
            "812 of "
            "ann@host1, last heartbeat 4s ago\n"
            "    31 waits for lock 30: EXCL_WRITE on sales.orders, taken 1h ago by transaction "
            "800 of bob@host2 (nightly)\n"
            "  by force: skepctl abort transactions 800 (what it wrote is lost)\n");
  EXPECT_EQ(world.Run({"explain", "lock", "33"}), kNotFound);
}

TEST(ExplainLock, SaysWhoWaitsForAHeldOne) {
  ToolWorld world;
  world.server.On<v1::ExplainLockRequest>([](const auto&, auto& answer) {
    answer.set_summary("lock 31 is held");
    answer.add_waiting_lock_ids(32);
    answer.add_waiting_lock_ids(35);
    return Ok();
  });
  EXPECT_EQ(world.Run({"explain", "lock", "31"}), kDone) << world.err;
  EXPECT_EQ(world.out, "lock 31 is held\nwaited for by: 32, 35\n");
}

TEST(ExplainCleaner, TellsTheNextAttempt) {
  ToolWorld world;
  world.server.On<v1::ExplainCleanerRequest>([&world](const auto&, auto& answer) {
    auto* entry = answer.add_entries();
    entry->mutable_compaction()->set_compaction_id(5);
    entry->mutable_compaction()->mutable_table()->set_database("d");
    entry->mutable_compaction()->mutable_table()->set_table("t");
    *entry->mutable_compaction()->mutable_next_clean_time() = world.Ago(seconds(-29));
    entry->set_summary("the last attempt failed");
    return Ok();
  });
  EXPECT_EQ(world.Run({"explain", "cleaner"}), kDone);
  EXPECT_EQ(world.out,
            "d.t (compaction 5): the last attempt failed\n"
            "  next attempt: in 29s\n");
}

TEST(ExplainCleaner, NamesWhoPinsWhat) {
  ToolWorld world;
  world.server.On<v1::ExplainCleanerRequest>([&world](const auto& request, auto& answer) {
    if (!request.has_table()) return Ok();
    auto* entry = answer.add_entries();
    entry->mutable_compaction()->set_compaction_id(5);
    *entry->mutable_compaction()->mutable_table() = request.table();
    entry->mutable_compaction()->set_partition("p=1");
    entry->set_summary("2 directories wait for 1 transaction");
    entry->add_directories("p=1/delta_0000001_0000001_0000");
    entry->add_directories("evil\x1b[2J");
    auto* pin = entry->add_pins();
    pin->set_txn_id(700);
    pin->set_snapshot_seq(12);
    pin->set_every_table(true);
    pin->set_user("ann");
    pin->set_host("host1");
    *pin->mutable_open_time() = world.Ago(hours(3));
    return Ok();
  });
  EXPECT_EQ(world.Run({"explain", "cleaner", "d.t"}), kDone);
  EXPECT_EQ(world.out,
            "d.t/p=1 (compaction 5): 2 directories wait for 1 transaction\n"
            "  waits: p=1/delta_0000001_0000001_0000\n"
            "  waits: evil\\x1b[2J\n"
            "  pinned by transaction 700 of ann@host1, opened 3h ago, snapshot 12, pins every "
            "table until it "
            "names one\n"
            "  by force: skepctl abort transactions 700 (what it wrote is lost)\n");
  EXPECT_EQ(world.Run({"explain", "cleaner"}), kDone);
  EXPECT_EQ(world.out, "nothing waits for the cleaner\n");
}

TEST(ExplainCompaction, ShowsTheNumbers) {
  ToolWorld world;
  world.server.On<v1::ExplainCompactionRequest>([&world](const auto&, auto& answer) {
    auto* entry = answer.add_entries();
    entry->set_partition("p=1");
    entry->set_decision(v1::COMPACTION_TYPE_MAJOR);
    entry->set_reason("deltas hold 25 % of the base");
    entry->set_base_bytes(4'000'000);
    entry->set_delta_bytes(1'000'000);
    entry->set_delta_count(3);
    entry->set_delta_count_threshold(10);
    entry->set_delta_size_threshold(0.1);
    entry = answer.add_entries();
    entry->set_partition("p=2");
    entry->set_reason("1 delta");
    entry->set_delta_count_threshold(10);
    entry->set_delta_size_threshold(0.1);
    entry->set_blocked_by("NO_AUTO_COMPACTION");
    entry->mutable_latest()->set_compaction_id(7);
    entry->mutable_latest()->set_type(v1::COMPACTION_TYPE_MINOR);
    entry->mutable_latest()->set_state(v1::COMPACTION_STATE_FAILED);
    entry->mutable_latest()->set_error_message("bucket_00000 is damaged");
    *entry->mutable_latest()->mutable_end_time() = world.Ago(minutes(3));
    return Ok();
  });
  EXPECT_EQ(world.Run({"explain", "compaction", "d.t"}), kDone);
  EXPECT_EQ(world.out,
            "p=1: major: deltas hold 25 % of the base\n"
            "  base 4.0 MB, deltas 1.0 MB in 3 (thresholds: 10 deltas, 10 % of the base)\n"
            "p=2: nothing to do: 1 delta\n"
            "  base 0 B, deltas 0 B in 0 (thresholds: 10 deltas, 10 % of the base)\n"
            "  kept from the queue: NO_AUTO_COMPACTION\n"
            "  last: compaction 7, minor, failed 3m ago: bucket_00000 is damaged\n");
}

}  // namespace
}  // namespace skep::cli

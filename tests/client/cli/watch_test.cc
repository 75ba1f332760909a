// What `watch events` asks for and prints.
#include "client/cli/exit_codes.h"
#include "client/session/message_json.h"
#include "storage/model/errors.h"
#include "tests/client/cli/world.h"
#include "tests/testing/status_matchers.h"

#include "proto/skep/v1/event_service.pb.h"

namespace skep::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::Event* AddEvent(v1::WatchEventsResponse& message, v1::EventKind kind) {
  v1::Event* event = message.add_events();
  event->set_kind(kind);
  event->mutable_revision()->set_seq(41);
  event->mutable_revision()->set_index(message.events_size());
  event->mutable_time()->set_seconds(1'790'812'800);
  return event;
}
void Name(v1::EventTable* table) {
  table->set_table_id(3);
  table->mutable_name()->set_database("sales");
  table->mutable_name()->set_table("orders");
}
std::string JsonOf(const google::protobuf::Message& message) {
  return client::MessageToJson(message).value();
}

// One event of each kind.
v1::WatchEventsResponse Everything() {
  v1::WatchEventsResponse message;
  auto* opened = AddEvent(message, v1::EVENT_KIND_TRANSACTIONS_OPENED)->mutable_opened();
  opened->set_first_txn_id(7);
  opened->set_last_txn_id(9);
  auto* allocated =
      AddEvent(message, v1::EVENT_KIND_WRITE_IDS_ALLOCATED)->mutable_write_ids_allocated();
  Name(allocated->mutable_table());
  auto* allocation = allocated->add_allocations();
  allocation->set_txn_id(7);
  allocation->set_write_id(2);
  auto* committed = AddEvent(message, v1::EVENT_KIND_COMMITTED)->mutable_committed();
  committed->set_txn_id(7);
  auto* table = committed->add_tables();
  Name(table->mutable_table());
  table->set_write_id(2);
  table->add_writes()->set_operation(v1::WRITE_OPERATION_INSERT);
  table->mutable_writes(0)->set_partition("p=1");
  table->add_writes()->set_operation(v1::WRITE_OPERATION_UPDATE);
  auto* aborted = AddEvent(message, v1::EVENT_KIND_ABORTED)->mutable_aborted();
  aborted->set_txn_id(8);
  aborted->set_cause(v1::ABORT_CAUSE_TIMEOUT);
  Name(aborted->add_tables());
  auto* taken =
      AddEvent(message, v1::EVENT_KIND_WRITE_IDS_TAKEN_OVER)->mutable_write_ids_taken_over();
  Name(taken->mutable_table());
  taken->set_first_write_id(1);
  taken->set_last_write_id(4);
  Name(AddEvent(message, v1::EVENT_KIND_TABLE_ADDED)->mutable_table_added()->mutable_table());
  auto* dropped = AddEvent(message, v1::EVENT_KIND_TABLE_DROPPED)->mutable_table_dropped();
  Name(dropped->mutable_table());
  dropped->set_txn_id(9);
  auto* properties =
      AddEvent(message, v1::EVENT_KIND_PROPERTIES_CHANGED)->mutable_properties_changed();
  Name(properties->mutable_table());
  (*properties->mutable_set())["a"] = "\x1b[31m1";
  properties->add_unset("b");
  auto* partitions = AddEvent(message, v1::EVENT_KIND_PARTITIONS_ADDED)->mutable_partitions_added();
  Name(partitions->mutable_table());
  partitions->add_partitions("p=1");
  partitions->add_partitions("p=2");
  auto* compaction =
      AddEvent(message, v1::EVENT_KIND_COMPACTION_CHANGED)->mutable_compaction_changed();
  compaction->set_compaction_id(5);
  Name(compaction->mutable_table());
  compaction->set_partition("p=1");
  compaction->set_type(v1::COMPACTION_TYPE_MAJOR);
  compaction->set_state(v1::COMPACTION_STATE_READY_FOR_CLEANING);
  message.mutable_revision()->set_seq(41);
  return message;
}

TEST(WatchEvents, PrintsALineForEachEvent) {
  ToolWorld world;
  world.told_events = {JsonOf(v1::WatchEventsResponse()), JsonOf(Everything())};
  EXPECT_EQ(world.Run({"watch", "events"}), kDone);
  const std::string time = "  2026-10-01 00:00:00Z  ";
  EXPECT_EQ(world.out,
            "41.1" + time + "transactions 7-9 opened\n" + "41.2" + time +
                "sales.orders write id 2 to transaction 7\n" + "41.3" + time +
                "transaction 7 committed: sales.orders write id 2 (insert p=1, update)\n" + "41.4" +
                time + "transaction 8 aborted (timeout): sales.orders\n" + "41.5" + time +
                "sales.orders write ids 1-4 taken over\n" + "41.6" + time +
                "sales.orders created\n" + "41.7" + time +
                "sales.orders dropped by transaction 9\n" + "41.8" + time +
                "sales.orders properties: a=\\x1b[31m1, b removed\n" + "41.9" + time +
                "sales.orders partitions added: p=1, p=2\n" + "41.10" + time +
                "compaction 5 (major of sales.orders/p=1) is ready_for_cleaning\n");
  EXPECT_EQ(world.err, "go on with --after 41\n");
  EXPECT_EQ(world.watched_endpoint, "unix:/run/skep/skepd.sock");
  EXPECT_THAT(world.watched, ElementsAre("{}"));
}

TEST(WatchEvents, PrintsJsonLines) {
  ToolWorld world;
  world.told_events = {JsonOf(Everything())};
  EXPECT_EQ(world.Run({"watch", "events", "--json", "--limit", "2"}), kDone);
  std::istringstream lines(world.out);
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(Number(Object(Json::parse(line), "revision"), "index"), ++count);
  }
  EXPECT_EQ(count, 2);
  EXPECT_EQ(world.err, "") << "enough was asked for";
}

TEST(WatchEvents, AsksForWhatTheLineSays) {
  ToolWorld world;
  EXPECT_EQ(world.Run({"watch",
                       "events",
                       "--after",
                       "41.3",
                       "--table",
                       "Sales.Orders",
                       "--table",
                       "mart",
                       "--endpoint",
                       "unix:/other"}),
            kDone);
  EXPECT_EQ(world.watched_endpoint, "unix:/other");
  ASSERT_EQ(world.watched.size(), 1u);
  v1::WatchEventsRequest request;
  ASSERT_TRUE(client::MessageFromJson(world.watched[0], "", &request).ok());
  EXPECT_EQ(request.after().seq(), 41);
  EXPECT_EQ(request.after().index(), 3);
  EXPECT_EQ(request.tables(0).table(), "orders");
  EXPECT_THAT(request.databases(), ElementsAre("mart"));
}

TEST(WatchEvents, RefusesWhatIsNoRevisionNoTableNoOutput) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--after", "yesterday"}, "is no revision"},
      {{"--after", "-1"}, "is no revision"},
      {{"--after", "4.x"}, "is no revision"},
      {{"--table", "sales.orders/p=1"}, "DB or DB.TABLE"},
      {{"-o", "csv"}, "lines for people"},
  };
  for (const auto& [arguments, text] : cases) {
    SCOPED_TRACE(text);
    ToolWorld world;
    std::vector<std::string> line = {"watch", "events"};
    line.insert(line.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(world.Run(line), kUsage);
    EXPECT_THAT(world.err, HasSubstr(text));
    EXPECT_TRUE(world.watched.empty());
  }
}

TEST(WatchEvents, SaysHowToGoOnWhereItBreaks) {
  ToolWorld world;
  v1::WatchEventsResponse progress;
  progress.mutable_revision()->set_seq(12);
  progress.mutable_revision()->set_index(2);
  world.told_events = {JsonOf(progress)};
  world.watch_end = absl::UnavailableError("the server went");
  EXPECT_EQ(world.Run({"watch", "events"}), kUnavailable);
  EXPECT_THAT(world.err, HasSubstr("go on with --after 12.2\n"));
}

TEST(WatchEvents, SaysWhatToDoWhereTheEventsAreGone) {
  ToolWorld world;
  world.watch_end = MakeError(ErrorReason::kWatchTooOld,
                              "the events after unit 3 are no longer kept",
                              {{"oldestRevision", "9"}});
  EXPECT_NE(world.Run({"watch", "events", "--after", "3"}), kDone);
  EXPECT_THAT(world.err, HasSubstr("no longer kept"));
}

}  // namespace
}  // namespace skep::cli

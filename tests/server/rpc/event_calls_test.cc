// Events through the wire.

#include <functional>

#include "tests/server/rpc/rpc_fixture.h"

namespace skep::rpc {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::IsEmpty;
using testing::IsOk;

// A call that watches. The first message has come when it is made.
class Watch {
 public:
  Watch(v1::EventService::StubInterface& stub, const v1::WatchEventsRequest& request)
      : reader_(WithDeadline(stub, request)) {
    v1::WatchEventsResponse first;
    begun_ = reader_->Read(&first);
    revision_ = first.revision();
    EXPECT_EQ(first.events_size(), 0);
  }
  ~Watch() {
    context_.TryCancel();
    if (!finished_) reader_->Finish();
  }

  bool begun() const { return begun_; }
  const v1::Revision& revision() const { return revision_; }
  // The next `count` events.
  std::vector<v1::Event> Read(size_t count) {
    std::vector<v1::Event> events;
    v1::WatchEventsResponse message;
    while (events.size() < count && reader_->Read(&message)) {
      events.insert(events.end(), message.events().begin(), message.events().end());
      revision_ = message.revision();
    }
    EXPECT_EQ(events.size(), count);
    return events;
  }
  // Reads until the end.
  absl::Status End() {
    v1::WatchEventsResponse message;
    while (reader_->Read(&message)) revision_ = message.revision();
    finished_ = true;
    return wire::FromGrpc(reader_->Finish());
  }

 private:
  std::unique_ptr<grpc::ClientReaderInterface<v1::WatchEventsResponse>> WithDeadline(
      v1::EventService::StubInterface& stub, const v1::WatchEventsRequest& request) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    return stub.WatchEvents(&context_, request);
  }

  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderInterface<v1::WatchEventsResponse>> reader_;
  bool begun_ = false;
  bool finished_ = false;
  v1::Revision revision_;
};

std::vector<v1::EventKind> KindsOf(const std::vector<v1::Event>& events) {
  std::vector<v1::EventKind> kinds;
  for (const v1::Event& event : events) kinds.push_back(event.kind());
  return kinds;
}

class EventCallsTest : public RpcFixture {
 protected:
  static v1::WatchEventsRequest After(const v1::Revision& revision) {
    v1::WatchEventsRequest request;
    *request.mutable_after() = revision;
    return request;
  }
  void SetProperty(const std::string& table, const std::string& value) {
    v1::SetTablePropertiesRequest request;
    request.mutable_name()->set_database("sales");
    request.mutable_name()->set_table(table);
    (*request.mutable_set())["note"] = value;
    v1::SetTablePropertiesResponse response;
    ASSERT_THAT(Call(&Tables::SetTableProperties, *tables_, request, &response), IsOk());
  }
};

// NTF-2
TEST_F(EventCallsTest, TellEverythingThatIsCommittedInOrder) {
  Watch watch(*events_, {});
  ASSERT_TRUE(watch.begun());
  CreateTable("orders");
  const int64_t txn = Write("orders", v1::WRITE_OPERATION_UPDATE);
  const int64_t lost = OpenTxn();
  ASSERT_THAT(Abort(lost), IsOk());
  const auto events = watch.Read(6);
  EXPECT_THAT(KindsOf(events),
              ElementsAre(v1::EVENT_KIND_TABLE_ADDED,
                          v1::EVENT_KIND_TRANSACTIONS_OPENED,
                          v1::EVENT_KIND_WRITE_IDS_ALLOCATED,
                          v1::EVENT_KIND_COMMITTED,
                          v1::EVENT_KIND_TRANSACTIONS_OPENED,
                          v1::EVENT_KIND_ABORTED));
  EXPECT_EQ(events[0].table_added().table().name().table(), "orders");
  EXPECT_EQ(events[1].opened().first_txn_id(), txn);
  EXPECT_EQ(events[2].write_ids_allocated().allocations(0).write_id(), 1);
  const auto& committed = events[3].committed();
  EXPECT_EQ(committed.txn_id(), txn);
  EXPECT_EQ(committed.type(), v1::TRANSACTION_TYPE_DEFAULT);
  ASSERT_EQ(committed.tables_size(), 1);
  EXPECT_EQ(committed.tables(0).table().name().database(), "sales");
  EXPECT_EQ(committed.tables(0).write_id(), 1);
  EXPECT_EQ(committed.tables(0).writes(0).operation(), v1::WRITE_OPERATION_UPDATE);
  EXPECT_EQ(events[5].aborted().txn_id(), lost);
  EXPECT_EQ(events[5].aborted().cause(), v1::ABORT_CAUSE_USER);
  int64_t before = 0;
  for (const v1::Event& event : events) {
    EXPECT_GT(event.revision().seq(), before);
    EXPECT_EQ(event.revision().index(), 1);
    EXPECT_TRUE(event.has_time());
    before = event.revision().seq();
  }
}

TEST_F(EventCallsTest, GoOnWithoutAGapAfterABreak) {
  v1::Revision seen;
  {
    Watch watch(*events_, {});
    OpenTxn();
    watch.Read(1);
    seen = watch.revision();
  }
  const int64_t missed = OpenTxn();
  Watch again(*events_, After(seen));
  const auto events = again.Read(1);
  EXPECT_EQ(events[0].opened().first_txn_id(), missed);
}

// NTF-6
TEST_F(EventCallsTest, GoOnOverARestartForWhoHadSeenEverything) {
  const int64_t txn = OpenTxn();
  v1::Revision lagging;
  v1::Revision seen;
  {
    Watch watch(*events_, {});
    lagging = watch.revision();
    ASSERT_THAT(Commit(txn), IsOk());
    watch.Read(1);
    seen = watch.revision();
    Stop();
    EXPECT_EQ(watch.End().code(), absl::StatusCode::kUnavailable);
  }
  Start();
  Watch late(*events_, After(lagging));
  EXPECT_FALSE(late.begun());
  const absl::Status old = late.End();
  EXPECT_THAT(old, HasReason(ErrorReason::kWatchTooOld));
  EXPECT_EQ(old.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(MetadataOf(old)["oldestRevision"], std::to_string(seen.seq()));

  Watch watch(*events_, After(seen));
  ASSERT_TRUE(watch.begun());
  const int64_t next = OpenTxn();
  EXPECT_EQ(watch.Read(1)[0].opened().first_txn_id(), next);
}

TEST_F(EventCallsTest, FilterByTableDatabaseAndKind) {
  v1::WatchEventsRequest table;
  table.add_tables()->set_database("Sales");
  table.mutable_tables(0)->set_table("ORDERS");
  v1::WatchEventsRequest database;
  database.add_databases("sales");
  database.add_kinds(v1::EVENT_KIND_COMMITTED);
  Watch of_table(*events_, table);
  Watch of_database(*events_, database);
  CreateTable("orders");
  CreateTable("items");
  Write("items", v1::WRITE_OPERATION_INSERT);
  Write("orders", v1::WRITE_OPERATION_INSERT);
  EXPECT_THAT(KindsOf(of_table.Read(3)),
              ElementsAre(v1::EVENT_KIND_TABLE_ADDED,
                          v1::EVENT_KIND_WRITE_IDS_ALLOCATED,
                          v1::EVENT_KIND_COMMITTED));
  const auto commits = of_database.Read(2);
  EXPECT_EQ(commits[0].committed().tables(0).table().name().table(), "items");
  EXPECT_EQ(commits[1].committed().tables(0).table().name().table(), "orders");
}

TEST_F(EventCallsTest, RefuseARevisionOfTheFuture) {
  v1::Revision future;
  future.set_seq(1000);
  Watch watch(*events_, After(future));
  EXPECT_FALSE(watch.begun());
  EXPECT_THAT(watch.End(), HasReason(ErrorReason::kInvalidRequest));
}

TEST_F(EventCallsTest, CutAWatcherThatDoesNotReadAndNobodyElse) {
  Stop();
  event_options_.log.max_events = 20;
  Start();
  CreateTable("orders");
  Watch slow(*events_, {});
  ASSERT_TRUE(slow.begun());
  // Far more than what the transport takes from a server for a client that does not read.
  const std::string large(60'000, 'x');
  for (int i = 0; i < 200; ++i) SetProperty("orders", std::to_string(i) + large);
  Watch good(*events_, {});
  ASSERT_TRUE(good.begun());
  SetProperty("orders", "the end");
  EXPECT_EQ(good.Read(1)[0].properties_changed().set().at("note"), "the end");
  OnLoop([this] {
    const loop::EventLog& log = event_service_->log();
    EXPECT_LE(log.end() - log.begin(), 20) << "what it did not read is not kept for it";
    EXPECT_LT(log.bytes(), 21 * 61'000);
  });
  EXPECT_THAT(slow.End(), HasReason(ErrorReason::kOverloaded));
}

}  // namespace
}  // namespace skep::rpc

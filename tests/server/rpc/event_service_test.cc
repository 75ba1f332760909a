// Watchers of events over streams that are driven by hand: places, bounds, slow ones.

#include "server/rpc/event_service.h"

#include "storage/model/errors.h"
#include "tests/server/rpc/watcher_stream.h"

namespace skep::rpc {
namespace {

using testing::HasReason;
using testing::StatusIs;
using Watch = WatcherStream<v1::WatchEventsResponse>;

class EventServiceTest : public StreamFixture {
 protected:
  EventServiceTest() {
    options_.log.max_events = 100;
    Serve();
  }
  ~EventServiceTest() override { service_.reset(); }

  void Serve() { service_ = std::make_unique<EventService>(options_, *core_); }

  std::unique_ptr<Watch> Start(const v1::WatchEventsRequest& request = {}) {
    auto stream = std::make_unique<Watch>();
    service_->Message(*stream, request.SerializeAsString());
    return stream;
  }
  std::unique_ptr<Watch> StartAfter(int64_t seq, int32_t index = 0) {
    v1::WatchEventsRequest request;
    request.mutable_after()->set_seq(seq);
    request.mutable_after()->set_index(index);
    return Start(request);
  }
  void Gather() { executor_.Advance(options_.gather); }

  EventService::Options options_;
  std::unique_ptr<EventService> service_;
};

TEST_F(EventServiceTest, TellsWhereItBeginsAndThenWhatHappens) {
  OpenTxn();
  const auto watch = Start();
  auto told = watch->Take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].events_size(), 0);
  EXPECT_EQ(told[0].revision().seq(), 1);
  const TxnId txn = OpenTxn(2);
  Commit(txn);
  EXPECT_TRUE(watch->Take().empty()) << "a commit waits for no watcher";
  Gather();
  told = watch->Take();
  ASSERT_EQ(told.size(), 1u);
  ASSERT_EQ(told[0].events_size(), 2);
  EXPECT_EQ(told[0].events(0).kind(), v1::EVENT_KIND_TRANSACTIONS_OPENED);
  EXPECT_EQ(told[0].events(0).opened().last_txn_id(), 3);
  EXPECT_EQ(told[0].events(1).kind(), v1::EVENT_KIND_COMMITTED);
  EXPECT_EQ(told[0].events(1).committed().txn_id(), txn.value());
  EXPECT_EQ(told[0].events(1).revision().seq(), 3);
  EXPECT_EQ(told[0].events(1).revision().index(), 1);
  EXPECT_EQ(told[0].revision().seq(), 3);
  EXPECT_EQ(told[0].revision().index(), 0);
}

// A client that keeps what it was told last never goes back behind what it has seen.
TEST_F(EventServiceTest, BeginsAtTheRevisionThatItIsAskedToGoOnFrom) {
  OpenTxn();
  const TxnId reader = OpenTxn(1, TxnType::kReadOnly);  // a unit that nobody is told of
  ASSERT_EQ(reader.value(), 2);
  OpenTxn();
  const auto watch = StartAfter(2);
  Gather();
  const auto told = watch->Take();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].revision().seq(), 2);
  ASSERT_EQ(told[1].events_size(), 1);
  EXPECT_EQ(told[1].events(0).opened().first_txn_id(), 3);
  service_->Closed(*watch);
}

TEST_F(EventServiceTest, GoesOnAfterEveryRevision) {
  for (int i = 0; i < 3; ++i) OpenTxn();
  for (int64_t seq = 0; seq <= 3; ++seq) {
    const auto watch = StartAfter(seq);
    Gather();
    const auto told = watch->Take();
    ASSERT_EQ(told.size(), seq == 3 ? 1u : 2u);
    EXPECT_EQ(told[0].revision().seq(), seq);
    if (seq == 3) continue;
    EXPECT_EQ(told[1].events_size(), 3 - seq);
    EXPECT_EQ(told[1].events(0).revision().seq(), seq + 1);
    service_->Closed(*watch);
  }
}

TEST_F(EventServiceTest, RefusesPlacesThatItDoesNotHave) {
  OpenTxn();
  EXPECT_THAT(*StartAfter(7)->finished, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(*StartAfter(-1)->finished, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(*StartAfter(1, -1)->finished, HasReason(ErrorReason::kInvalidRequest));
  for (int i = 0; i < 200; ++i) OpenTxn();
  const absl::Status old = *StartAfter(3)->finished;
  EXPECT_THAT(old, HasReason(ErrorReason::kWatchTooOld));
  EXPECT_EQ(MetadataOf(old)["oldestRevision"], "101");
  EXPECT_FALSE(StartAfter(101)->finished.has_value());
  EXPECT_EQ(service_->watchers(), 1u);
}

TEST_F(EventServiceTest, BeginsAfterARestartWhereTheStoreIs) {
  OpenTxn();
  OpenTxn();
  service_.reset();
  Open();
  Serve();
  const auto seen = StartAfter(2);
  EXPECT_FALSE(seen->finished.has_value()) << "who had seen everything goes on";
  const auto lagging = StartAfter(1);
  EXPECT_THAT(lagging->finished.value_or(absl::OkStatus()), HasReason(ErrorReason::kWatchTooOld));
}

TEST_F(EventServiceTest, LeavesOutWhatWasNotAskedFor) {
  v1::WatchEventsRequest request;
  request.add_kinds(v1::EVENT_KIND_COMMITTED);
  const auto watch = Start(request);
  watch->Take();
  const TxnId txn = OpenTxn();
  OpenTxn();
  Gather();
  EXPECT_TRUE(watch->Take().empty());
  Commit(txn);
  OpenTxn();
  Gather();
  const auto told = watch->Take();
  ASSERT_EQ(told.size(), 1u);
  ASSERT_EQ(told[0].events_size(), 1);
  EXPECT_EQ(told[0].events(0).kind(), v1::EVENT_KIND_COMMITTED);
  EXPECT_EQ(told[0].revision().seq(), 4) << "what was left out is seen too";
}

TEST_F(EventServiceTest, RefusesAFilterThatIsNone) {
  v1::WatchEventsRequest request;
  request.add_kinds(v1::EVENT_KIND_UNSPECIFIED);
  EXPECT_THAT(*Start(request)->finished, HasReason(ErrorReason::kInvalidRequest));
  request.set_kinds(0, static_cast<v1::EventKind>(99));
  EXPECT_THAT(*Start(request)->finished, HasReason(ErrorReason::kInvalidRequest));
  request.clear_kinds();
  request.add_tables()->set_database("no name");
  EXPECT_THAT(*Start(request)->finished, HasReason(ErrorReason::kInvalidRequest));
  request.clear_tables();
  request.add_databases("a.b");
  EXPECT_THAT(*Start(request)->finished, HasReason(ErrorReason::kInvalidRequest));
  Watch garbled;
  service_->Message(garbled, "\xff\xff");
  EXPECT_THAT(*garbled.finished, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_EQ(service_->watchers(), 0u);
}

TEST_F(EventServiceTest, WaitsForAWatcherThatReadsLate) {
  const auto watch = Start();
  watch->Take();
  watch->stuck = true;
  for (int i = 0; i < 10; ++i) {
    OpenTxn();
    Gather();
  }
  EXPECT_EQ(watch->Take().size(), 1u) << "one message is on its way, no more";
  watch->Unstick(*service_);
  const auto told = watch->Take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].events_size(), 9);
}

TEST_F(EventServiceTest, CutsAWatcherThatDoesNotRead) {
  const auto slow = Start();
  const auto good = Start();
  slow->stuck = true;
  for (int i = 0; i < 150; ++i) {
    OpenTxn();
    Gather();
  }
  ASSERT_TRUE(slow->finished.has_value());
  EXPECT_THAT(*slow->finished, HasReason(ErrorReason::kOverloaded));
  EXPECT_EQ(MetadataOf(*slow->finished)["oldestRevision"], "2")
      << "as soon as what comes next for it is gone";
  EXPECT_FALSE(good->finished.has_value());
  EXPECT_EQ(good->Take().size(), 151u);
  EXPECT_FALSE(slow->cut);
  executor_.Advance(options_.last_words);
  EXPECT_TRUE(slow->cut) << "it does not even read why";
  service_->Closed(*slow);
  EXPECT_EQ(service_->watchers(), 1u);
}

TEST_F(EventServiceTest, ForgetsAWatcherThatLeaves) {
  const auto watch = Start();
  watch->stuck = true;
  for (int i = 0; i < 150; ++i) {
    OpenTxn();
    Gather();
  }
  ASSERT_TRUE(watch->finished.has_value());
  service_->Closed(*watch);
  executor_.Advance(options_.last_words);
  EXPECT_FALSE(watch->cut);
}

TEST_F(EventServiceTest, HasABoundForWatchers) {
  service_.reset();
  options_.max_watchers = 2;
  Serve();
  const auto first = Start();
  const auto second = Start();
  const auto third = Start();
  EXPECT_THAT(*third->finished, HasReason(ErrorReason::kOverloaded));
  EXPECT_EQ(MetadataOf(*third->finished)["limit"], "2");
  service_->Closed(*first);
  EXPECT_FALSE(Start()->finished.has_value());
}

TEST_F(EventServiceTest, GivesSignsOfLife) {
  const auto watch = Start();
  watch->Take();
  executor_.Advance(options_.sign_of_life);
  auto told = watch->Take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].events_size(), 0);
  EXPECT_EQ(told[0].revision().seq(), 0);
  OpenTxn();
  Gather();
  EXPECT_EQ(watch->Take().size(), 1u);
  executor_.Advance(options_.sign_of_life);
  EXPECT_LE(watch->Take().size(), 1u);
  watch->stuck = true;
  executor_.Advance(options_.sign_of_life * 5);
  EXPECT_LE(watch->Take().size(), 1u) << "none for who does not read";
}

TEST_F(EventServiceTest, SplitsALongTailIntoMessages) {
  service_.reset();
  options_.max_events_per_message = 7;
  Serve();
  for (int i = 0; i < 30; ++i) OpenTxn();
  const auto watch = StartAfter(core_->state().Summary({}).seq.value() - 30);
  Gather();
  for (int i = 0; i < 10; ++i) service_->Writable(*watch);
  const auto told = watch->Take();
  ASSERT_EQ(told.size(), 6u);
  int64_t seen = told[0].revision().seq();
  for (const auto& message : told) {
    EXPECT_LE(message.events_size(), 7);
    for (const auto& event : message.events()) EXPECT_EQ(event.revision().seq(), ++seen);
  }
}

}  // namespace
}  // namespace skep::rpc

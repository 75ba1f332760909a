// Lists that a session has are asked for by what changed since.

#include "client/session/list_cache.h"

#include "client/session/transaction_core.h"
#include "tests/client/session/stream_world.h"

namespace skep::client {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using testing::IsOk;
using ::testing::SizeIs;

const TableName kOrders{"sales", "orders"};

v1::WriteIdList Answer(int64_t version, int64_t high, int count) {
  v1::WriteIdList answer;
  answer.mutable_table()->set_database("sales");
  answer.mutable_table()->set_table("orders");
  answer.set_table_id(3);
  answer.set_version(version);
  answer.set_high_watermark(high);
  for (int id = 1; id <= count; ++id) answer.add_open(id);
  return answer;
}
v1::GetValidWriteIdsRequest Question() {
  v1::GetValidWriteIdsRequest request;
  request.add_tables()->set_database("sales");
  request.mutable_tables(0)->set_table("orders");
  return request;
}

TEST(ListCache, FollowsTheListThatItNamedWhateverCameBetween) {
  ListCache cache;
  v1::GetValidWriteIdsRequest request = Question();
  EXPECT_THAT(cache.Name(request), SizeIs(0));
  ASSERT_THAT(cache.Read(Answer(5, 100, 40), {}), IsOk());
  const ListCache::Named named = cache.Name(request);
  ASSERT_EQ(request.known_size(), 1);
  EXPECT_EQ(request.known(0).table_id(), 3);
  EXPECT_EQ(request.known(0).version(), 5);
  ASSERT_THAT(cache.Read(Answer(7, 120, 30), {}), IsOk());  // another thread's
  v1::WriteIdList answer = Answer(6, 110, 0);
  answer.mutable_change()->set_since_version(5);
  answer.mutable_change()->add_closed(40);
  answer.mutable_change()->add_opened(105);
  const auto list = cache.Read(answer, named);
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(list->ids.high, 110);
  EXPECT_THAT(list->ids.open, SizeIs(40));
  EXPECT_TRUE(list->ids.IsValid(40));
  EXPECT_FALSE(list->ids.IsValid(105));
  v1::GetValidWriteIdsRequest next = Question();
  cache.Name(next);
  EXPECT_EQ(next.known(0).version(), 7) << "the newest stays";
}

TEST(ListCache, RefusesAChangeOfWhatItDidNotName) {
  ListCache cache;
  ASSERT_THAT(cache.Read(Answer(5, 100, 40), {}), IsOk());
  v1::GetValidWriteIdsRequest request = Question();
  const ListCache::Named named = cache.Name(request);
  v1::WriteIdList answer = Answer(6, 110, 0);
  answer.mutable_change()->set_since_version(4);
  EXPECT_THAT(cache.Read(answer, named), HasReason(ErrorReason::kInternal));
  answer.mutable_change()->set_since_version(5);
  EXPECT_THAT(cache.Read(answer, {}), HasReason(ErrorReason::kInternal));
  answer.mutable_change()->add_closed(99);  // was not open
  EXPECT_THAT(cache.Read(answer, named), HasReason(ErrorReason::kInvalidRequest));
}

TEST(ListCache, KeepsNoShortListsAndNoneWithoutAVersion) {
  ListCache cache;
  ASSERT_THAT(cache.Read(Answer(5, 100, 3), {}), IsOk());
  ASSERT_THAT(cache.Read(Answer(0, 100, 40), {}), IsOk());
  v1::GetValidWriteIdsRequest request = Question();
  EXPECT_THAT(cache.Name(request), SizeIs(0));
}

TEST(ListCache, OfATableThatWasMadeAnewIsAnothers) {
  ListCache cache;
  ASSERT_THAT(cache.Read(Answer(9, 100, 40), {}), IsOk());
  v1::WriteIdList other = Answer(8, 60, 30);
  other.set_table_id(4);
  ASSERT_THAT(cache.Read(other, {}), IsOk());
  v1::GetValidWriteIdsRequest request = Question();
  cache.Name(request);
  EXPECT_EQ(request.known(0).table_id(), 4);
}

// Against a real server: whichever way a list came, it is the one that a stranger gets.
TEST(Lists, AreTheSameWhetherWholeOrAsAChange) {
  StreamWorld world;
  world.CreateTable("orders");
  auto session = world.NewSession();
  std::vector<std::unique_ptr<Transaction>> writers;
  int64_t changes = 0;
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    for (int i = 0; i < 20; ++i) {
      auto writer = session->Begin();
      ASSERT_THAT(writer, IsOk());
      const auto write = (*writer)->core()->BeginWrite(kOrders, WriteOp::kInsert);
      ASSERT_THAT(write, IsOk());
      ASSERT_THAT((*writer)->core()->EndWrite(*write, TransactionCore::Wrote::kNothing), IsOk());
      writers.push_back(*std::move(writer));
    }
    for (int i = 0; i < 10; ++i) {
      const size_t at = world.random.NextUint64() % writers.size();
      EXPECT_THAT(i % 3 == 0 ? writers[at]->Abort() : writers[at]->Commit(), IsOk());
      writers.erase(writers.begin() + static_cast<int64_t>(at));
    }
    v1::GetValidWriteIdsRequest probe = Question();
    changes += static_cast<int64_t>(session->impl().lists().Name(probe).size());
    auto reader = session->Begin();
    const auto list = (*reader)->core()->GetValidWriteIds(kOrders);
    ASSERT_THAT(list, IsOk());
    auto stranger = world.NewSession();
    auto other = stranger->Begin();
    const auto whole = (*other)->core()->GetValidWriteIds(kOrders);
    ASSERT_THAT(whole, IsOk());
    EXPECT_EQ(list->ids, whole->ids);
    const auto txns = (*reader)->core()->GetTxnSnapshot();
    ASSERT_THAT(txns, IsOk());
    EXPECT_TRUE(txns->IsVisible((*reader)->id()));
    const auto later = (*other)->core()->GetTxnSnapshot();
    ASSERT_THAT(later, IsOk());
    EXPECT_EQ(txns->ids.aborted, later->ids.aborted);
  }
  EXPECT_GE(changes, 10) << "lists were asked for by version";
}

}  // namespace
}  // namespace skep::client

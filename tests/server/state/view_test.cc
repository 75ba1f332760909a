#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/state/state.h"
#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::testing::ElementsAre;

CreateTable Orders() {
  CreateTable command;
  command.name = T("orders");
  command.location = "/w/orders";
  command.schema.columns = {{"id", HiveType{}, ""}};
  return command;
}

TEST(View, ShowsTheNewestPublishedUnitAndPinsNothing) {
  Server server;
  auto info = server.Do([](State& s, Now now, Unit& u) { return s.Create(Orders(), now, u); });
  ASSERT_THAT(info, IsOk());
  auto opened = server.Do([](State& s, Now now, Unit& u) { return s.Open({}, now, u); });
  ASSERT_THAT(opened, IsOk());
  const TxnId txn = opened->first;
  ASSERT_THAT(server.Do([&](State& s, Now now, Unit& u) {
    return s.Allocate({T("orders"), {txn}}, now, u);
  }),
              IsOk());
  const TableId id = info->row.id;

  auto open = server.state().View(id);
  ASSERT_THAT(open, IsOk());
  EXPECT_EQ(open->table.name, T("orders"));
  EXPECT_EQ(open->write_ids.ids.high, 1);
  EXPECT_THAT(open->write_ids.ids.open, ElementsAre(1));
  EXPECT_THAT(open->txns.ids.open, ElementsAre(txn.value()));
  EXPECT_EQ(open->write_ids.seq, open->txns.seq);

  Unit unit = server.state().Begin();
  ASSERT_THAT(server.state().Commit({txn, {}}, {}, unit), IsOk());
  EXPECT_THAT(server.state().View(id)->write_ids.ids.open, ElementsAre(1)) << "not published yet";
  server.Finish(unit);
  EXPECT_TRUE(server.state().View(id)->write_ids.ids.open.empty());
}

TEST(View, KnowsNoTableThatIsNotPublished) {
  Server server;
  EXPECT_THAT(server.state().View(TableId(7)), HasReason(ErrorReason::kNoSuchTable));
  Unit unit = server.state().Begin();
  auto info = server.state().Create(Orders(), {}, unit);
  ASSERT_THAT(info, IsOk());
  EXPECT_THAT(server.state().View(info->row.id), HasReason(ErrorReason::kNoSuchTable));
  server.Finish(unit);
  EXPECT_THAT(server.state().View(info->row.id), IsOk());
}

}  // namespace
}  // namespace skep::state

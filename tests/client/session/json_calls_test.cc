#include "client/session/json_calls.h"

#include <nlohmann/json.hpp>

#include "tests/client/session/fakes.h"
#include "tests/testing/status_matchers.h"

#include "proto/skep/v1/admin_service.pb.h"

namespace skep::client {

template <>
struct Rpc<v1::ListTransactionsRequest> {
  using Response = v1::ListTransactionsResponse;
  static constexpr char kMethod[] = "/skep.v1.TransactionService/ListTransactions";
};
template <>
struct Rpc<v1::GetStatusRequest> {
  using Response = v1::GetStatusResponse;
  static constexpr char kMethod[] = "/skep.v1.AdminService/GetStatus";
};

namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::testing::HasSubstr;
using Json = nlohmann::json;
using List = v1::ListTransactionsRequest;

struct JsonWorld : World {
  JsonWorld() : session(NewSession()), json(session->impl()) {}

  // 2 500 transactions, served in pages of the size asked for, capped at 1 000.
  void ServePages() {
    server.On<List>([](const List& request, v1::ListTransactionsResponse& answer) {
      const int64_t first = request.page_token().empty() ? 1 : std::stoll(request.page_token());
      const int64_t end = std::min<int64_t>(first + std::min(request.page_size(), 1000), 2501);
      for (int64_t id = first; id < end; ++id) answer.add_transactions()->set_txn_id(id);
      if (end <= 2500) answer.set_next_page_token(std::to_string(end));
      return Ok();
    });
  }

  std::unique_ptr<Session> session;
  JsonCalls json;
};

TEST(JsonCalls, ShowAllFieldsOfAReply) {
  JsonWorld world;
  world.server.On<v1::GetStatusRequest>([](const auto&, auto& answer) {
    answer.set_version("0.1");
    answer.set_commit_seq(12345678901);
    answer.mutable_start_time()->set_seconds(1790812800);
    return Ok();
  });
  SKEP_ASSERT_OK_AND_ASSIGN(std::string text, world.json.Call("AdminService.GetStatus", "{}"));
  Json reply = Json::parse(text);
  EXPECT_EQ(reply["version"], "0.1");
  EXPECT_EQ(reply["commitSeq"], "12345678901");
  EXPECT_EQ(reply["startTime"], "2026-10-01T00:00:00Z");
  EXPECT_EQ(reply["tableCount"], "0");
  EXPECT_EQ(reply["draining"], false);
  EXPECT_FALSE(reply.contains("oldestOpenTransaction"));
}

TEST(JsonCalls, JoinAllPages) {
  JsonWorld world;
  world.ServePages();
  SKEP_ASSERT_OK_AND_ASSIGN(
      std::string text,
      world.json.List("TransactionService.ListTransactions", R"({"user":"ann"})", 0));
  Json reply = Json::parse(text);
  ASSERT_EQ(reply["transactions"].size(), 2500u);
  EXPECT_EQ(reply["transactions"][2499]["txnId"], "2500");
  EXPECT_EQ(reply["nextPageToken"], "");
  EXPECT_EQ(world.server.RequestsOf<List>().size(), 3u);
  for (const List& request : world.server.RequestsOf<List>()) EXPECT_EQ(request.user(), "ann");
}

TEST(JsonCalls, StopAtTheLimit) {
  struct Case {
    int64_t limit;
    size_t shown;
    size_t calls;
    bool more;
  };
  const Case cases[] = {
      {5, 5, 1, true}, {1000, 1000, 1, true}, {1001, 1001, 2, true}, {9000, 2500, 3, false}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.limit);
    JsonWorld world;
    world.ServePages();
    SKEP_ASSERT_OK_AND_ASSIGN(
        std::string text, world.json.List("TransactionService.ListTransactions", "{}", c.limit));
    Json reply = Json::parse(text);
    EXPECT_EQ(reply["transactions"].size(), c.shown);
    EXPECT_EQ(reply["nextPageToken"] != "", c.more);
    EXPECT_EQ(world.server.seen.size(), c.calls);
  }
}

TEST(JsonCalls, GiveCreatingCallsARequestId) {
  JsonWorld world;
  EXPECT_THAT(
      world.json.Call("CompactionService.EnqueueCompaction", R"({"type":"COMPACTION_TYPE_MAJOR"})"),
      testing::IsOk());
  v1::EnqueueCompactionRequest sent = world.server.RequestsOf<v1::EnqueueCompactionRequest>().at(0);
  EXPECT_EQ(sent.type(), v1::COMPACTION_TYPE_MAJOR);
  EXPECT_EQ(sent.request_id().size(), 16u);
}

TEST(JsonCalls, RefuseWhatDoesNotExist) {
  JsonWorld world;
  EXPECT_THAT(world.json.Call("AdminService.Nothing", "{}"),
              HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(world.json.Call("GetStatus", "{}"), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(world.json.Call("AdminService.GetStatus", R"({"x":1})"), HasMessage(HasSubstr("x")));
  EXPECT_THAT(world.json.Call("AdminService.GetStatus", "{"),
              HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(world.json.List("AdminService.GetStatus", "{}", 0),
              HasMessage(HasSubstr("no pages")));
  EXPECT_TRUE(world.server.seen.empty());
}

TEST(JsonCalls, PassRefusalsOn) {
  JsonWorld world;
  world.server.On<List>([](const auto&, auto&) { return Refuse(ErrorReason::kNoSuchTable); });
  EXPECT_THAT(world.json.List("TransactionService.ListTransactions", "{}", 0),
              HasReason(ErrorReason::kNoSuchTable));
}

}  // namespace
}  // namespace skep::client

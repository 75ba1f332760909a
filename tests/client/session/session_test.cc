#include "skep/session.h"

#include <set>

#include "client/session/transaction_core.h"
#include "skep/errors.h"
#include "tests/client/session/fakes.h"
#include "tests/testing/status_matchers.h"

namespace skep::client {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(Session, CreatesATable) {
  World world;
  world.server.On<v1::CreateTableRequest>([](const auto& request, auto& answer) {
    v1::Table& table = *answer.mutable_table();
    table.set_table_id(4);
    *table.mutable_name() = request.name();
    table.set_kind(v1::TABLE_KIND_FULL_ACID);
    table.set_format(request.format());
    table.set_location("/w/sales.db/orders");
    *table.mutable_columns() = request.columns();
    *table.mutable_partition_columns() = request.partition_columns();
    *table.mutable_properties() = request.properties();
    return Ok();
  });
  auto session = world.NewSession();
  TableSpec spec;
  spec.name = {"sales", "orders"};
  spec.columns = {{"order_id", "bigint", ""}, {"amount", "decimal(12,2)", "net"}};
  spec.partition_columns = {{"order_date", "date", ""}};
  spec.properties = {{"orc.compress", "ZSTD"}};
  SKEP_ASSERT_OK_AND_ASSIGN(TableDescription table, session->CreateTable(spec));
  EXPECT_EQ(table.id, TableId(4));
  EXPECT_EQ(table.name.ToString(), "sales.orders");
  EXPECT_EQ(table.kind, "FULL_ACID");
  EXPECT_EQ(table.format, "orc");
  EXPECT_EQ(table.location, "/w/sales.db/orders");
  ASSERT_EQ(table.columns.size(), 2u);
  EXPECT_EQ(table.columns[1].type, "decimal(12,2)");
  EXPECT_EQ(table.columns[1].comment, "net");
  EXPECT_EQ(table.partition_columns.at(0).name, "order_date");
  EXPECT_THAT(table.properties, UnorderedElementsAre(Pair("orc.compress", "ZSTD")));
  EXPECT_EQ(world.server.RequestsOf<v1::CreateTableRequest>()[0].request_id().size(), 16u);
}

TEST(Session, SendsNoTextThatIsNotUtf8) {
  World world;
  auto session = world.NewSession();
  TableSpec spec;
  spec.name = {"d", "t"};
  spec.columns = {{"a", "int", "\xC3"}};
  EXPECT_THAT(session->CreateTable(spec), HasReason(ErrorReason::kInvalidRequest));
  spec.columns = {{"a", "int", ""}};
  spec.location = "/\xFF";
  EXPECT_THAT(session->CreateTable(spec), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_TRUE(world.server.seen.empty());
}

TEST(Session, DoesNotCreateATableAnewWhenTheFirstAttemptIsForgotten) {
  World world;
  world.server.Next<v1::CreateTableRequest>({Fate::kAnswerLost});
  world.server.On<v1::CreateTableRequest>([](const auto& request, auto&) {
    return request.repeat() ? Refuse(ErrorReason::kRequestIdExpired) : Ok();
  });
  auto session = world.NewSession();
  TableSpec spec;
  spec.name = {"d", "t"};
  spec.columns = {{"a", "int", ""}};
  EXPECT_THAT(session->CreateTable(spec), HasReason(ErrorReason::kRequestIdExpired));
  EXPECT_EQ(world.server.seen.size(), 2u);
}

TEST(Session, WaitsForACompactionToBeDecided) {
  World world;
  int asked = 0;
  world.server.On<v1::GetCompactionRequest>([&asked](const auto& request, auto& answer) {
    answer.mutable_compaction()->set_compaction_id(request.compaction_id());
    answer.mutable_compaction()->set_state(++asked < 6 ? v1::COMPACTION_STATE_WORKING
                                                       : v1::COMPACTION_STATE_READY_FOR_CLEANING);
    return Ok();
  });
  auto session = world.NewSession();
  const MonoTime start = world.clock.MonoNow();
  SKEP_ASSERT_OK_AND_ASSIGN(CompactionStatus late,
                            session->WaitForCompaction(CompactionId(3), milliseconds(500)));
  EXPECT_EQ(late.state, CompactionStatus::State::kWorking);
  EXPECT_FALSE(late.decided());
  EXPECT_EQ(world.clock.MonoNow() - start, milliseconds(500));
  SKEP_ASSERT_OK_AND_ASSIGN(CompactionStatus done,
                            session->WaitForCompaction(CompactionId(3), seconds(60)));
  EXPECT_EQ(done.state, CompactionStatus::State::kReadyForCleaning);
  EXPECT_TRUE(done.decided());
  EXPECT_EQ(asked, 6);
}

TEST(Session, EnqueuesACompaction) {
  World world;
  world.server.On<v1::EnqueueCompactionRequest>([](const auto& request, auto& answer) {
    EXPECT_EQ(request.partition(), "p=1");
    EXPECT_EQ(request.type(), v1::COMPACTION_TYPE_MINOR);
    EXPECT_EQ(request.initiator(), "host1");
    answer.set_compaction_id(9);
    answer.set_message("queued already");
    return Ok();
  });
  auto session = world.NewSession();
  SKEP_ASSERT_OK_AND_ASSIGN(
      EnqueuedCompaction enqueued,
      session->EnqueueCompaction(
          {.table = {"d", "t"}, .partition = "p=1", .kind = CompactionKind::kMinor}));
  EXPECT_EQ(enqueued.id, CompactionId(9));
  EXPECT_FALSE(enqueued.accepted);
  EXPECT_EQ(enqueued.message, "queued already");
}

// Whatever is asked, nobody waits for ever.
TEST(Session, GivesEachCallADeadline) {
  World world;
  auto session = world.NewSession();
  TableSpec spec;
  spec.name = {"d", "t"};
  spec.columns = {{"a", "int", ""}};
  session->CreateTable(spec).IgnoreError();
  session->GetTable({"d", "t"}).IgnoreError();
  session->EnqueueCompaction({{"d", "t"}, "", CompactionKind::kMajor}).IgnoreError();
  session->GetCompaction(CompactionId(1)).IgnoreError();
  auto txn = world.Begin(*session);
  txn->Lock({{"d", "t", "", LockMode::kExclWrite}}).IgnoreError();
  txn->Lock({{"d", "t", "", LockMode::kExclWrite}}, {.wait = milliseconds(0)}).IgnoreError();
  txn->RefreshSnapshot().IgnoreError();
  auto core = txn->core();
  core->GetTable({"d", "t"}).IgnoreError();
  core->ListPartitions({"d", "t"}).IgnoreError();
  core->GetValidWriteIds({"d", "t"}).IgnoreError();
  core->GetTxnSnapshot().IgnoreError();
  auto write = core->BeginWrite({"d", "t"}, WriteOp::kInsert);
  ASSERT_TRUE(write.ok()) << write.status();
  core->DeclarePartitions(*write, {"p=1"}).IgnoreError();
  txn->DropTable({"d", "u"}).IgnoreError();
  world.executor.RunFor(seconds(15));  // a beat
  txn->QueryOutcome().IgnoreError();
  txn->Abort().IgnoreError();
  world.Begin(*session)->Commit().IgnoreError();
  std::set<std::string> methods;
  for (const FakeServer::Seen& call : world.server.seen) {
    SCOPED_TRACE(call.method);
    methods.insert(call.method);
    const auto longest = call.method == Rpc<v1::AcquireLocksRequest>::kMethod
                             ? world.options.lock_deadline
                             : world.options.call_deadline;
    EXPECT_GT(call.deadline, call.time);
    EXPECT_LE(call.deadline, call.time + longest);
  }
  EXPECT_GE(methods.size(), 15u);
}

TEST(Errors, SayWhatToDoNext) {
  struct Case {
    absl::Status status;
    bool new_transaction;
    bool retry;
  };
  const Case cases[] = {
      {MakeError(ErrorReason::kWriteConflict, "x"), true, false},
      {MakeError(ErrorReason::kTxnAborted, "x"), true, false},
      {MakeError(ErrorReason::kSnapshotTooOld, "x"), true, false},
      {MakeError(ErrorReason::kNotEnoughHistory, "x"), true, false},
      {MakeError(ErrorReason::kOutcomeUnknown, "x"), false, false},
      {MakeError(ErrorReason::kStoreBusy, "x"), false, true},
      {MakeError(ErrorReason::kOverloaded, "x"), false, true},
      {absl::UnavailableError("x"), false, true},
      {absl::DeadlineExceededError("x"), false, true},
      {MakeError(ErrorReason::kNoSuchTable, "x"), false, false},
      {absl::OkStatus(), false, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.status.ToString());
    EXPECT_EQ(IsWorthANewTransaction(c.status), c.new_transaction);
    EXPECT_EQ(IsWorthARetry(c.status), c.retry);
  }
}

}  // namespace
}  // namespace skep::client

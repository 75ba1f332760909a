// Requests that cannot be right, through gRPC to the running daemon: labels, limits, enumerations,
// request ids, operations that a transaction or a table does not take.

#include <filesystem>

#include "skep/table_writer.h"
#include "tests/e2e/bad_input.h"
#include "tests/testing/status_matchers.h"

namespace skep::e2e {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;

constexpr char kFull[] = R"({"database":"d","table":"full"})";

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }
std::string Many(int count, const std::string& item) {
  std::string list = item;
  for (int i = 1; i < count; ++i) list += "," + item;
  return "[" + list + "]";
}

TEST_F(BadInputTest, LabelsAndLimits) {
  const std::string open = "TransactionService.OpenTransactions";
  const std::string lock = "LockService.AcquireLocks";
  const std::string read =
      R"("components":[{"resource":{"database":"d"},"kind":"LOCK_KIND_SHARED_READ"}])";
  const std::string component = R"({"resource":{"database":"d"},"kind":"LOCK_KIND_SHARED_READ"})";
  const std::string create =
      R"({"name":{"database":"d","table":"n"},"columns":[{"name":"a","type":"int"}],)";
  const std::string enqueue = std::string(R"({"table":)") + kFull + R"(,"partition":"p=1",)";
  const auto bad = ErrorReason::kInvalidRequest;
  for (const std::string& text : {std::string("a\\nb"),
                                  std::string("\\u001b[2J"),
                                  std::string("\\u0000"),
                                  std::string(70'000, 'x')}) {
    const std::string value = Quoted(text);
    for (const Refused& call : std::vector<Refused>{
             {"user", open, R"({"user":)" + value + "}", bad, "field"},
             {"host", open, R"({"user":"u","host":)" + value + "}", bad, "field"},
             {"agent", open, R"({"user":"u","agent":)" + value + "}", bad, "field"},
             {"user of a lock", lock, R"({"user":)" + value + "," + read + "}", bad, "field"},
             {"initiator",
              "CompactionService.EnqueueCompaction",
              enqueue + R"("type":"COMPACTION_TYPE_MAJOR","initiator":)" + value + "}",
              bad,
              "field"},
             {"column",
              "TableService.CreateTable",
              R"({"name":{"database":"d","table":"n"},"columns":[{"type":"int","name":)" + value +
                  "}]}",
              bad,
              "field"},
             {"property",
              "TableService.CreateTable",
              create + R"("properties":{)" + value + R"(:"v"}})",
              bad,
              "field"},
             {"type",
              "TableService.CreateTable",
              R"({"name":{"database":"d","table":"n"},"columns":[{"name":"a","type":)" + value +
                  "}]}",
              bad,
              "field"}}) {
      ExpectRefused(call);
    }
  }
  for (const Refused& call : std::vector<Refused>{
           {"nobody", open, "{}", bad, "field"},
           {"count below zero", open, R"({"user":"u","count":-1})", bad, "field"},
           {"count", open, R"({"user":"u","count":2147483647})", bad, "field"},
           {"lease", open, R"({"user":"u","txnTimeout":"-5s"})", bad, "field"},
           {"long lease", open, R"({"user":"u","txnTimeout":"90000s"})", bad, "field"},
           {"short request id", open, R"({"user":"u","requestId":"AAAA"})", bad, "field"},
           {"no components", lock, R"({"user":"u"})", bad, "field"},
           {"components",
            lock,
            R"({"user":"u","components":)" + Many(10'001, component) + "}",
            bad,
            "field"},
           {"ids",
            "TransactionService.HeartbeatTransactions",
            R"({"txnIds":)" + Many(10'001, "\"1\"") + "}",
            bad,
            "field"},
           {"tables",
            "TableService.GetValidWriteIds",
            R"({"txnId":"1","tables":)" + Many(1001, kFull) + "}",
            bad,
            "field"},
           {"page", "TableService.ListTables", R"({"pageSize":-1})", bad, "field"},
           {"page token", "TableService.ListTables", R"({"pageToken":"junk"})", bad, "field"},
           {"bad base64", "LockService.ListLocks", R"({"pageToken":"%%%"})", bad, "field"}}) {
    ExpectRefused(call);
  }
  // Beyond gRPC's limit of a message it does not leave the client.
  ExpectRefused(
      {"message", open, R"({"user":)" + Quoted(std::string(5 << 20, 'x')) + "}", bad, "limit"});
}

TEST_F(BadInputTest, EnumerationsOfTomorrow) {
  const auto bad = ErrorReason::kInvalidRequest;
  auto txn = session_->Begin();
  ASSERT_THAT(txn, IsOk());
  const std::string id = (*txn)->id().ToString();
  for (const char* number : {"99", "-1"}) {
    for (
        const Refused& call : std::vector<Refused>{
            {"type",
             "TransactionService.OpenTransactions",
             R"({"user":"u","type":$ID})",
             bad,
             "field"},
            {"state", "TransactionService.ListTransactions", R"({"states":[$ID]})", bad, "field"},
            {"format",
             "TableService.CreateTable",
             R"({"name":{"database":"d","table":"n"},"columns":[{"name":"a","type":"int"}],"format":$ID})",
             bad,
             "field"},
            {"operation",
             "TransactionService.AddPartitions",
             std::string(R"({"partitions":["p=1"],"operation":$ID,"txnId":")") + id +
                 R"(","table":)" + kFull + "}",
             bad,
             "field"},
            {"kind",
             "LockService.AcquireLocks",
             R"({"user":"u","components":[{"resource":{"database":"d"},"kind":$ID}]})",
             bad,
             "field"},
            {"compaction",
             "CompactionService.EnqueueCompaction",
             std::string(R"({"type":$ID,"initiator":"h","partition":"p=1","table":)") + kFull + "}",
             bad,
             "field"},
            {"compaction state",
             "CompactionService.ListCompactions",
             R"({"states":[$ID]})",
             bad,
             "field"}}) {
      ExpectRefused({call.name, call.method, WithId(call.request, number), bad, call.key});
    }
  }
  ExpectRefused({"the server's own type",
                 "TransactionService.OpenTransactions",
                 R"({"user":"u","type":"TRANSACTION_TYPE_COMPACTION"})",
                 bad,
                 "field"});
}

TEST_F(BadInputTest, RequestIdsAreForOneRequest) {
  std::filesystem::create_directories(daemon_.warehouse() + "/x");
  struct Pair {
    std::string method;
    std::string first;
    std::string second;
  };
  const std::string shared =
      R"({"user":"u","components":[{"resource":{"database":"d"},"kind":"LOCK_KIND_SHARED_READ"}])";
  const std::string create =
      R"({"name":{"database":"e","table":"n"},"columns":[{"name":"a","type":"int"}])";
  const std::string take = R"({"name":{"database":"e","table":"x"},"location":")" +
                           daemon_.warehouse() +
                           R"(/x","format":"FILE_FORMAT_ORC","columns":[{"name":"a","type":)";
  const std::string enqueue = std::string(R"({"initiator":"h","partition":"p=1","table":)") + kFull;
  int number = 0;
  for (const Pair& pair : std::vector<Pair>{
           {"TransactionService.OpenTransactions", R"({"user":"u")", R"({"user":"u","count":2)"},
           {"LockService.AcquireLocks", shared, shared + R"(,"noWait":true)"},
           {"TableService.CreateTable", create, create + R"(,"properties":{"k":"v"})"},
           {"TableService.RegisterTable", take + R"("int"}])", take + R"("bigint"}])"},
           {"CompactionService.EnqueueCompaction",
            enqueue + R"(,"type":"COMPACTION_TYPE_MAJOR")",
            enqueue + R"(,"type":"COMPACTION_TYPE_MINOR")"}}) {
    const std::string with_id =
        R"(,"requestId":"AAAAAAAAAAAAAAAAAAAA)" + std::to_string(++number) + R"(Q==")";
    EXPECT_THAT(Call(pair.method, pair.first + with_id + "}"), IsOk()) << pair.method;
    EXPECT_THAT(Call(pair.method, pair.first + with_id + R"(,"repeat":true})"), IsOk())
        << pair.method;
    ExpectRefused({"another request",
                   pair.method,
                   pair.second + with_id + "}",
                   ErrorReason::kRequestIdReused,
                   "requestId"});
    ExpectRefused({"a repeat of nothing",
                   pair.method,
                   pair.first + R"(,"requestId":"BBBBBBBBBBBBBBBBBBBBBQ==","repeat":true})",
                   ErrorReason::kRequestIdExpired,
                   "requestId"});
  }
}

TEST_F(BadInputTest, OperationsThatATransactionOrATableDoesNotTake) {
  auto reader = session_->Begin({.mode = client::TransactionMode::kReadOnly});
  auto txn = session_->Begin();
  ASSERT_THAT(reader, IsOk());
  ASSERT_THAT(txn, IsOk());
  const std::string reader_id = (*reader)->id().ToString();
  const std::string id = (*txn)->id().ToString();
  const auto not_allowed = ErrorReason::kOperationNotAllowed;
  const auto of = [](const std::string& table) {
    return R"("table":{"database":"d","table":")" + table + R"("})";
  };
  for (
      const Refused& call : std::vector<Refused>{
          {"write id for a reader",
           "TableService.AllocateWriteIds",
           R"({"txnIds":[")" + reader_id + R"("],)" + of("full") + "}",
           not_allowed,
           "txnId"},
          {"write of a reader",
           "TransactionService.AddPartitions",
           R"({"txnId":")" + reader_id + R"(","partitions":["p=1"],)" + of("full") + "}",
           not_allowed,
           "txnId"},
          {"write id of an external table",
           "TableService.AllocateWriteIds",
           R"({"txnIds":[")" + id + R"("],)" + of("ext") + "}",
           ErrorReason::kTableNotTransactional,
           "table"},
          {"compaction of an external table",
           "CompactionService.EnqueueCompaction",
           R"({"type":"COMPACTION_TYPE_MAJOR","initiator":"h",)" + of("ext") + "}",
           ErrorReason::kTableNotTransactional,
           "table"},
          {"update of an insert-only table",
           "TransactionService.CommitTransaction",
           R"({"txnId":")" + id +
               R"(","writeSet":[{"writes":[{"operation":"WRITE_OPERATION_UPDATE"}],)" + of("ins") +
               "}]}",
           not_allowed,
           "table"},
          {"delete from an insert-only table",
           "TransactionService.CommitTransaction",
           R"({"txnId":")" + id +
               R"(","writeSet":[{"writes":[{"operation":"WRITE_OPERATION_DELETE"}],)" + of("ins") +
               "}]}",
           not_allowed,
           "table"},
          {"write to an external table",
           "TransactionService.CommitTransaction",
           R"({"txnId":")" + id +
               R"(","writeSet":[{"writes":[{"operation":"WRITE_OPERATION_INSERT"}],)" + of("ext") +
               "}]}",
           not_allowed,
           "table"},
          {"kind that would change",
           "TableService.SetTableProperties",
           R"({"name":{"database":"d","table":"full"},"set":{"transactional_properties":"insert_only"}})",
           not_allowed,
           "table"},
          {"drop without a lock",
           "TableService.DropTable",
           R"({"txnId":")" + id + R"(","name":{"database":"d","table":"full"}})",
           not_allowed,
           "txnId"}}) {
    ExpectRefused(call);
  }
  for (const auto kind : {client::WriteKind::kUpdate, client::WriteKind::kDelete}) {
    EXPECT_THAT(client::TableWriter::Open(**txn, {"d", "ins"}, kind), HasReason(not_allowed));
    EXPECT_THAT(client::TableWriter::Open(**txn, {"d", "ext"}, kind), HasReason(not_allowed));
    EXPECT_THAT(client::TableWriter::Open(**reader, {"d", "full"}, kind), HasReason(not_allowed));
  }
  EXPECT_THAT((*txn)->Commit(), IsOk());
}

}  // namespace
}  // namespace skep::e2e

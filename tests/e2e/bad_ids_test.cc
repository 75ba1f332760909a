// Requests that cannot be right, through gRPC to the running daemon: each method that takes an id,
// a name or a label, each limit, each enumeration.

#include "tests/e2e/bad_input.h"
#include "tests/testing/status_matchers.h"

namespace skep::e2e {
namespace {

using ::skep::testing::IsOk;
using ::testing::HasSubstr;

constexpr char kFull[] = R"({"database":"d","table":"full"})";

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

// A method that takes a transaction's id, and what it says of one that has ended (kUnspecified:
// nothing against it).
struct TxnCall {
  std::string method;
  std::string request;
  ErrorReason of_committed;
  ErrorReason of_aborted;
  bool zero_means_none = false;
};

std::vector<TxnCall> TxnCalls() {
  constexpr ErrorReason kFine = ErrorReason::kUnspecified;
  constexpr ErrorReason kCommitted = ErrorReason::kTxnAlreadyCommitted;
  constexpr ErrorReason kAborted = ErrorReason::kTxnAborted;
  const std::string table = std::string(R"({"txnId":"$ID","table":)") + kFull;
  const std::string name = std::string(R"({"txnId":"$ID","name":)") + kFull + "}";
  return {
      {"TransactionService.GetTransaction", R"({"txnId":"$ID"})", kFine, kFine},
      {"TransactionService.CommitTransaction", R"({"txnId":"$ID"})", kFine, kAborted},
      {"TransactionService.AddPartitions",
       table + R"(,"partitions":["p=1"]})",
       kCommitted,
       kAborted},
      {"TransactionService.GetSnapshot", R"({"txnId":"$ID"})", kCommitted, kAborted, true},
      {"LockService.AcquireLocks",
       R"({"txnId":"$ID","user":"u","components":[{"resource":{"database":"d","table":"full"},)"
       R"("kind":"LOCK_KIND_SHARED_READ"}]})",
       kCommitted,
       kAborted,
       true},
      {"TableService.AllocateWriteIds",
       std::string(R"({"txnIds":["$ID"],"table":)") + kFull + "}",
       kCommitted,
       kAborted},
      {"TableService.GetValidWriteIds",
       std::string(R"({"txnId":"$ID","tables":[)") + kFull + "]}",
       kCommitted,
       kAborted},
      {"TableService.GetTable", name, kCommitted, kAborted, true},
      {"TableService.ListPartitions", table + "}", kCommitted, kAborted, true},
      {"TableService.DropTable", name, kCommitted, kAborted},
  };
}

TEST_F(BadInputTest, TransactionIds) {
  auto committed = session_->Begin();
  auto aborted = session_->Begin();
  ASSERT_THAT(committed, IsOk());
  ASSERT_THAT(aborted, IsOk());
  const std::string committed_id = (*committed)->id().ToString();
  const std::string aborted_id = (*aborted)->id().ToString();
  ASSERT_THAT((*committed)->Commit(), IsOk());
  ASSERT_THAT((*aborted)->Abort(), IsOk());
  for (const TxnCall& call : TxnCalls()) {
    const auto expect = [&](const std::string& name,
                            const std::string& id,
                            ErrorReason reason,
                            const std::string& key) {
      const std::string request = WithId(call.request, id);
      if (reason != ErrorReason::kUnspecified) {
        ExpectRefused({name, call.method, request, reason, key});
      } else {
        EXPECT_THAT(Call(call.method, request), IsOk()) << name << " " << call.method;
      }
    };
    const ErrorReason of_zero =
        call.zero_means_none ? ErrorReason::kUnspecified : ErrorReason::kInvalidRequest;
    expect("zero", "0", of_zero, "field");
    expect("negative", "-1", ErrorReason::kInvalidRequest, "field");
    expect("lowest", "-9223372036854775808", ErrorReason::kInvalidRequest, "field");
    expect("unknown", "999999", ErrorReason::kNoSuchTxn, "txnId");
    expect("highest", "9223372036854775807", ErrorReason::kNoSuchTxn, "txnId");
    expect("committed", committed_id, call.of_committed, "txnId");
    expect("aborted", aborted_id, call.of_aborted, "cause");
  }
  for (const char* method :
       {"TransactionService.HeartbeatTransactions", "TransactionService.AbortTransactions"}) {
    const auto unknown = Call(method, R"({"txnIds":["-1","0","999999"]})");
    ASSERT_THAT(unknown, IsOk());
    EXPECT_THAT(*unknown, HasSubstr(R"("notFound":["-1","0","999999"])"));
  }
  ExpectRefused({"negative",
                 "LockService.ListLocks",
                 R"({"txnId":"-1"})",
                 ErrorReason::kInvalidRequest,
                 "field"});
}

TEST_F(BadInputTest, LockAndCompactionIds) {
  struct IdCall {
    std::string method;
    std::string field;
    ErrorReason unknown;  // kUnspecified: an absent one is as good
    std::string key;
  };
  for (const IdCall& call : std::vector<IdCall>{
           {"LockService.CheckLock", "lockId", ErrorReason::kNoSuchLock, "lockId"},
           {"LockService.ReleaseLock", "lockId", ErrorReason::kUnspecified, ""},
           {"AdminService.ExplainLock", "lockId", ErrorReason::kNoSuchLock, "lockId"},
           {"CompactionService.GetCompaction",
            "compactionId",
            ErrorReason::kNoSuchCompaction,
            "compactionId"},
           {"CompactionService.CancelCompaction",
            "compactionId",
            ErrorReason::kNoSuchCompaction,
            "compactionId"}}) {
    const auto request = [&](const std::string& id) {
      return "{\"" + call.field + "\":\"" + id + "\"}";
    };
    for (const char* id : {"0", "-1", "-9223372036854775808"}) {
      ExpectRefused({"no id", call.method, request(id), ErrorReason::kInvalidRequest, "field"});
    }
    for (const char* id : {"999999", "9223372036854775807"}) {
      if (call.unknown == ErrorReason::kUnspecified) {
        EXPECT_THAT(Call(call.method, request(id)), IsOk());
      } else {
        ExpectRefused({"unknown", call.method, request(id), call.unknown, call.key});
      }
    }
  }
  const Finished done = daemon_.Tool({"compact", "d.full", "--type", "minor", "--wait", "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  ExpectRefused({"finished",
                 "CompactionService.CancelCompaction",
                 R"({"compactionId":"1"})",
                 ErrorReason::kOperationNotAllowed,
                 "compactionId"});
  auto txn = session_->Begin();
  ASSERT_THAT(txn, IsOk());
  const auto lock = (*txn)->Lock({{"d", "full", "", client::LockMode::kSharedRead}});
  ASSERT_THAT(lock, IsOk());
  ExpectRefused({"held by an open transaction",
                 "LockService.ReleaseLock",
                 "{\"lockId\":\"" + lock->id.ToString() + "\"}",
                 ErrorReason::kTxnOpen,
                 "txnId"});
  ASSERT_THAT((*txn)->Commit(), IsOk());
  ExpectRefused({"released",
                 "LockService.CheckLock",
                 "{\"lockId\":\"" + lock->id.ToString() + "\"}",
                 ErrorReason::kNoSuchLock,
                 "lockId"});
}

TEST_F(BadInputTest, NamesOfTables) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"TableService.GetTable", R"({"name":$ID})"},
      {"TableService.CreateTable", R"({"name":$ID,"columns":[{"name":"a","type":"int"}]})"},
      {"TableService.RegisterTable", R"({"name":$ID,"location":"/w/x"})"},
      {"TableService.ListPartitions", R"({"table":$ID})"},
      {"TableService.SetTableProperties", R"({"name":$ID,"set":{"k":"v"}})"},
      {"TableService.ListDirectories", R"({"table":$ID})"},
      {"CompactionService.EnqueueCompaction",
       R"({"table":$ID,"type":"COMPACTION_TYPE_MAJOR","initiator":"h"})"},
      {"CompactionService.ListCompactions", R"({"table":$ID})"},
      {"TransactionService.ListTransactions", R"({"table":$ID})"},
      {"AdminService.ExplainCleaner", R"({"table":$ID})"},
      {"AdminService.ExplainCompaction", R"({"table":$ID})"},
  };
  const std::vector<std::string> bad = {
      "", "..", "a/b", "a b", "a.b", "t\\u0001", "\\u0000", "t\u00e9", std::string(129, 'x')};
  for (const auto& [method, request] : calls) {
    for (const std::string& name : bad) {
      for (const std::string& both : {R"({"database":"d","table":)" + Quoted(name) + "}",
                                      R"({"table":"t","database":)" + Quoted(name) + "}"}) {
        ExpectRefused(
            {"bad name", method, WithId(request, both), ErrorReason::kInvalidRequest, "field"});
      }
    }
    if (method.ends_with("CreateTable") || method.ends_with("RegisterTable") ||
        method.ends_with("ListCompactions")) {
      continue;  // what was dropped may still have a history
    }
    ExpectRefused({"unknown",
                   method,
                   WithId(request, R"({"database":"d","table":"nothing"})"),
                   ErrorReason::kNoSuchTable,
                   "table"});
  }
}

TEST_F(BadInputTest, NamesOfPartitions) {
  auto txn = session_->Begin();
  ASSERT_THAT(txn, IsOk());
  const std::string id = (*txn)->id().ToString();
  const std::string table = std::string(R"({"table":)") + kFull;
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"TableService.ListDirectories", table + R"(,"partition":$ID})"},
      {"AdminService.ExplainCompaction", table + R"(,"partition":$ID})"},
      {"CompactionService.EnqueueCompaction",
       table + R"(,"partition":$ID,"type":"COMPACTION_TYPE_MAJOR","initiator":"h"})"},
      {"TransactionService.AddPartitions",
       table + R"(,"txnId":")" + id + R"(","partitions":[$ID]})"},
      {"LockService.AcquireLocks",
       R"({"txnId":")" + id +
           R"(","components":[{"resource":{"database":"d","table":"full","partition":$ID},)"
           R"("kind":"LOCK_KIND_SHARED_READ"}]})"},
      {"TransactionService.CommitTransaction",
       R"({"txnId":")" + id + R"(","writeSet":[{"table":)" + kFull +
           R"(,"writes":[{"partition":$ID}]}]})"},
  };
  for (const auto& [method, request] : calls) {
    for (const std::string& bad : {std::string(".."),
                                   std::string("/"),
                                   std::string("p"),
                                   std::string("=1"),
                                   std::string("p=1/"),
                                   std::string("p=a\\u0000b"),
                                   std::string("q=1"),
                                   std::string("p=1/q=2"),
                                   "p=" + std::string(5000, 'x')}) {
      ExpectRefused({"bad partition",
                     method,
                     WithId(request, Quoted(bad)),
                     ErrorReason::kInvalidRequest,
                     "field"});
    }
  }
  EXPECT_THAT((*txn)->Commit(), IsOk()) << "refused calls ended nothing";
}

}  // namespace
}  // namespace skep::e2e

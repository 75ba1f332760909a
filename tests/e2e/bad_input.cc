#include "tests/e2e/bad_input.h"

#include <arrow/api.h>

#include "client/session/json_calls.h"
#include "client/session/session_impl.h"
#include "skep/table_writer.h"
#include "storage/base/text.h"
#include "tests/testing/status_matchers.h"

namespace skep::e2e {

using ::skep::testing::HasReason;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

std::shared_ptr<arrow::RecordBatch> Numbers(int count) {
  arrow::Int64Builder ids;
  for (int i = 1; i <= count; ++i) EXPECT_TRUE(ids.Append(i).ok());
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("id", arrow::int64())}), count, {*ids.Finish()});
}

}  // namespace

void BadInputTest::SetUp() {
  ASSERT_TRUE(daemon_.Start()) << daemon_.Log();
  auto session = client::Session::Connect({.endpoint = daemon_.endpoint(), .user = "ann"});
  ASSERT_TRUE(session.ok()) << session.status();
  session_ = *std::move(session);
  const std::vector<std::string> create = {"create", "table"};
  for (const std::vector<std::string>& rest : std::vector<std::vector<std::string>>{
           {"d.full", "--columns", "id bigint", "--partitioned-by", "p int"},
           {"d.ins", "--columns", "line string", "--format", "text"},
           {"d.ext", "--columns", "id bigint", "--external"}}) {
    std::vector<std::string> args = create;
    args.insert(args.end(), rest.begin(), rest.end());
    const Finished made = daemon_.Tool(args);
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  ASSERT_THAT(Insert({"d", "full"}, "p=1", 3), testing::IsOk());
  ASSERT_THAT(Insert({"d", "full"}, "p=1", 2), testing::IsOk());
  rows_ = Read("d.full");
  EXPECT_THAT(rows_, HasSubstr("3"));
  tables_ = daemon_.Tool({"show", "tables", "d", "-o", "name"}).out;
}

void BadInputTest::TearDown() {
  if (session_ == nullptr) return;
  ASSERT_TRUE(daemon_.Running()) << daemon_.Log();
  EXPECT_EQ(Read("d.full"), rows_);
  session_.reset();
  daemon_.Kill();
  ASSERT_TRUE(daemon_.Start()) << daemon_.Log();
  EXPECT_EQ(Read("d.full"), rows_);
  EXPECT_EQ(daemon_.Tool({"show", "tables", "d", "-o", "name"}).out, tables_);
  EXPECT_EQ(daemon_.Terminate(), 0) << daemon_.Log();
}

absl::StatusOr<std::string> BadInputTest::Call(const std::string& method,
                                               const std::string& request) {
  return client::JsonCalls(session_->impl()).Call(method, request);
}

void BadInputTest::ExpectRefused(const Refused& call) {
  SCOPED_TRACE(call.name + ": " + call.method + " " + call.request.substr(0, 300));
  const absl::Status status = Call(call.method, call.request).status();
  EXPECT_THAT(status, HasReason(call.reason));
  EXPECT_EQ(status.code(), CodeOf(call.reason));
  EXPECT_GT(MessageOf(status).size(), 10u);
  if (!call.key.empty()) {
    EXPECT_TRUE(MetadataOf(status).contains(call.key)) << status;
  }
  ASSERT_TRUE(daemon_.Running()) << daemon_.Log();
}

void BadInputTest::ExpectToolRefused(const std::vector<std::string>& args,
                                     int exit_code,
                                     const std::string& what) {
  SCOPED_TRACE(JoinText(args, " "));
  const Finished finished = daemon_.Tool(args);
  EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr(what));
  EXPECT_THAT(finished.out, IsEmpty());
}

absl::Status BadInputTest::Insert(const TableName& table, const std::string& partition, int count) {
  auto txn = session_->Begin();
  if (!txn.ok()) return txn.status();
  {
    auto writer = client::TableWriter::Open(**txn, table, client::WriteKind::kInsert);
    if (!writer.ok()) return writer.status();
    const absl::Status inserted = (*writer)->InsertInto(partition, *Numbers(count));
    if (!inserted.ok()) return inserted;
    const auto written = (*writer)->Finish();
    if (!written.ok()) return written.status();
  }
  return (*txn)->Commit();
}

std::string BadInputTest::Read(const std::string& resource) {
  const Finished read = daemon_.Tool({"read", resource, "--row-ids", "-o", "jsonl"});
  EXPECT_EQ(read.exit_code, 0) << read.err;
  return read.out;
}

std::string WithId(std::string text, const std::string& id) {
  for (size_t at; (at = text.find("$ID")) != std::string::npos;) text.replace(at, 3, id);
  return text;
}

}  // namespace skep::e2e

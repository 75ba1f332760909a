// The worked example: the life of a Hive ACID table under Skep, written with the public headers
// alone.
//
//   skep_orders ENDPOINT          ENDPOINT like unix:/run/skep/skepd.sock or 127.0.0.1:7083
//
// Orders 1 and 2 are inserted, order 1 is updated, order 2 deleted, then the partition is compacted
// while a long reader still looks at the old files. After each step it prints what lies on disk.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <arrow/util/decimal.h>

#include "skep/errors.h"
#include "skep/session.h"
#include "skep/table_reader.h"
#include "skep/table_writer.h"

namespace {

using skep::ReasonName;
using skep::ReasonOf;
using skep::TableName;
using skep::client::CompactionGoal;
using skep::client::CompactionKind;
using skep::client::CompactionStatus;
using skep::client::RowBatch;
using skep::client::Session;
using skep::client::TableReader;
using skep::client::TableWriter;
using skep::client::Transaction;
using skep::client::WriteKind;
using std::chrono::seconds;

const TableName kOrders{"sales", "orders"};
const std::string kPartition = "order_date=2026-10-01";

// Ends the program with the reason; an example needs no more.
void Require(const absl::Status& status, const std::string& what) {
  if (status.ok()) return;
  std::cerr << "skep_orders: cannot " << what << ": " << status.message() << " ["
            << ReasonName(ReasonOf(status)) << "]\n";
  std::exit(1);
}

template <class T>
T Require(absl::StatusOr<T> result, const std::string& what) {
  Require(result.status(), what);
  return std::move(result).value();
}

void RequireArrow(const arrow::Status& status) {
  if (status.ok()) return;
  std::cerr << "skep_orders: " << status.ToString() << "\n";
  std::exit(1);
}

struct Order {
  int64_t order_id;
  int64_t customer_id;
  std::string status;
  std::string amount;     // decimal(12,2)
  int64_t updated_at_us;  // microseconds of the wall clock since 1970
};

constexpr int64_t kNoon = 1790856000000000;  // 2026-10-01 12:00:00

// Orders as a record batch. `order_date` is the partition column: its values choose the directory.
std::shared_ptr<arrow::RecordBatch> MakeBatch(const std::vector<Order>& orders) {
  arrow::Int64Builder ids;
  arrow::Int64Builder customers;
  arrow::StringBuilder statuses;
  arrow::Decimal128Builder amounts(arrow::decimal128(12, 2));
  arrow::TimestampBuilder times(arrow::timestamp(arrow::TimeUnit::MICRO),
                                arrow::default_memory_pool());
  arrow::Date32Builder dates;
  constexpr int32_t kOctoberFirst = 20727;  // days since 1970
  for (const Order& order : orders) {
    RequireArrow(ids.Append(order.order_id));
    RequireArrow(customers.Append(order.customer_id));
    RequireArrow(statuses.Append(order.status));
    RequireArrow(amounts.Append(arrow::Decimal128::FromString(order.amount).ValueOrDie()));
    RequireArrow(times.Append(order.updated_at_us));
    RequireArrow(dates.Append(kOctoberFirst));
  }
  const auto schema =
      arrow::schema({arrow::field("order_id", arrow::int64()),
                     arrow::field("customer_id", arrow::int64()),
                     arrow::field("status", arrow::utf8()),
                     arrow::field("amount", arrow::decimal128(12, 2)),
                     arrow::field("updated_at", arrow::timestamp(arrow::TimeUnit::MICRO)),
                     arrow::field("order_date", arrow::date32())});
  return arrow::RecordBatch::Make(schema,
                                  static_cast<int64_t>(orders.size()),
                                  {ids.Finish().ValueOrDie(),
                                   customers.Finish().ValueOrDie(),
                                   statuses.Finish().ValueOrDie(),
                                   amounts.Finish().ValueOrDie(),
                                   times.Finish().ValueOrDie(),
                                   dates.Finish().ValueOrDie()});
}

// All rows that the transaction sees.
std::vector<RowBatch> ReadAll(Transaction& transaction) {
  std::vector<RowBatch> batches;
  const auto reader = Require(TableReader::Open(transaction, kOrders), "read sales.orders");
  while (true) {
    std::optional<RowBatch> batch = Require(reader->Next(), "read sales.orders");
    if (!batch.has_value()) return batches;
    batches.push_back(*std::move(batch));
  }
}

// "{1,536870912,0} order 1: NEW 19.90", sorted.
std::vector<std::string> Describe(const std::vector<RowBatch>& batches) {
  std::vector<std::string> lines;
  for (const RowBatch& batch : batches) {
    const auto& ids =
        static_cast<const arrow::Int64Array&>(*batch.rows->GetColumnByName("order_id"));
    const auto& status =
        static_cast<const arrow::StringArray&>(*batch.rows->GetColumnByName("status"));
    const auto& amount =
        static_cast<const arrow::Decimal128Array&>(*batch.rows->GetColumnByName("amount"));
    for (int64_t i = 0; i < batch.rows->num_rows(); ++i) {
      const auto at = static_cast<size_t>(i);
      lines.push_back("{" + std::to_string(batch.ids.write_id[at]) + "," +
                      std::to_string(batch.ids.bucket[at]) + "," +
                      std::to_string(batch.ids.row_id[at]) + "} order " +
                      std::to_string(ids.Value(i)) + ": " + status.GetString(i) + " " +
                      amount.FormatValue(i));
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

void Print(const std::string& title, const std::vector<std::string>& lines) {
  std::cout << "  " << title << ":" << (lines.empty() ? " none" : "") << "\n";
  for (const std::string& line : lines) std::cout << "    " << line << "\n";
}

std::vector<std::string> FilesBelow(const std::string& location) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(location)) {
    if (entry.is_regular_file())
      files.push_back(entry.path().lexically_relative(location).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The row ids of the orders with this id, as the transaction sees them.
skep::client::RowIds FindOrder(Transaction& transaction, const std::string& order_id) {
  skep::client::RowIds found;
  const auto reader = Require(
      TableReader::Open(
          transaction,
          kOrders,
          {.partition = kPartition, .where = {{.column = "order_id", .values = {order_id}}}}),
      "look for an order");
  while (true) {
    const std::optional<RowBatch> batch = Require(reader->Next(), "look for an order");
    if (!batch.has_value()) return found;
    for (size_t i = 0; i < batch->ids.size(); ++i) found.Append(batch->ids, i);
  }
}

// One statement in a transaction of its own: begins, lets `write` do its work, commits.
// `on_disk` says in a sentence what that means for the files.
void RunStatement(Session& session,
                  WriteKind kind,
                  const std::string& what,
                  const std::string& on_disk,
                  const std::function<void(Transaction&, TableWriter&)>& write) {
  const auto transaction = Require(session.Begin(), "begin");
  const auto writer = Require(TableWriter::Open(*transaction, kOrders, kind), what);
  write(*transaction, *writer);
  const auto result = Require(writer->Finish(), what);
  Require(transaction->Commit(), "commit: " + what);
  std::cout << "\n"
            << what << "\n  transaction " << transaction->id() << " committed: " << result.inserted
            << " inserted, " << result.deleted << " deleted\n  " << on_disk << std::endl;
}

void ShowTable(Session& session, const std::string& location) {
  const auto transaction =
      Require(session.Begin({.mode = skep::client::TransactionMode::kReadOnly}), "begin a reader");
  Print("rows", Describe(ReadAll(*transaction)));
  Print("files", FilesBelow(location));
  Require(transaction->Commit(), "end a reader");
}

void Compact(Session& session, const std::string& location) {
  // A report that began before the compaction and is still running.
  const auto report = Require(
      session.Begin({.mode = skep::client::TransactionMode::kReadOnly, .agent = "long report"}),
      "begin the long reader");
  const std::vector<std::string> before = Describe(ReadAll(*report));

  const auto enqueued =
      Require(session.EnqueueCompaction(
                  {.table = kOrders, .partition = kPartition, .kind = CompactionKind::kMajor}),
              "enqueue the compaction");
  const CompactionStatus done =
      Require(session.WaitForCompaction(enqueued.id, seconds(60)), "wait for the compaction");
  if (done.state != CompactionStatus::State::kReadyForCleaning &&
      done.state != CompactionStatus::State::kSucceeded) {
    Require(absl::UnavailableError("the compaction ended otherwise: " + done.error), "compact");
  }
  std::cout
      << "\nMajor compaction, while a long reader looks at the old files\n"
      << "  a base directory holds what is left, row ids unchanged; new readers open only it,\n"
      << "  and what it replaced stays for the reader that began before\n";
  ShowTable(session, location);
  const bool same = Describe(ReadAll(*report)) == before;
  std::cout << "  the long reader still sees the same rows: " << (same ? "yes" : "NO") << "\n";
  Require(report->Commit(), "end the long reader");
  if (!same) std::exit(1);

  const CompactionStatus cleaned =
      Require(session.WaitForCompaction(enqueued.id, seconds(60), CompactionGoal::kFinished),
              "wait for the cleaner");
  if (cleaned.state != CompactionStatus::State::kSucceeded) {
    Require(absl::DeadlineExceededError("still there after a minute: " + cleaned.error),
            "see the old files go");
  }
  std::cout << "\nThe long reader has ended: the cleaner removed what the base replaced\n";
  ShowTable(session, location);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: skep_orders ENDPOINT\n";
    return 2;
  }
  const auto session =
      Require(Session::Connect({.endpoint = argv[1], .user = "example", .agent = "skep_orders"}),
              "connect");
  const auto table =
      Require(session->CreateTable({.name = kOrders,
                                    .columns = {{.name = "order_id", .type = "bigint"},
                                                {.name = "customer_id", .type = "bigint"},
                                                {.name = "status", .type = "string"},
                                                {.name = "amount", .type = "decimal(12,2)"},
                                                {.name = "updated_at", .type = "timestamp"}},
                                    .partition_columns = {{.name = "order_date", .type = "date"}}}),
              "create sales.orders");
  std::cout << "Created sales.orders, partitioned by order_date\n  " << table.kind << " at "
            << table.location << ", an empty directory\n";

  RunStatement(
      *session,
      WriteKind::kInsert,
      "INSERT orders 1 and 2",
      "a delta directory of write id 1 holds the new rows; {write id, bucket, row} names each",
      [](Transaction&, TableWriter& writer) {
        Require(writer.Insert(
                    *MakeBatch({{1, 100, "NEW", "19.90", kNoon}, {2, 101, "NEW", "5.00", kNoon}})),
                "insert");
      });
  ShowTable(*session, table.location);

  RunStatement(
      *session,
      WriteKind::kUpdate,
      "UPDATE order 1 SET status = 'PAID'",
      "a delete_delta names the old row, a delta holds the new one; no older file is touched",
      [](Transaction& transaction, TableWriter& writer) {
        Require(writer.Update(kPartition,
                              FindOrder(transaction, "1"),
                              *MakeBatch({{1, 100, "PAID", "19.90", kNoon + 60'000'000}})),
                "update");
      });
  ShowTable(*session, table.location);

  RunStatement(*session,
               WriteKind::kDelete,
               "DELETE order 2",
               "a delete_delta names the row; its data still lies in delta_0000001",
               [](Transaction& transaction, TableWriter& writer) {
                 Require(writer.Delete(kPartition, FindOrder(transaction, "2")), "delete");
               });
  ShowTable(*session, table.location);

  Compact(*session, table.location);
  return 0;
}

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "client/table/read_rows.h"
#include "client/table/statement.h"
#include "storage/fs/posix_file_system.h"
#include "tests/client/table/fake_transaction.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::testing {

struct Order {
  int64_t id;
  std::string status;
  std::optional<std::string> date;  // of the partition column, where the batch has it
};

inline const TableName kOrders{"sales", "orders"};

// The table sales.orders(order_id bigint, status string), partitioned by order_date date where
// asked for.
class OrdersTest : public ::testing::Test {
 protected:
  enum class Partitioned { kNo, kYes };

  void MakeTable(Partitioned partitioned) {
    client::TableInfo table;
    table.id = TableId(1);
    table.name = kOrders;
    table.location = dir_.path();
    table.schema.columns = *ParseColumns("order_id bigint, status string");
    if (partitioned == Partitioned::kYes) {
      table.schema.partition_columns = *ParseColumns("order_date date");
    }
    txn_ = std::make_shared<FakeTransaction>(table);
  }

  // Upper-case names and another order than the table's: as users make batches.
  static std::shared_ptr<arrow::RecordBatch> Batch(const std::vector<Order>& orders) {
    arrow::StringBuilder status;
    arrow::Int64Builder id;
    arrow::Date32Builder date;
    bool dated = false;
    for (const Order& order : orders) {
      EXPECT_TRUE(status.Append(order.status).ok());
      EXPECT_TRUE(id.Append(order.id).ok());
      dated = dated || order.date.has_value();
      if (order.date.has_value()) {
        EXPECT_TRUE(date.Append(DayOf(*order.date)).ok());
      }
    }
    std::vector<std::shared_ptr<arrow::Field>> fields = {arrow::field("STATUS", arrow::utf8()),
                                                         arrow::field("order_id", arrow::int64())};
    std::vector<std::shared_ptr<arrow::Array>> arrays = {*status.Finish(), *id.Finish()};
    if (dated) {
      fields.push_back(arrow::field("order_date", arrow::date32()));
      arrays.push_back(*date.Finish());
    }
    return arrow::RecordBatch::Make(
        arrow::schema(fields), static_cast<int64_t>(orders.size()), arrays);
  }

  // "2026-10-DD".
  static int32_t DayOf(const std::string& date) { return 20726 + std::stoi(date.substr(8)); }

  absl::StatusOr<std::unique_ptr<client::Statement>> Open(client::WriteKind kind) {
    return client::Statement::Open(txn_, fs_, kOrders, kind);
  }

  absl::StatusOr<client::WriteResult> Insert(const std::vector<Order>& orders) {
    auto statement = Open(client::WriteKind::kInsert);
    if (!statement.ok()) return statement.status();
    const absl::Status inserted = (*statement)->Insert(*Batch(orders));
    if (!inserted.ok()) return inserted;
    return (*statement)->Finish();
  }

  // Lines of `read -o jsonl`, with row ids where asked for.
  absl::StatusOr<std::vector<std::string>> Read(const client::ReadRowsOptions& options = {},
                                                bool row_ids = false) {
    std::vector<std::string> lines;
    std::vector<std::string> columns;
    const absl::Status status =
        client::ReadRows(txn_,
                         fs_,
                         kOrders,
                         options,
                         {.header =
                              [&](const std::vector<std::string>& names) {
                                columns = names;
                                return absl::OkStatus();
                              },
                          .row =
                              [&](const client::TextRow& row) {
                                lines.push_back(row_ids ? client::JsonLineWithRowId(columns, row)
                                                        : client::JsonLine(columns, row));
                                return absl::OkStatus();
                              }});
    if (!status.ok()) return status;
    return lines;
  }

  TempDir dir_;
  fs::PosixFileSystem fs_;
  std::shared_ptr<FakeTransaction> txn_;
};

}  // namespace skep::testing

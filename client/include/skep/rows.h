#pragma once

// What readers and writers of tables share: rows with their identities, and conditions on them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace arrow {
class RecordBatch;
}  // namespace arrow

namespace skep::client {

// The identities of rows of one table or partition, as Hive's ROW__ID shows them: three lists of
// one length. They never change, except through UPDATE, and are unique within their partition only.
struct RowIds {
  std::vector<int64_t> write_id;
  std::vector<int32_t> bucket;  // Hive's packed bucket property
  std::vector<int64_t> row_id;

  size_t size() const { return write_id.size(); }
  bool empty() const { return write_id.empty(); }
  void Append(const RowIds& other, size_t index) {
    write_id.push_back(other.write_id[index]);
    bucket.push_back(other.bucket[index]);
    row_id.push_back(other.row_id[index]);
  }
};

// Rows of one partition with their identities.
struct RowBatch {
  std::shared_ptr<arrow::RecordBatch> rows;
  std::string
      partition;  // canonical name, "order_date=2026-10-01"; empty for a table without partitions
  RowIds ids;     // as many as there are rows
};

enum class Comparison {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,       // any number of values
  kBetween,  // two, both included
  kIsNull,   // none
  kIsNotNull,
};

// One condition on a column of table or partition; several are joined by AND. Values are text in
// the column's type, as Hive prints it: "10", "NEW", "2026-10-01 12:00:00". As in SQL, a comparison
// with NULL is not true.
struct Condition {
  std::string column;
  Comparison comparison = Comparison::kEqual;
  std::vector<std::string> values;
};

}  // namespace skep::client

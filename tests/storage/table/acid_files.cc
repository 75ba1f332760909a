#include "tests/storage/table/acid_files.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/api.h>
#include <arrow/io/file.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "storage/base/status_macros.h"
#include "storage/format/vocabulary.h"
#include "tests/testing/listings.h"

namespace skep::testing {
namespace {

std::shared_ptr<arrow::Array> Finish(arrow::ArrayBuilder& builder) {
  auto array = builder.Finish();
  EXPECT_TRUE(array.ok()) << array.status().ToString();
  return *array;
}

void WriteOrc(const std::string& path, const std::shared_ptr<arrow::RecordBatch>& batch) {
  auto out = arrow::io::FileOutputStream::Open(path);
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  auto writer = arrow::adapters::orc::ORCFileWriter::Open(out->get());
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  ASSERT_TRUE((*writer)->Write(*batch).ok());
  ASSERT_TRUE((*writer)->Close().ok());
}

}  // namespace

Event Insert(int64_t w, int64_t row_id, int32_t id, int32_t bucket, int32_t statement) {
  return {.operation = 0,
          .write_id = w,
          .bucket = acid::EncodeBucket(bucket, statement),
          .row_id = row_id,
          .current = w,
          .id = id};
}

Event Delete(int64_t w, int64_t row_id, int64_t by, int32_t bucket, int32_t statement) {
  return {.operation = 2,
          .write_id = w,
          .bucket = acid::EncodeBucket(bucket, statement),
          .row_id = row_id,
          .current = by,
          .id = std::nullopt};
}

void TestTable::Directory(const std::string& relative) {
  const absl::Status made = fs_.CreateDirectories(Path(relative));
  ASSERT_TRUE(made.ok()) << made.ToString();
}

void TestTable::AcidFile(const std::string& relative, const std::vector<Event>& events) {
  Directory(fs::ParentPath("/" + relative).substr(1));
  arrow::Int32Builder operation, bucket, id;
  arrow::Int64Builder original, row_id, current;
  arrow::TypedBufferBuilder<bool> validity;
  for (const Event& event : events) {
    ASSERT_TRUE(operation.Append(event.operation).ok());
    ASSERT_TRUE(original.Append(event.write_id).ok());
    ASSERT_TRUE(bucket.Append(event.bucket).ok());
    ASSERT_TRUE(row_id.Append(event.row_id).ok());
    ASSERT_TRUE(current.Append(event.current).ok());
    ASSERT_TRUE((event.id ? id.Append(*event.id) : id.AppendNull()).ok());
    ASSERT_TRUE(validity.Append(event.id.has_value()).ok());
  }
  auto bits = validity.Finish();
  ASSERT_TRUE(bits.ok());
  auto row = arrow::StructArray::Make({Finish(id)}, {arrow::field("id", arrow::int32())}, *bits);
  ASSERT_TRUE(row.ok()) << row.status().ToString();
  const auto schema = arrow::schema({arrow::field("operation", arrow::int32()),
                                     arrow::field("originalTransaction", arrow::int64()),
                                     arrow::field("bucket", arrow::int32()),
                                     arrow::field("rowId", arrow::int64()),
                                     arrow::field("currentTransaction", arrow::int64()),
                                     arrow::field("row", (*row)->type())});
  WriteOrc(Path(relative),
           arrow::RecordBatch::Make(schema,
                                    static_cast<int64_t>(events.size()),
                                    {Finish(operation),
                                     Finish(original),
                                     Finish(bucket),
                                     Finish(row_id),
                                     Finish(current),
                                     *row}));
}

void TestTable::PlainFile(const std::string& relative, const std::vector<int32_t>& ids) {
  Directory(fs::ParentPath("/" + relative).substr(1));
  arrow::Int32Builder id;
  ASSERT_TRUE(id.AppendValues(ids).ok());
  WriteOrc(Path(relative),
           arrow::RecordBatch::Make(arrow::schema({arrow::field("id", arrow::int32())}),
                                    static_cast<int64_t>(ids.size()),
                                    {Finish(id)}));
}

void TestTable::Text(const std::string& relative, const std::string& bytes) {
  Directory(fs::ParentPath("/" + relative).substr(1));
  std::ofstream(Path(relative), std::ios::binary) << bytes;
}

std::string TestTable::Bytes(const std::string& relative) {
  std::ostringstream bytes;
  bytes << std::ifstream(Path(relative), std::ios::binary).rdbuf();
  return bytes.str();
}

absl::StatusOr<std::unique_ptr<table::Scan>> TestTable::Open(const std::string& write_ids,
                                                             table::ScanOptions options) {
  return table::Scan::Open(fs_, dir(), WriteIds(write_ids), Txns("1000:::"), std::move(options));
}

absl::StatusOr<std::vector<std::string>> TestTable::Rows(const std::string& write_ids,
                                                         const std::string& txns,
                                                         table::ScanOptions options) {
  SKEP_ASSIGN_OR_RETURN(
      const auto scan,
      table::Scan::Open(fs_, dir(), WriteIds(write_ids), Txns(txns), std::move(options)));
  return AllRows(*scan);
}

absl::StatusOr<std::vector<std::string>> AllRows(table::Scan& scan) {
  std::vector<std::string> rows;
  while (true) {
    SKEP_ASSIGN_OR_RETURN(const auto batch, scan.Next());
    if (batch == nullptr) break;
    for (int64_t i = 0; i < batch->rows->num_rows(); ++i) {
      std::string row =
          fmt::format("{}/{}/{}=", batch->write_id[i], batch->bucket[i], batch->row_id[i]);
      for (size_t c = 0; c < scan.columns().size(); ++c) {
        if (c > 0) row += ",";
        format::AppendJson(
            *batch->rows->column(static_cast<int>(c)), i, scan.columns()[c].type, &row);
      }
      rows.push_back(std::move(row));
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<Column> IdColumn() {
  return {Column{.name = "id", .type = HiveType{.kind = TypeKind::kInt}, .comment = ""}};
}

}  // namespace skep::testing

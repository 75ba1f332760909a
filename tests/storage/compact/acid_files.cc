#include "tests/storage/compact/acid_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include <arrow/api.h>
#include <fmt/format.h>

#include "storage/acid/names.h"
#include "storage/base/text.h"
#include "storage/format/orc/reader.h"
#include "storage/format/orc/writer.h"
#include "storage/format/vocabulary.h"
#include "storage/table/scan.h"

namespace skep::compact {

namespace {

std::string FormatKey(int64_t write_id, int32_t bucket, int64_t row_id) {
  return fmt::format("({},{},{})", write_id, bucket, row_id);
}

std::shared_ptr<arrow::RecordBatch> RowsOf(const std::vector<TestEvent>& events) {
  arrow::Int32Builder ids;
  arrow::StringBuilder statuses;
  for (const TestEvent& event : events) {
    EXPECT_TRUE((event.id ? ids.Append(*event.id) : ids.AppendNull()).ok());
    EXPECT_TRUE((event.status ? statuses.Append(*event.status) : statuses.AppendNull()).ok());
  }
  return arrow::RecordBatch::Make(format::ArrowSchemaOf(OrderColumns()),
                                  static_cast<int64_t>(events.size()),
                                  {*ids.Finish(), *statuses.Finish()});
}

void WriteBucketFile(fs::FileSystem& fs,
                     const std::string& path,
                     const std::vector<TestEvent>& events,
                     bool deletes,
                     const orc::WriterOptions& options) {
  auto writer = orc::CreateAcidWriter(fs, path, OrderColumns(), options);
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  orc::Batch batch;
  batch.length = static_cast<int64_t>(events.size());
  for (const TestEvent& event : events) {
    batch.operation.push_back(deletes ? 2 : 0);
    batch.original_write_id.push_back(event.write_id);
    batch.bucket.push_back(event.bucket);
    batch.row_id.push_back(event.row_id);
    batch.current_write_id.push_back(event.current_write_id == 0 ? event.write_id
                                                                 : event.current_write_id);
  }
  if (!deletes) batch.rows = RowsOf(events);
  const absl::Status appended = (*writer)->Append(batch);
  ASSERT_TRUE(appended.ok()) << appended.ToString();
  const auto closed = (*writer)->Close();
  ASSERT_TRUE(closed.ok()) << closed.status().ToString();
}

}  // namespace

std::vector<Column> OrderColumns() { return *ParseColumns("id int, status string"); }

void WriteAcidFile(fs::FileSystem& fs,
                   const std::string& dir,
                   const std::string& name,
                   const std::vector<TestEvent>& events,
                   const Properties& properties) {
  const std::string path = fs::JoinPath(dir, name);
  ASSERT_TRUE(fs.CreateDirectories(path).ok());
  const auto options = orc::WriterOptionsOf(properties);
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  std::map<int32_t, std::vector<TestEvent>> buckets;
  for (const TestEvent& event : events) {
    buckets[acid::DecodeBucket(event.bucket)->bucket].push_back(event);
  }
  for (const auto& [bucket, bucket_events] : buckets) {
    WriteBucketFile(fs,
                    fs::JoinPath(path, acid::BucketFileName(bucket)),
                    bucket_events,
                    name.starts_with("delete_delta"),
                    *options);
  }
  if (!fs.Stat(fs::JoinPath(path, acid::kAcidVersionFile)).ok()) {
    ASSERT_TRUE(fs::WriteSmallFile(fs, fs::JoinPath(path, acid::kAcidVersionFile), "2").ok());
  }
  ASSERT_TRUE(fs.SyncDirectory(path).ok());
  ASSERT_TRUE(fs.SyncDirectory(dir).ok());
}

void WriteWorkedExample(fs::FileSystem& fs, const std::string& dir) {
  WriteAcidFile(fs,
                dir,
                "delta_0000001_0000001_0000",
                {{.write_id = 1, .row_id = 0, .id = 1, .status = "new"},
                 {.write_id = 1, .row_id = 1, .id = 2, .status = "new"}});
  WriteAcidFile(fs,
                dir,
                "delete_delta_0000002_0000002_0000",
                {{.write_id = 1, .row_id = 0, .current_write_id = 2}});
  WriteAcidFile(fs,
                dir,
                "delta_0000002_0000002_0000",
                {{.write_id = 2, .row_id = 0, .id = 1, .status = "paid"}});
  WriteAcidFile(fs,
                dir,
                "delete_delta_0000003_0000003_0000",
                {{.write_id = 1, .row_id = 1, .current_write_id = 3}});
}

std::vector<std::string> ScanRows(fs::FileSystem& fs,
                                  const std::string& dir,
                                  const WriteIdSnapshot& write_ids,
                                  const acid::Visibility& visibility,
                                  std::optional<std::vector<Column>> columns) {
  table::ScanOptions options;
  options.table_columns = std::move(columns);
  auto scan = table::Scan::Open(fs, dir, write_ids, visibility, std::move(options));
  if (!scan.ok()) return {MessageOf(scan.status())};
  std::vector<std::string> lines;
  while (true) {
    auto batch = (*scan)->Next();
    if (!batch.ok()) return {MessageOf(batch.status())};
    if (*batch == nullptr) break;
    const arrow::RecordBatch& rows = *(*batch)->rows;
    for (int64_t i = 0; i < rows.num_rows(); ++i) {
      const auto at = static_cast<size_t>(i);
      std::string line =
          FormatKey((*batch)->write_id[at], (*batch)->bucket[at], (*batch)->row_id[at]) + " {";
      for (int c = 0; c < rows.num_columns(); ++c) {
        const Column& column = (*scan)->columns()[static_cast<size_t>(c)];
        line += fmt::format("{}\"{}\":", c == 0 ? "" : ",", column.name);
        format::AppendJson(*rows.column(c), i, column.type, &line);
      }
      lines.push_back(line + "}");
    }
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> FileEvents(fs::FileSystem& fs, const std::string& path) {
  auto file = fs.OpenForRead(path);
  if (!file.ok()) return {MessageOf(file.status())};
  auto reader = orc::OpenReader(*std::move(file), {});
  if (!reader.ok()) return {MessageOf(reader.status())};
  auto stream = (*reader)->Read({.columns = std::vector<std::string>(), .stripes = std::nullopt});
  if (!stream.ok()) return {MessageOf(stream.status())};
  std::vector<std::string> events;
  while (true) {
    const auto batch = (*stream)->Next();
    if (!batch.ok()) return {MessageOf(batch.status())};
    if (*batch == nullptr) return events;
    const orc::Batch& b = **batch;
    for (size_t i = 0; i < b.operation.size(); ++i) {
      events.push_back(fmt::format("{} {} {}",
                                   b.operation[i],
                                   FormatKey(b.original_write_id[i], b.bucket[i], b.row_id[i]),
                                   b.current_write_id[i]));
    }
  }
}

std::vector<std::string> NamesIn(const std::string& dir) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

CompactionRequest RequestFor(const std::string& dir,
                             CompactionType type,
                             int64_t txn,
                             const std::string& write_ids) {
  CompactionRequest request;
  request.directory = dir;
  request.type = type;
  request.txn = TxnId(txn);
  request.write_ids = testing::WriteIds(write_ids);
  request.visibility = testing::AllVisible();
  request.columns = OrderColumns();
  return request;
}

}  // namespace skep::compact

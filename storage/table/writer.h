#pragma once

// Writes of one statement to a full-ACID table: insert, delete, and update as delete + insert under
// one statement id (Hive 3's form). Files get their final names; nothing is visible before the
// transaction commits, because readers ignore the write id until then (W-1).

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/format/orc/writer.h"
#include "storage/fs/file_system.h"
#include "storage/model/ids.h"
#include "storage/model/names.h"
#include "storage/model/table.h"

namespace arrow {
class RecordBatch;
}  // namespace arrow

namespace skep::table {

struct WriteTarget {
  TableName name;  // for messages
  std::string location;
  TableKind kind = TableKind::kFullAcid;
  FileFormat format = FileFormat::kOrc;
  TableSchema schema;
  Properties properties;
  WriteId write_id;
  int32_t statement_id = 0;  // 0…4095 (N-7)
  // Called with the partitions that are new to the statement before the first directory of theirs
  // is made, so that a dead writer's rest is found (W-10). Not for tables without partitions. May
  // be empty.
  std::function<absl::Status(const std::vector<std::string>&)> declare_partitions;
};

// Victims of a delete or update: row ids of one partition, in any order, each once.
struct RowIds {
  std::vector<int64_t> write_id;  // original write id
  std::vector<int32_t> bucket;    // bucket property
  std::vector<int64_t> row_id;
  size_t size() const { return write_id.size(); }
};

struct WriteSummary {
  int64_t inserted = 0;
  int64_t deleted = 0;
  int64_t files = 0;
  int64_t bytes = 0;
  std::vector<std::string>
      partitions;  // that got a file, canonical, in byte order; "" for the table itself
};

class PartitionWriter;

// Thread-compatible. Memory: the row ids of all deletes, and what the ORC writers of the open
// partitions buffer.
//
// Order of durability (W-14): data file, its directory, `_orc_acid_version`, the directories above
// up to the table. Close returns only after all of it. Not closed, or closed with an error: what
// was written is removed as far as possible (W-12); what stays is an aborted directory.
class StatementWriter {
 public:
  // `fs` must outlive the writer. Creates nothing: a statement without rows leaves nothing (W-9).
  // Errors: kOperationNotAllowed (external table; the 4097th statement), kNotSupported (insert-only
  // tables, other formats than ORC), kInvalidRequest (a property of ORC's).
  static absl::StatusOr<std::unique_ptr<StatementWriter>> Open(fs::FileSystem& fs,
                                                               WriteTarget target);
  ~StatementWriter();

  // `rows`: the table's columns in order, in the vocabulary; in a partitioned table followed by the
  // partition columns, whose values choose the directory. Errors: kInvalidRequest (another schema),
  // kNotSupported (a bucketed table), kValueOutOfRange (column and row), kStorageUnwritable,
  // kAlreadyExists (the statement id was used before).
  absl::Status Insert(const std::shared_ptr<arrow::RecordBatch>& rows);
  // Into one given partition (canonical name), `rows` without partition columns. "" for the table
  // itself.
  absl::Status InsertInto(const std::string& partition,
                          const std::shared_ptr<arrow::RecordBatch>& rows);
  // Errors: kInvalidRequest for a row id that cannot be one; a row id named twice shows at Close
  // (W-7).
  absl::Status Delete(const std::string& partition, const RowIds& victims);
  // As Delete of the victims and InsertInto of as many new rows.
  absl::Status Update(const std::string& partition,
                      const RowIds& victims,
                      const std::shared_ptr<arrow::RecordBatch>& rows);

  // Makes everything durable. After it, and after any error, only the destructor may follow.
  absl::StatusOr<WriteSummary> Close();

 private:
  StatementWriter(fs::FileSystem& fs, WriteTarget target, orc::WriterOptions options);
  // Declares the partitions that are new, then makes their writers.
  absl::Status Touch(const std::vector<std::string>& partitions);
  absl::Status CheckGivenPartition(const std::string& partition) const;
  absl::Status SyncParents() const;

  fs::FileSystem& fs_;
  const WriteTarget target_;
  // Of all partitions that the statement writes to; outlives their writers.
  orc::MemoryBudget budget_;
  const orc::WriterOptions options_;
  std::map<std::string, std::unique_ptr<PartitionWriter>> writers_;
};

}  // namespace skep::table

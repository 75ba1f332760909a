#pragma once

// The files of one statement in one partition (or unpartitioned table): a delta, a delete delta, or
// both.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/acid/names.h"
#include "storage/format/orc/tail.h"
#include "storage/format/orc/writer.h"
#include "storage/fs/file_system.h"
#include "storage/model/hive_type.h"
#include "storage/model/ids.h"
#include "storage/table/writer.h"

namespace arrow {
class RecordBatch;
}  // namespace arrow

namespace skep::table {

// Thread-compatible. The destructor removes what was written unless Keep was called.
class PartitionWriter {
 public:
  struct Spec {
    std::string directory;  // of the partition; made when the first file needs it
    std::vector<Column> columns;
    orc::WriterOptions orc;
    WriteId write_id;
    int32_t statement_id = 0;
  };

  PartitionWriter(fs::FileSystem& fs, Spec spec);
  ~PartitionWriter();

  absl::Status Insert(const std::shared_ptr<arrow::RecordBatch>& rows);
  absl::Status Delete(const RowIds& victims);
  // Data files, their directories and version files are durable; the partition's own directory is
  // not synced. Adds what was written to `summary`.
  absl::Status Close(WriteSummary* summary);
  void Keep() { made_.clear(); }

 private:
  absl::StatusOr<std::string> MakeDirectory(acid::DirKind kind);
  absl::Status WriteDeletes(WriteSummary* summary);
  absl::Status WriteDeletesOfBucket(const std::string& directory,
                                    int32_t bucket,
                                    const std::vector<orc::AcidKey>& keys,
                                    WriteSummary* summary);
  absl::Status Seal(const std::string& directory);

  fs::FileSystem& fs_;
  const Spec spec_;
  std::vector<std::string> made_;  // directories to remove unless they are kept
  std::string delta_;
  std::unique_ptr<orc::AcidWriter> inserts_;
  int64_t next_row_id_ = 0;
  std::vector<orc::AcidKey> victims_;
};

}  // namespace skep::table

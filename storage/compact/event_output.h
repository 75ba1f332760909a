#pragma once

// One output file of a compaction: takes the kept events of runs, in order. Small pieces are joined
// before they are written, without holding on to more than a few batches that their sources are
// done with.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/compact/event_merge.h"
#include "storage/format/orc/writer.h"
#include "storage/fs/file_system.h"
#include "storage/model/hive_type.h"

namespace arrow {
class RecordBatch;
}  // namespace arrow

namespace skep::compact {

// Thread-compatible. The file is made with the first event: no events, no file (OUT-4).
class EventOutput {
 public:
  struct Options {
    EventKind kind = EventKind::kInserts;
    std::vector<Column> columns;  // of the table
    orc::WriterOptions orc;
  };

  // `fs` must outlive the output. The directory of `path` must exist.
  EventOutput(fs::FileSystem& fs, std::string path, Options options);
  ~EventOutput();

  // `kept`: ascending indices within the run. Inserts get operation 0 and their own write id as the
  // current one (OUT-8); deletes keep theirs.
  absl::Status Add(const EventRun& run, const std::vector<int64_t>& kept);
  // Syncs and closes. Zero rows: there is no file.
  absl::StatusOr<orc::FileSummary> Close();

 private:
  void TakeEvents(const orc::Batch& events, const std::vector<int64_t>& kept);
  absl::Status Flush();
  absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> JoinRows();

  fs::FileSystem& fs_;
  const std::string path_;
  const Options options_;
  std::unique_ptr<orc::AcidWriter> writer_;
  orc::Batch buffer_;                                            // events not written yet
  std::vector<std::shared_ptr<arrow::RecordBatch>> row_pieces_;  // their rows
  int finished_batches_ = 0;  // among the pieces' batches: those that no source holds any more
};

}  // namespace skep::compact

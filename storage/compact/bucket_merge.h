#pragma once

// The merge of one bucket: insert events in order, minus what was deleted or aborted (major), or
// insert and delete events side by side (minor). Memory: a batch of each open source and the
// output's stripe.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/compact/event_merge.h"
#include "storage/compact/event_output.h"
#include "storage/format/orc/writer.h"
#include "storage/fs/file_system.h"
#include "storage/model/hive_type.h"
#include "storage/model/snapshot.h"
#include "storage/table/sources.h"

namespace skep::compact {

// What happened to events, counted.
struct MergeTotals {
  int64_t rows_read = 0;
  int64_t rows_deleted = 0;
  int64_t rows_aborted = 0;
  int64_t rows_written = 0;
  int64_t deletes_read = 0;
  int64_t deletes_aborted = 0;
  int64_t deletes_written = 0;
  int64_t bytes_written = 0;
  int64_t files_written = 0;

  MergeTotals& operator+=(const MergeTotals& other);
  friend bool operator==(const MergeTotals&, const MergeTotals&) = default;
};

struct MergeOptions {
  std::vector<Column> columns;  // of the table, without partition columns
  orc::WriterOptions orc;
  std::optional<orc::Calendar> source_calendar;  // a table property's word on all files
  WriteIdSnapshot write_ids;                     // the compactor's view
  int64_t batch_rows = 16384;
  // Delete files of one bucket that are read at once; more are first merged into files of their own
  // (OUT-14).
  size_t max_open_deletes = 128;
  std::string scratch_dir;  // exists, hidden from readers
  // Called after each batch with the number of events that this merge has read; an error ends it.
  std::function<absl::Status(int64_t)> after_batch;
};

// OUT-8, OUT-10, OUT-11: visible rows of the bucket, ids unchanged, into `path`. Errors: those of
// EventMerge and of the writer.
absl::StatusOr<MergeTotals> MergeMajor(fs::FileSystem& fs,
                                       const table::BucketSources& sources,
                                       const std::string& path,
                                       const MergeOptions& options);

// OUT-9, OUT-10: insert events into `delta_path`, delete events into `delete_path`; what aborted
// ids wrote is dropped, a row and its delete in the same range both stay.
absl::StatusOr<MergeTotals> MergeMinor(fs::FileSystem& fs,
                                       const table::BucketSources& sources,
                                       const std::string& delta_path,
                                       const std::string& delete_path,
                                       const MergeOptions& options);

}  // namespace skep::compact

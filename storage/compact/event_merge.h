#pragma once

// Events of many sources in key order (RW-8), in runs as long as the sources do not interleave.
// Memory: one batch of each source that is open; a source is opened only when its lowest possible
// key comes up, so deltas that follow one another are read one after another.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/format/orc/reader.h"
#include "storage/format/orc/tail.h"
#include "storage/fs/file_system.h"
#include "storage/model/hive_type.h"
#include "storage/table/column_mapping.h"
#include "storage/table/sources.h"

namespace arrow {
class RecordBatch;
}  // namespace arrow

namespace skep::compact {

// Some neighbouring events of one source. Valid until the next call of Next.
struct EventRun {
  const table::SourceFile* source = nullptr;
  const orc::Batch* events = nullptr;
  std::shared_ptr<arrow::RecordBatch>
      rows;           // of the whole batch, in the table's columns; null for deletes
  int64_t begin = 0;  // events [begin, end) of the batch
  int64_t end = 0;

  orc::AcidKey KeyAt(int64_t i) const;
};

enum class EventKind { kInserts, kDeletes };

// Thread-compatible.
class EventMerge {
 public:
  struct Options {
    EventKind kind = EventKind::kInserts;
    std::vector<Column> columns;            // of the table; inserts only
    std::optional<orc::Calendar> calendar;  // a table property's word on all files
    int64_t batch_rows = 16384;
    // Called with the number of events read so far, after each batch; an error ends the merge.
    std::function<absl::Status(int64_t)> after_batch;
  };

  // `fs` must outlive the merge.
  EventMerge(fs::FileSystem& fs, std::vector<table::SourceFile> files, Options options);
  ~EventMerge();

  // nullopt at the end. Inserts: strictly ascending keys over all sources; two rows of one key are
  // kCorruptFile naming both files. Deletes: ascending, the newest of one key first. Errors: those
  // of table::OpenSource; kNotSupported by path and column where a file's columns do not give the
  // table's (OUT-12); kCorruptFile where a file holds a key that its place does not allow.
  absl::StatusOr<std::optional<EventRun>> Next();

  int64_t events_read() const { return events_read_; }

 private:
  struct Position;  // a key and, for deletes, how new it is
  class Cursor;

  static bool Later(const std::unique_ptr<Cursor>& a, const std::unique_ptr<Cursor>& b);
  absl::Status OpenDue();
  absl::StatusOr<std::unique_ptr<Cursor>> Open(const table::SourceFile& file);
  absl::Status CheckOrder(const Cursor& next);
  absl::Status Advance();

  fs::FileSystem& fs_;
  const Options options_;
  std::vector<table::SourceFile> pending_;     // the one to open first is the last
  std::vector<std::unique_ptr<Cursor>> open_;  // a heap: the lowest key first
  std::unique_ptr<Cursor> current_;            // whose run was returned last
  int64_t current_end_ = 0;
  bool any_ = false;
  orc::AcidKey last_;  // of the run that was returned last
  std::string last_path_;
  int64_t events_read_ = 0;
};

// A key that no event of the file lies below.
orc::AcidKey LowestPossibleKey(const table::SourceFile& file);

}  // namespace skep::compact

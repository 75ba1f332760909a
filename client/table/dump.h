#pragma once

// The rows of any ACID directory, without a daemon: what `skepctl dump` prints.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/acid/selection.h"
#include "storage/fs/file_system.h"
#include "storage/table/scan.h"

namespace skep::client {

struct DumpOptions {
  std::string directory;  // of a table (partitioned or not) or of one partition
  std::string write_ids;  // Hive's text "DB.T:HIGH:MIN_OPEN:OPEN,…:ABORTED,…"; its name is not
                          // compared. Empty: everything that is there is visible
  std::string txns;  // "HIGH:MIN_OPEN:OPEN,…:ABORTED,…" for judging `_vN`; empty: all are committed
  std::string ddl;    // Hive's SHOW CREATE TABLE text; empty: columns as the newest file has them
  int64_t limit = 0;  // at most so many rows; 0: all
};

// What was read of one partition, or of the table itself.
struct DumpedDirectory {
  std::string partition;  // as listed, "order_date=2026-10-01"; empty: the directory itself
  std::vector<acid::Judged> judged;
  table::ScanStats stats;
};

struct DumpReport {
  std::vector<DumpedDirectory> directories;
  int64_t rows = 0;  // that were given to `line`
  bool cut = false;  // the limit was reached before the end; later partitions were not looked at
};

// Calls `line` with one JSON object a row, without newline, by partition path and row id:
//   {"partition":"order_date=2026-10-01","writeid":1,"bucket":536870912,"rowid":0,"row":{…}}
// "partition" is there below a partitioned table's root only. With `ddl` the row ends with the
// typed partition columns, as Hive shows them, also where the directory is one partition (its path
// names it); without, the directory is taken as partitioned where its sub-directories are named
// column=value. Memory: the lines of one partition (they are sorted).
//
// Errors: kInvalidRequest (a list or DDL that contradicts itself or does not parse),
// kNotEnoughHistory (S-8), kLegacyLayout, kNotSupported (insert-only tables, schema evolution),
// kTableNotTransactional by the DDL; kMalformedDirectory, kCorruptFile, kValueOutOfRange; NOT_FOUND
// where there is no such directory. Lines of partitions before the one that fails were called.
absl::StatusOr<DumpReport> Dump(fs::FileSystem& fs,
                                const DumpOptions& options,
                                const std::function<absl::Status(std::string_view)>& line);

// For people (`--stats`): per directory what became of it and why, then the counts.
std::string FormatDumpReport(const DumpReport& report);

}  // namespace skep::client

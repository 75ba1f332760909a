#pragma once

// Table directories for tests, byte for byte on disk: ACID files with any events, also wrong ones,
// written through Arrow's adapter so that no test of reading leans on the writer under test.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/fs/posix_file_system.h"
#include "storage/table/scan.h"
#include "tests/testing/temp_dir.h"

namespace skep::testing {

struct Event {
  int32_t operation = 0;
  int64_t write_id = 0;  // original
  int32_t bucket = 0;    // property
  int64_t row_id = 0;
  int64_t current = 0;
  std::optional<int32_t> id;  // the row's only column; nullopt in deletes
};

// Insert of write id `w`, bucket 0, statement 0.
Event Insert(int64_t w, int64_t row_id, int32_t id, int32_t bucket = 0, int32_t statement = 0);
// Delete of the row (w, bucket 0 statement 0, row_id) by write id `by`.
Event Delete(int64_t w, int64_t row_id, int64_t by, int32_t bucket = 0, int32_t statement = 0);

// A temporary table directory with the column `id int`.
class TestTable {
 public:
  const std::string& dir() const { return temp_.path(); }
  std::string Path(const std::string& relative) const { return temp_.path() + "/" + relative; }
  fs::FileSystem& fs() { return fs_; }

  void AcidFile(const std::string& relative, const std::vector<Event>& events);
  void PlainFile(const std::string& relative, const std::vector<int32_t>& ids);
  void Text(const std::string& relative, const std::string& bytes);
  void Directory(const std::string& relative);
  std::string Bytes(const std::string& relative);

  // Rows as "w/bucket property/row id=id" under Hive's texts "HIGH:MIN:OPEN:ABORTED", sorted.
  absl::StatusOr<std::vector<std::string>> Rows(const std::string& write_ids,
                                                const std::string& txns = "1000:::",
                                                table::ScanOptions options = {});
  absl::StatusOr<std::unique_ptr<table::Scan>> Open(const std::string& write_ids,
                                                    table::ScanOptions options = {});

 private:
  TempDir temp_;
  fs::PosixFileSystem fs_;
};

// All rows of a scan, as TestTable::Rows prints them; further columns follow as JSON.
absl::StatusOr<std::vector<std::string>> AllRows(table::Scan& scan);

std::vector<Column> IdColumn();

}  // namespace skep::testing

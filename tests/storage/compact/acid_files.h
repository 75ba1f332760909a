#pragma once

// Real ACID files for tests of compaction: written by orc::AcidWriter, read by scans and event by
// event.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/compact/job.h"
#include "storage/fs/file_system.h"
#include "storage/model/hive_type.h"
#include "tests/testing/listings.h"

namespace skep::compact {

// One event of a table (id int, status string). A delete has neither.
struct TestEvent {
  int64_t write_id = 0;
  int32_t bucket = 536870912;
  int64_t row_id = 0;
  int64_t current_write_id = 0;  // 0: its own
  std::optional<int32_t> id;
  std::optional<std::string> status;
};

// id int, status string.
std::vector<Column> OrderColumns();

// `dir`/`name`/bucket_NNNNN, NNNNN by the events' bucket property, with `_orc_acid_version`. The
// kind of events follows from the name.
void WriteAcidFile(fs::FileSystem& fs,
                   const std::string& dir,
                   const std::string& name,
                   const std::vector<TestEvent>& events,
                   const Properties& properties = {});

// acid-layout §16: orders 1 and 2 inserted, 1 updated, 2 deleted.
void WriteWorkedExample(fs::FileSystem& fs, const std::string& dir);

// The rows that a scan sees, sorted: "(1,536870912,0) {"id":1,"status":"new"}". A failure is one
// line with it.
std::vector<std::string> ScanRows(fs::FileSystem& fs,
                                  const std::string& dir,
                                  const WriteIdSnapshot& write_ids,
                                  const acid::Visibility& visibility,
                                  std::optional<std::vector<Column>> columns = std::nullopt);

// Every event of one file in order: "0 (1,536870912,0) 1" = operation, row id, current write id.
std::vector<std::string> FileEvents(fs::FileSystem& fs, const std::string& path);

// Names in the directory, sorted, hidden ones included.
std::vector<std::string> NamesIn(const std::string& dir);

// A request over (id, status) for transaction `txn` that sees everything else.
CompactionRequest RequestFor(const std::string& dir,
                             CompactionType type,
                             int64_t txn,
                             const std::string& write_ids);

}  // namespace skep::compact

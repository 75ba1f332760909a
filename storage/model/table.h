#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/model/hive_type.h"

namespace skep {

enum class TableKind { kFullAcid = 0, kInsertOnly = 1, kExternal = 2 };
enum class FileFormat { kOrc = 0, kParquet = 1, kAvro = 2, kText = 3, kOther = 4 };

std::string_view TableKindName(TableKind kind);      // "FULL_ACID", "INSERT_ONLY", "EXTERNAL"
std::string_view FileFormatName(FileFormat format);  // "orc", "parquet", …
absl::StatusOr<FileFormat> ParseFileFormat(std::string_view text);

// CLUSTERED BY (columns) INTO count BUCKETS: Hive looks for a row only in the bucket that its hash
// names (P-7). Skep reads and compacts such tables, and places no rows by hash.
struct Bucketing {
  std::vector<std::string> columns;  // of the table, lower case
  int32_t count = 0;                 // 0: not bucketed
  bool bucketed() const { return count > 0; }
  friend bool operator==(const Bucketing&, const Bucketing&) = default;
};

// What the files of a table hold. Managed means transactional: ORC becomes full ACID, every other
// format insert-only; an external table is never written.
struct TableSchema {
  std::vector<Column> columns;
  std::vector<Column> partition_columns;
  Bucketing bucketing;
  friend bool operator==(const TableSchema&, const TableSchema&) = default;
};

using Properties = std::map<std::string, std::string>;

// What a managed table is: ORC is full ACID unless `transactional_properties` says insert_only, any
// other format is insert-only (P-1…P-3).
TableKind ManagedKind(FileFormat format, const Properties& properties);

// "CLUSTERED BY (order_id) INTO 4 BUCKETS"; empty where the table is not bucketed.
std::string BucketingClause(const Bucketing& bucketing);

// A property with this key in any case, as Hive looks up NO_AUTO_COMPACTION. Empty if absent.
std::string PropertyIgnoreCase(const Properties& properties, std::string_view key);

}  // namespace skep

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/model/ids.h"
#include "storage/model/names.h"

namespace skep::client {

struct ColumnSpec {
  std::string name;  // case-insensitive
  std::string type;  // in Hive's words: "bigint", "decimal(12,2)", "array<string>"
  std::string comment;
};

// A table to create. A managed table is transactional: ORC becomes full ACID, every other format
// insert-only.
struct TableSpec {
  TableName name;
  std::vector<ColumnSpec> columns;
  std::vector<ColumnSpec> partition_columns;
  std::string format = "orc";  // orc, text, parquet, avro
  bool external = false;
  std::string location;  // empty: below the server's first warehouse root
  std::map<std::string, std::string> properties;
};

// A table as the registry knows it.
struct TableDescription {
  TableId id;  // never used again, also not by a table of the same name
  TableName name;
  std::string kind;    // "FULL_ACID", "INSERT_ONLY", "EXTERNAL"
  std::string format;  // "orc", …
  std::string location;
  std::vector<ColumnSpec> columns;
  std::vector<ColumnSpec> partition_columns;
  std::map<std::string, std::string> properties;
  // CLUSTERED BY: rows lie in the bucket of their hash. Such a table is read and compacted; Skep
  // deletes rows of it, and adds none.
  std::vector<std::string> bucket_columns;
  int32_t bucket_count = 0;  // 0: not bucketed
};

}  // namespace skep::client

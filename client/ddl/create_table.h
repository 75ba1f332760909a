#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/model/hive_type.h"
#include "storage/model/table.h"

namespace skep::ddl {

// What a CREATE TABLE statement says, as SHOW CREATE TABLE of Hive prints it. Value type.
struct CreateTable {
  struct Bucketing {
    std::vector<std::string> columns;  // lower case
    std::vector<std::string> sorted_by;
    int bucket_count = 0;  // 0: not bucketed
  };

  std::string database;  // lower case; empty if the name has one part
  std::string table;     // lower case
  bool external = false;
  std::vector<Column> columns;
  std::vector<Column> partition_columns;
  std::string comment;
  Bucketing bucketing;
  FileFormat format = FileFormat::kText;  // Hive's default where nothing is said
  std::string format_words;               // as written: "ORC", or the input format's class
  std::string serde;                      // class, empty if not named
  Properties serde_properties;  // DELIMITED's clauses too, under Hive's keys ("field.delim")
  std::string location;         // "file:" taken off; other schemes stay; empty if not given
  Properties properties;        // TBLPROPERTIES

  // EXTERNAL; else INSERT_ONLY or FULL_ACID as `transactional_properties` says.
  TableKind kind() const;
  // `transactional` is true in any case of letters.
  bool transactional() const;
};

// Parses one CREATE TABLE statement: comments (--), a final ';' and the ALTER TABLE … ADD
// CONSTRAINT lines that Hive 4 prints behind it are passed over. Names are lower-cased, types are
// those of ParseHiveType.
//
// Errors: kInvalidRequest with metadata line and column (from 1, in characters) and a message of
// three lines: what was expected and found, the line, a caret below the place. kNotSupported in the
// same form for storage handlers, transforms (PARTITIONED BY SPEC) and views.
absl::StatusOr<CreateTable> ParseCreateTable(std::string_view text);

}  // namespace skep::ddl

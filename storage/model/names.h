#pragma once

// Names of tables and partitions in their one canonical form. Self-contained: installed with the
// client library.

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

namespace skep {

// A table's name: both parts lower case, letters, digits and underscores, 1 to 128 characters each.
struct TableName {
  std::string database;
  std::string table;

  std::string ToString() const { return database + "." + table; }
  friend auto operator<=>(const TableName&, const TableName&) = default;
};

// Lower-cases and checks. Errors: kInvalidRequest naming the part, the character and what is
// allowed.
absl::StatusOr<TableName> MakeTableName(std::string_view database, std::string_view table);
// "DB.T". Errors: kInvalidRequest.
absl::StatusOr<TableName> ParseTableName(std::string_view text);
// One database name alone, lower-cased and checked.
absl::StatusOr<std::string> MakeDatabaseName(std::string_view database);

// A partition: column names (lower case) with their values, in the order of the partition columns.
// A value is bytes as the user gave them; nullopt is the NULL partition (and the empty string,
// which Hive stores the same way).
//
// Its name is the directory path below the table, "k1=v1/k2=v2", escaped as Hive escapes it
// (FileUtils.escapePathName): this text is the partition's identity everywhere. The empty name
// means "the table itself" of a table without partitions.
struct PartitionSpec {
  std::vector<std::pair<std::string, std::optional<std::string>>> values;

  friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;
};

inline constexpr std::string_view kDefaultPartitionValue = "__HIVE_DEFAULT_PARTITION__";

// Percent-escapes one path component: control characters, DEL and " # % ' * / : = ? \ { [ ] ^
std::string EscapePathComponent(std::string_view text);
// The inverse; a '%' that is not followed by two hex digits stays as it is (as Hive does).
std::string UnescapePathComponent(std::string_view text);

std::string FormatPartition(const PartitionSpec& spec);
// Parses and canonicalises (column names lower case, values re-escaped). Empty text gives an empty
// spec. Errors: kInvalidRequest (component without '=', empty column name, "..", invalid UTF-8).
absl::StatusOr<PartitionSpec> ParsePartition(std::string_view text);

}  // namespace skep

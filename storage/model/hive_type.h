#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace skep {

enum class TypeKind {
  kBoolean,
  kTinyint,
  kSmallint,
  kInt,
  kBigint,
  kFloat,
  kDouble,
  kString,
  kChar,
  kVarchar,
  kBinary,
  kDate,
  kTimestamp,
  kTimestampLocalTz,
  kDecimal,
  kList,
  kMap,
  kStruct,
  kUnion,
};

// A column's type in Hive's words: `decimal(12,2)`, `array<string>`,
// `struct<a:int,b:map<string,double>>`, `uniontype<int,string>`, `timestamp with local time zone`.
// Value type.
struct HiveType {
  TypeKind kind = TypeKind::kString;
  int32_t length = 0;                    // char, varchar
  int32_t precision = 0;                 // decimal, 1…38
  int32_t scale = 0;                     // decimal, 0…precision
  std::vector<HiveType> children;        // list: element; map: key, value; struct, union: members
  std::vector<std::string> field_names;  // struct only, as many as children

  std::string ToString() const;
  friend bool operator==(const HiveType&, const HiveType&) = default;
};

// Accepts Hive's synonyms (integer, numeric, double precision) and any case; bare `decimal` is
// decimal(10,0). Errors: kInvalidRequest with the offending word and its position; nesting deeper
// than 64.
absl::StatusOr<HiveType> ParseHiveType(std::string_view text);

struct Column {
  std::string name;  // lower case
  HiveType type;
  std::string comment;
  friend bool operator==(const Column&, const Column&) = default;
};

// "order_id bigint, status string COMMENT 'x', amount decimal(12,2)". Names may be in `backquotes`.
// Errors: kInvalidRequest; a name that occurs twice.
absl::StatusOr<std::vector<Column>> ParseColumns(std::string_view text);

}  // namespace skep

#pragma once

#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "storage/model/names.h"

namespace skep::cli {

// DB[.TABLE[/PART]] as given on the command line; names in canonical form.
struct Resource {
  std::string database;
  std::string table;      // empty: the database
  std::string partition;  // empty: the table

  std::string ToString() const;
  TableName name() const { return {database, table}; }
};

enum class Scope { kDatabase, kTable };
// `least` says what must be named. Errors: kInvalidRequest naming the argument and its form,
// a fault of the command line.
absl::StatusOr<Resource> ParseResource(std::string_view text, Scope least);

}  // namespace skep::cli

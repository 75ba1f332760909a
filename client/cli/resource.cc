#include "client/cli/resource.h"

#include <algorithm>

#include "client/cli/usage.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {

namespace {

absl::StatusOr<Resource> Parse(std::string_view text, Scope least) {
  // A value of a partition may hold dots, a database or table name may not hold slashes.
  const size_t slash = std::min(text.find('/'), text.size());
  const std::string_view names = text.substr(0, slash);
  Resource resource;
  if (names.find('.') == std::string_view::npos) {
    if (least == Scope::kTable || slash != text.size()) {
      return MakeError(
          ErrorReason::kInvalidRequest,
          "'" + Printable(text) + "' names no table; give DB.TABLE or DB.TABLE/PARTITION",
          {{"field", "resource"}});
    }
    SKEP_ASSIGN_OR_RETURN(resource.database, MakeDatabaseName(names));
    return resource;
  }
  SKEP_ASSIGN_OR_RETURN(TableName table, ParseTableName(names));
  resource.database = table.database;
  resource.table = table.table;
  if (slash < text.size()) {
    SKEP_ASSIGN_OR_RETURN(PartitionSpec partition, ParsePartition(text.substr(slash + 1)));
    resource.partition = FormatPartition(partition);
  }
  return resource;
}

}  // namespace

std::string Resource::ToString() const {
  std::string text = database;
  if (!table.empty()) text += "." + table;
  if (!partition.empty()) text += "/" + partition;
  return text;
}

absl::StatusOr<Resource> ParseResource(std::string_view text, Scope least) {
  absl::StatusOr<Resource> resource = Parse(text, least);
  if (!resource.ok()) return AsUsage(resource.status());
  return resource;
}

}  // namespace skep::cli

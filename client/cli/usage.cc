#include "client/cli/usage.h"

#include <utility>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

constexpr char kUsageKey[] = "usage";

}  // namespace

absl::Status AsUsage(const absl::Status& status) {
  if (status.ok() || IsUsage(status)) return status;
  ErrorMetadata metadata = MetadataOf(status);
  metadata[kUsageKey] = "true";
  return MakeError(ReasonOf(status), MessageOf(status), std::move(metadata));
}

bool IsUsage(const absl::Status& status) { return MetadataOf(status).contains(kUsageKey); }

absl::StatusOr<TableName> ParseTableArgument(std::string_view text) {
  absl::StatusOr<TableName> name = ParseTableName(text);
  if (!name.ok()) return AsUsage(name.status());
  return name;
}

}  // namespace skep::cli

#include "storage/table/source_errors.h"

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::table {

absl::Status MalformedError(const std::string& path, std::string_view what) {
  return MakeError(ErrorReason::kMalformedDirectory,
                   fmt::format("{} {}", Printable(path), what),
                   {{"path", path}});
}

absl::Status GoneIfNotFound(const absl::Status& status, const std::string& path) {
  if (!absl::IsNotFound(status)) return status;
  return MakeError(
      ErrorReason::kNotEnoughHistory,
      fmt::format("{} was listed and is gone: it was cleaned while this transaction no "
                  "longer held it; restart the transaction",
                  Printable(path)),
      {{"path", path}});
}

absl::Status MissingIfNotFound(const absl::Status& status, const std::string& dir) {
  if (!absl::IsNotFound(status) || ReasonOf(status) != ErrorReason::kUnspecified) return status;
  return MalformedError(dir,
                        "is missing: the directory was removed outside Skep, or its partition was "
                        "declared by a transaction that wrote nothing; put it back, or make it an "
                        "empty directory to read it as empty");
}

absl::Status LegacyError(const std::string& path, std::string_view evidence) {
  return MakeError(ErrorReason::kLegacyLayout,
                   fmt::format("{} holds {}: a table in the layout before Hive 3 (ACID v1). Run a "
                               "major compaction in Hive 2 before it is used here",
                               Printable(path),
                               evidence),
                   {{"path", path}});
}

absl::Status CorruptError(const std::string& path, std::string_view what) {
  return MakeError(
      ErrorReason::kCorruptFile, fmt::format("{}: {}", Printable(path), what), {{"path", path}});
}

}  // namespace skep::table

#include "storage/compact/input_check.h"

#include <fmt/format.h>

#include "storage/acid/names.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::compact {

namespace {

constexpr int kMaxDepth = 16;  // N-10; deeper is a loop of links

absl::Status Stranger(const std::string& path, std::string_view what) {
  return MakeError(ErrorReason::kMalformedDirectory,
                   fmt::format("{} {}: readers ignore it, and it would be removed with its "
                               "directory; move it out of the table first",
                               Printable(path),
                               what),
                   {{"path", path}});
}

absl::Status CheckTree(fs::FileSystem& fs, const std::string& path, int depth, bool* holds_data) {
  if (depth > kMaxDepth) return Stranger(path, "lies too deep below its table");
  const absl::StatusOr<std::vector<fs::DirEntry>> entries = fs.List(path);
  if (entries.status().code() == absl::StatusCode::kNotFound) {
    return MakeError(ErrorReason::kNotEnoughHistory,
                     Printable(path) + " is gone: it was removed while it was looked at",
                     {{"path", path}});
  }
  SKEP_RETURN_IF_ERROR(entries.status());
  for (const fs::DirEntry& entry : *entries) {
    if (acid::IsHiddenName(entry.name)) continue;
    const std::string below = fs::JoinPath(path, entry.name);
    switch (entry.kind) {
      case fs::EntryKind::kDirectory: {
        bool holds_data_below = acid::IsUnionDirName(entry.name);
        SKEP_RETURN_IF_ERROR(CheckTree(fs, below, depth + 1, &holds_data_below));
        if (!holds_data_below) return Stranger(below, "is a directory without a data file");
        *holds_data = true;
        break;
      }
      case fs::EntryKind::kFile:
        if (acid::ParseFileName(entry.name).kind == acid::FileKind::kOther) {
          return Stranger(below, "is not named like a data file");
        }
        *holds_data = true;
        break;
      case fs::EntryKind::kOther:
        return Stranger(below, "is neither a file nor a directory");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTreeNames(fs::FileSystem& fs, const std::string& path) {
  bool holds_data = false;  // none at all is no fault: an overwrite without rows (H-8)
  return CheckTree(fs, path, 0, &holds_data);
}

absl::Status CheckInputNames(fs::FileSystem& fs,
                             const std::string& dir,
                             const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    const auto name = acid::ParseDirName(input);
    if (!name.ok() || !name->has_value()) continue;  // originals: CollectSources knows their names
    SKEP_RETURN_IF_ERROR(CheckTreeNames(fs, fs::JoinPath(dir, input)));
  }
  return absl::OkStatus();
}

}  // namespace skep::compact

#include "storage/compact/sizes.h"

#include "storage/acid/names.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::compact {

namespace {

constexpr int kMaxDepth = 16;  // N-10: union legs, list bucketing; deeper is a loop of links

absl::StatusOr<int64_t> TreeBytes(fs::FileSystem& fs, const std::string& dir, int depth) {
  if (depth > kMaxDepth) {
    return MakeError(ErrorReason::kMalformedDirectory,
                     Printable(dir) + " lies too deep below its table: a loop of links?",
                     {{"path", dir}});
  }
  SKEP_ASSIGN_OR_RETURN(const std::vector<fs::DirEntry> entries, fs.List(dir));
  int64_t bytes = 0;
  for (const fs::DirEntry& entry : entries) {
    if (acid::IsHiddenName(entry.name)) continue;
    const std::string path = fs::JoinPath(dir, entry.name);
    if (entry.kind == fs::EntryKind::kDirectory) {
      SKEP_ASSIGN_OR_RETURN(const int64_t below, TreeBytes(fs, path, depth + 1));
      bytes += below;
    } else {
      SKEP_ASSIGN_OR_RETURN(const fs::FileInfo info, fs.Stat(path));
      bytes += info.size;
    }
  }
  return bytes;
}

}  // namespace

int64_t Sizes::Of(const std::string& directory) const {
  const auto found = directories.find(directory);
  return found == directories.end() ? 0 : found->second;
}

absl::StatusOr<Sizes> MeasureSelection(fs::FileSystem& fs,
                                       const std::string& dir,
                                       const acid::Selection& selection) {
  Sizes sizes;
  const auto add = [&](const acid::AcidDir& chosen) -> absl::Status {
    const std::string& name = chosen.name.name;
    SKEP_ASSIGN_OR_RETURN(sizes.directories[name], TreeBytes(fs, fs::JoinPath(dir, name), 0));
    return absl::OkStatus();
  };
  if (selection.base) SKEP_RETURN_IF_ERROR(add(*selection.base));
  for (const acid::AcidDir& delta : selection.deltas) SKEP_RETURN_IF_ERROR(add(delta));
  for (const acid::OriginalFile& file : selection.originals) sizes.originals += file.size;
  return sizes;
}

}  // namespace skep::compact

#include "server/duties/directory_roles.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "storage/acid/names.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/table/source_errors.h"
#include "storage/table/sources.h"

namespace skep::duties {
namespace {

constexpr int kMaxDepth = 32;  // deeper is a loop of links

absl::Status AddTree(fs::FileSystem& fs, const std::string& path, int depth, TreeSize& size) {
  if (depth > kMaxDepth) {
    return MakeError(ErrorReason::kMalformedDirectory,
                     Printable(path) + " lies too deep below its table: a loop of links?",
                     {{"path", path}});
  }
  absl::StatusOr<fs::FileInfo> info = fs.Stat(path);
  if (absl::IsNotFound(info.status())) return absl::OkStatus();
  SKEP_RETURN_IF_ERROR(info.status());
  if (info->kind != fs::EntryKind::kDirectory) {
    size.bytes += info->size;
    ++size.files;
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<fs::DirEntry>> entries = fs.List(path);
  if (absl::IsNotFound(entries.status())) return absl::OkStatus();
  SKEP_RETURN_IF_ERROR(entries.status());
  for (const fs::DirEntry& entry : *entries) {
    if (entry.kind == fs::EntryKind::kOther) continue;
    SKEP_RETURN_IF_ERROR(AddTree(fs, fs::JoinPath(path, entry.name), depth + 1, size));
  }
  return absl::OkStatus();
}

DirectoryRole RoleOf(acid::Verdict verdict) {
  switch (verdict) {
    case acid::Verdict::kChosen:
      return DirectoryRole::kLive;
    case acid::Verdict::kObsolete:
      return DirectoryRole::kObsolete;
    case acid::Verdict::kAborted:
      return DirectoryRole::kAborted;
    case acid::Verdict::kForeign:
      return DirectoryRole::kForeign;
    case acid::Verdict::kInvisible:
      break;
  }
  return DirectoryRole::kOpen;
}

// The first component of a path relative to the table or partition.
std::string TopOf(const std::string& name) { return name.substr(0, name.find('/')); }

class Inspection {
 public:
  Inspection(fs::FileSystem& fs, const TableFacts& facts) : fs_(fs), facts_(facts) {}

  absl::StatusOr<std::vector<DirectoryInfo>> Run() {
    const bool partitioned = !facts_.table.schema.partition_columns.empty();
    const bool whole_table = facts_.partitions.size() != 1 || !partitioned;
    if (partitioned && whole_table) SKEP_RETURN_IF_ERROR(AddBesidePartitions());
    for (const std::string& partition : facts_.partitions)
      SKEP_RETURN_IF_ERROR(AddPartition(partition));
    std::stable_sort(
        found_.begin(), found_.end(), [](const DirectoryInfo& a, const DirectoryInfo& b) {
          return std::tie(a.partition, a.name) < std::tie(b.partition, b.name);
        });
    return std::move(found_);
  }

 private:
  absl::Status Add(const std::string& partition,
                   const std::string& name,
                   DirectoryRole role,
                   std::string reason) {
    DirectoryInfo info{partition, name, role, std::move(reason), 0, 0};
    const std::string path = fs::JoinPath(DirectoryOf(facts_.table, partition), name);
    SKEP_ASSIGN_OR_RETURN(const TreeSize size, MeasureTree(fs_, path));
    info.bytes = size.bytes;
    info.files = size.files;
    found_.push_back(std::move(info));
    return absl::OkStatus();
  }

  absl::Status AddPartition(const std::string& partition) {
    const std::string dir = DirectoryOf(facts_.table, partition);
    absl::StatusOr<std::vector<fs::DirEntry>> entries = fs_.List(dir);
    SKEP_ASSIGN_OR_RETURN(const bool there, IsThere(entries.status(), dir));
    if (!there) return absl::OkStatus();
    std::set<std::string> explained;
    if (facts_.table.kind != TableKind::kExternal) {
      SKEP_ASSIGN_OR_RETURN(const acid::Listing listing, table::ListDirectory(fs_, dir));
      SKEP_ASSIGN_OR_RETURN(
          const acid::Selection selection,
          acid::SelectDirectories(
              listing, facts_.write_ids, VisibilityOf(facts_.table, facts_.txns)));
      for (const acid::Judged& judged : selection.judged) {
        explained.insert(TopOf(judged.name));
        SKEP_RETURN_IF_ERROR(Add(partition, judged.name, RoleOf(judged.verdict), judged.because));
      }
    }
    for (const fs::DirEntry& entry : *entries) {
      if (explained.contains(entry.name)) continue;
      SKEP_RETURN_IF_ERROR(
          Add(partition, entry.name, DirectoryRole::kForeign, WhyForeign(entry.name)));
    }
    return absl::OkStatus();
  }

  // What lies in the table's directory and leads to none of its partitions.
  absl::Status AddBesidePartitions() {
    std::set<std::string> tops;
    for (const std::string& partition : facts_.partitions) tops.insert(TopOf(partition));
    absl::StatusOr<std::vector<fs::DirEntry>> entries = fs_.List(facts_.table.location);
    SKEP_ASSIGN_OR_RETURN(const bool there, IsThere(entries.status(), facts_.table.location));
    if (!there) return absl::OkStatus();
    for (const fs::DirEntry& entry : *entries) {
      if (tops.contains(entry.name)) continue;
      const bool hidden = acid::IsHiddenName(entry.name);
      SKEP_RETURN_IF_ERROR(
          Add("",
              entry.name,
              DirectoryRole::kForeign,
              hidden ? WhyForeign(entry.name) : "leads to no registered partition"));
    }
    return absl::OkStatus();
  }

  // Only what an external table names need not be there.
  absl::StatusOr<bool> IsThere(const absl::Status& listed, const std::string& dir) const {
    const bool external = facts_.table.kind == TableKind::kExternal;
    if (external && absl::IsNotFound(listed)) return false;
    SKEP_RETURN_IF_ERROR(table::MissingIfNotFound(listed, dir));
    return true;
  }

  std::string WhyForeign(const std::string& name) const {
    if (facts_.table.kind == TableKind::kExternal) return "the table is external";
    return acid::IsHiddenName(name) ? "hidden name: no reader sees it" : "not part of the layout";
  }

  fs::FileSystem& fs_;
  const TableFacts& facts_;
  std::vector<DirectoryInfo> found_;
};

}  // namespace

absl::StatusOr<std::vector<DirectoryInfo>> ListTableDirectories(fs::FileSystem& fs,
                                                                const TableFacts& facts) {
  return Inspection(fs, facts).Run();
}

absl::StatusOr<TreeSize> MeasureTree(fs::FileSystem& fs, const std::string& path) {
  TreeSize size;
  SKEP_RETURN_IF_ERROR(AddTree(fs, path, 0, size));
  return size;
}

}  // namespace skep::duties

#include "server/duties/partition_scan.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "storage/acid/names.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/model/names.h"
#include "storage/table/sources.h"

namespace skep::duties {
namespace {

constexpr size_t kMaxLevels = 32;  // deeper is a loop of links

absl::Status Malformed(const std::string& path, const std::string& what) {
  return MakeError(
      ErrorReason::kMalformedDirectory, Printable(path) + " " + what, {{"path", path}});
}

std::string ColumnOf(std::string_view component) {
  return AsciiLower(UnescapePathComponent(component.substr(0, component.find('='))));
}

// The columns of the deepest chain of partition directories below `dir`.
absl::StatusOr<std::vector<std::string>> DeepestChain(fs::FileSystem& fs,
                                                      const std::string& dir,
                                                      size_t level) {
  if (level > kMaxLevels) return Malformed(dir, "lies too deep below its table: a loop of links?");
  SKEP_ASSIGN_OR_RETURN(const std::vector<fs::DirEntry> entries, fs.List(dir));
  std::vector<std::string> deepest;
  std::optional<std::string> partition;  // the first of each kind, for messages
  std::optional<std::string> data;
  for (const fs::DirEntry& entry : entries) {
    if (acid::IsHiddenName(entry.name)) continue;
    const std::string path = fs::JoinPath(dir, entry.name);
    const bool is_partition =
        entry.kind == fs::EntryKind::kDirectory && entry.name.find('=') != std::string::npos;
    std::optional<std::string>& first = is_partition ? partition : data;
    if (!first) first = path;
    if (partition && data) {
      return Malformed(
          *partition,
          fmt::format("is a partition directory beside data ({}): a table is partitioned as a "
                      "whole or not at all",
                      Printable(*data)));
    }
    if (!is_partition) continue;
    SKEP_ASSIGN_OR_RETURN(std::vector<std::string> chain, DeepestChain(fs, path, level + 1));
    chain.insert(chain.begin(), ColumnOf(entry.name));
    if (chain.size() > deepest.size()) deepest = std::move(chain);
  }
  return deepest;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> DetectPartitionColumns(fs::FileSystem& fs,
                                                                const std::string& table_dir) {
  return DeepestChain(fs, table_dir, 0);
}

absl::StatusOr<std::vector<std::string>> ListPartitions(fs::FileSystem& fs,
                                                        const std::string& table_dir,
                                                        const std::vector<std::string>& columns) {
  SKEP_ASSIGN_OR_RETURN(std::vector<std::string> partitions,
                        table::ListPartitionDirectories(fs, table_dir, columns.size()));
  if (columns.empty()) return partitions;
  for (const std::string& partition : partitions) {
    const std::string path = fs::JoinPath(table_dir, partition);
    absl::StatusOr<PartitionSpec> spec = ParsePartition(partition);
    if (!spec.ok())
      return Malformed(path, "is no partition directory: " + MessageOf(spec.status()));
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i < spec->values.size() && spec->values[i].first == columns[i]) continue;
      return Malformed(path,
                       fmt::format("names other columns than the table's partition columns ({})",
                                   JoinText(columns, ", ")));
    }
    if (const std::string canonical = FormatPartition(*spec); canonical != partition) {
      return Malformed(
          path,
          fmt::format("is not spelled as Hive spells this partition, {}: rename the directory",
                      Printable(canonical)));
    }
  }
  return partitions;
}

}  // namespace skep::duties

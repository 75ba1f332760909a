#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/table/source_errors.h"
#include "storage/table/sources.h"

namespace skep::table {
namespace {

// Union legs and list bucketing nest one or two levels; more than this is a loop of links.
constexpr int kMaxDepth = 8;
constexpr int64_t kMetadataLimit = 64 << 10;
constexpr int kListAttempts = 3;

absl::StatusOr<std::string> ReadBaseMetadata(fs::FileSystem& fs, const std::string& base) {
  const std::string path = fs::JoinPath(base, acid::kMetadataFile);
  absl::StatusOr<std::string> text = fs::ReadSmallFile(fs, path, kMetadataLimit);
  if (absl::IsNotFound(text.status())) return std::string();
  SKEP_RETURN_IF_ERROR(text.status());
  const auto json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("dataFormat") || !json["dataFormat"].is_string()) {
    return MakeError(ErrorReason::kMalformedDirectory,
                     fmt::format("{}: not a JSON object with \"dataFormat\": cannot tell what kind "
                                 "of base this is",
                                 Printable(path)),
                     {{"path", path}});
  }
  return json["dataFormat"].get<std::string>();
}

class Lister {
 public:
  Lister(fs::FileSystem& fs, std::string dir) : fs_(fs), dir_(std::move(dir)) {}

  absl::StatusOr<acid::Listing> Run() {
    SKEP_ASSIGN_OR_RETURN(std::vector<fs::DirEntry> entries, fs_.List(dir_));
    for (const fs::DirEntry& entry : entries) {
      if (acid::IsHiddenName(entry.name)) continue;
      if (entry.kind == fs::EntryKind::kDirectory) {
        SKEP_RETURN_IF_ERROR(AddDirectory(entry.name));
      } else {
        SKEP_RETURN_IF_ERROR(AddFile(entry.name, entry.kind));
      }
    }
    return std::move(listing_);
  }

 private:
  absl::Status AddDirectory(const std::string& name) {
    const std::string path = fs::JoinPath(dir_, name);
    absl::StatusOr<std::optional<acid::AcidDirName>> parsed = acid::ParseDirName(name);
    if (!parsed.ok()) return Annotate(parsed.status(), Printable(dir_));
    if (!parsed->has_value()) {
      listing_.original_dirs.push_back(name);
      return AddOriginalsBelow(name, 1);
    }
    acid::AcidDir dir{**parsed, ""};
    if (dir.name.kind == acid::DirKind::kBase && dir.name.visibility.is_none()) {
      SKEP_ASSIGN_OR_RETURN(dir.metadata, ReadBaseMetadata(fs_, path));
    }
    listing_.dirs.push_back(std::move(dir));
    return absl::OkStatus();
  }

  absl::Status AddOriginalsBelow(const std::string& relative, int depth) {
    const std::string path = fs::JoinPath(dir_, relative);
    if (depth > kMaxDepth) {
      return MalformedError(path, "lies too deep below its table: a loop of links?");
    }
    absl::StatusOr<std::vector<fs::DirEntry>> entries = fs_.List(path);
    SKEP_RETURN_IF_ERROR(GoneIfNotFound(entries.status(), path));
    for (const fs::DirEntry& entry : *entries) {
      if (acid::IsHiddenName(entry.name)) continue;
      const std::string below = fs::JoinPath(relative, entry.name);
      if (entry.kind != fs::EntryKind::kDirectory) {
        SKEP_RETURN_IF_ERROR(AddFile(below, entry.kind));
        continue;
      }
      const auto parsed = acid::ParseDirName(entry.name);
      if (!parsed.ok() || parsed->has_value()) {
        return MalformedError(fs::JoinPath(dir_, below),
                              "is an ACID directory below an ordinary one: deltas and bases lie "
                              "directly in a table or a leaf partition; is the table partitioned?");
      }
      SKEP_RETURN_IF_ERROR(AddOriginalsBelow(below, depth + 1));
    }
    return absl::OkStatus();
  }

  absl::Status AddFile(const std::string& relative, fs::EntryKind kind) {
    const std::string path = fs::JoinPath(dir_, relative);
    if (kind != fs::EntryKind::kFile) {
      return MalformedError(path, "is neither a file nor a directory");
    }
    absl::StatusOr<fs::FileInfo> info = fs_.Stat(path);
    SKEP_RETURN_IF_ERROR(GoneIfNotFound(info.status(), path));
    listing_.originals.push_back({relative, info->size});
    return absl::OkStatus();
  }

  fs::FileSystem& fs_;
  const std::string dir_;
  acid::Listing listing_;
};

absl::Status WalkPartitions(fs::FileSystem& fs,
                            const std::string& dir,
                            const std::string& prefix,
                            size_t levels,
                            std::vector<std::string>* out) {
  if (levels == 0) {
    out->push_back(prefix);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<fs::DirEntry>> entries = fs.List(dir);
  if (!prefix.empty()) SKEP_RETURN_IF_ERROR(GoneIfNotFound(entries.status(), dir));
  SKEP_RETURN_IF_ERROR(entries.status());
  for (const fs::DirEntry& entry : *entries) {
    if (acid::IsHiddenName(entry.name) || entry.kind == fs::EntryKind::kFile) continue;
    const std::string path = fs::JoinPath(dir, entry.name);
    if (entry.kind != fs::EntryKind::kDirectory) {
      return MalformedError(path, "is neither a file nor a directory");
    }
    if (entry.name.find('=') == std::string::npos) {
      return MalformedError(path,
                            fmt::format("stands where a partition directory column=value has to "
                                        "be, {} level(s) above the data",
                                        levels));
    }
    const std::string name = prefix.empty() ? entry.name : prefix + "/" + entry.name;
    SKEP_RETURN_IF_ERROR(WalkPartitions(fs, path, name, levels - 1, out));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<acid::Listing> ListDirectory(fs::FileSystem& fs, const std::string& dir) {
  // What others remove meanwhile (a cleaner, after a compaction that every reader of today sees) is
  // no fault: it is looked at anew. Under a list that still needed it the new listing is as wrong
  // as the old one, and the lease says so.
  for (int attempt = 1;; ++attempt) {
    absl::StatusOr<acid::Listing> listing = Lister(fs, dir).Run();
    const bool moved = ReasonOf(listing.status()) == ErrorReason::kNotEnoughHistory;
    if (!moved || attempt == kListAttempts) return listing;
  }
}

absl::StatusOr<std::vector<std::string>> ListPartitionDirectories(fs::FileSystem& fs,
                                                                  const std::string& table_dir,
                                                                  size_t levels) {
  std::vector<std::string> names;
  SKEP_RETURN_IF_ERROR(WalkPartitions(fs, table_dir, "", levels, &names));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace skep::table

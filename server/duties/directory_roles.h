#pragma once

// What lies in the directory of a table, what each piece is for the newest snapshot, and why.

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/duties/table_facts.h"
#include "storage/fs/file_system.h"

namespace skep::duties {

enum class DirectoryRole {
  kLive,      // read
  kObsolete,  // covered by a live one, waits for the cleaner
  kAborted,   // holds aborted writes only
  kOpen,      // not visible (yet)
  kForeign,   // not part of the layout; never touched
};

// A directory, or a file that lies where original files lie.
struct DirectoryInfo {
  std::string partition;
  std::string name;  // relative to the table or partition
  DirectoryRole role = DirectoryRole::kForeign;
  std::string reason;  // one clause
  int64_t bytes = 0;   // of all files in it, hidden ones included
  int64_t files = 0;
};

// By partition and name. Errors: kMalformedDirectory where reads fail too, a missing directory
// included; kNotEnoughHistory. An external table's directory may be missing.
absl::StatusOr<std::vector<DirectoryInfo>> ListTableDirectories(fs::FileSystem& fs,
                                                                const TableFacts& facts);

struct TreeSize {
  int64_t bytes = 0;
  int64_t files = 0;
};
// Everything below `path` (a file: itself). What goes away meanwhile counts as nothing.
absl::StatusOr<TreeSize> MeasureTree(fs::FileSystem& fs, const std::string& path);

}  // namespace skep::duties

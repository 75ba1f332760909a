#pragma once

// How many bytes the directories of one table or partition hold: what policy and plans weigh.

#include <cstdint>
#include <map>
#include <string>

#include <absl/status/statusor.h>

#include "storage/acid/selection.h"
#include "storage/fs/file_system.h"

namespace skep::compact {

struct Sizes {
  std::map<std::string, int64_t> directories;  // chosen base and deltas by name
  int64_t originals = 0;                       // all chosen originals

  int64_t Of(const std::string& directory) const;  // 0 for one that is not known
};

// Adds up the visible files of what `selection` chose. Errors: NOT_FOUND where something chosen is
// gone.
absl::StatusOr<Sizes> MeasureSelection(fs::FileSystem& fs,
                                       const std::string& dir,
                                       const acid::Selection& selection);

}  // namespace skep::compact

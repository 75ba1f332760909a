#pragma once

#include <span>
#include <string>

#include <absl/status/statusor.h>

#include "storage/fs/file_system.h"
#include "storage/model/names.h"

namespace skep::rpc {

// FIRST_ROOT/DATABASE.db/TABLE. Errors: kLocationNotAllowed where there is no root, naming the
// configuration key.
absl::StatusOr<std::string> DefaultLocation(std::span<const std::string> roots,
                                            const TableName& name);

// Where a table that is asked for at `location` lies: normalised, inside one of `roots` also after
// links were resolved, spelled from that root. So one place has one spelling, and what the registry
// holds can be compared as text. The path need not exist; its nearest existing ancestor decides.
// Touches the filesystem. Errors: kLocationNotAllowed with path and roots.
absl::StatusOr<std::string> ResolveLocation(fs::FileSystem& fs,
                                            std::span<const std::string> roots,
                                            const std::string& location);

}  // namespace skep::rpc

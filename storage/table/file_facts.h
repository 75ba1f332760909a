#pragma once

// What one data file says of itself before its rows are read: its tail, its logical length, whether
// it is of the layout before Hive 3.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <absl/status/statusor.h>

#include "storage/acid/names.h"
#include "storage/format/orc/tail.h"
#include "storage/fs/file_system.h"

namespace skep::table {

// The last complete length of a flush-length side file (H-9). nullopt: there is none.
// Errors: kCorruptFile for fewer than 8 bytes and for a negative length.
absl::StatusOr<std::optional<int64_t>> ReadFlushLength(fs::FileSystem& fs,
                                                       const std::string& data_file);

// nullptr: an empty file (0 bytes, or logical length 0). Errors: kNotEnoughHistory, kCorruptFile,
// kNotSupported for a file that is not ORC.
absl::StatusOr<std::shared_ptr<const orc::Tail>> ReadFileTail(
    fs::FileSystem& fs, const std::string& path, std::optional<int64_t> logical_length);

// kLegacyLayout where `hive.acid.stats`, or else trusted statistics of the operation column, show
// operation 1, or 2 outside a delete delta (RW-3). The absence of `hive.acid.version` proves
// nothing.
absl::Status CheckNotLegacy(const orc::Tail& tail,
                            const std::optional<acid::AcidDirName>& dir,
                            const std::string& path);

}  // namespace skep::table

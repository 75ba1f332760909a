#pragma once

#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/fs/file_system.h"

namespace skep::duties {

// The names of the partition columns (lower case) as the directories below `table_dir` spell them;
// empty for a table whose data lies at its top. Errors: kMalformedDirectory for partition
// directories beside data, and for directories of one level that name different columns.
absl::StatusOr<std::vector<std::string>> DetectPartitionColumns(fs::FileSystem& fs,
                                                                const std::string& table_dir);

// The partitions on disk, in byte order; one empty name for a table without partition columns. Each
// is spelled canonically and names `columns` in order. Errors: kMalformedDirectory by name.
absl::StatusOr<std::vector<std::string>> ListPartitions(fs::FileSystem& fs,
                                                        const std::string& table_dir,
                                                        const std::vector<std::string>& columns);

}  // namespace skep::duties

#pragma once

// The check of an output before it is installed: written files are read again.

#include <cstdint>
#include <functional>
#include <string>

#include <absl/status/status.h>

#include "storage/compact/event_merge.h"
#include "storage/fs/file_system.h"

namespace skep::compact {

// The bucket's file in the output directory holds `expected` events of the kind, sorted (inserts:
// each row id once), all of that bucket; where none are expected there is no file. `after_batch` as
// in EventMerge. Errors: kInternal naming the file and what is wrong with it.
absl::Status VerifyOutput(fs::FileSystem& fs,
                          const std::string& output_dir,
                          int32_t bucket,
                          EventKind kind,
                          int64_t expected,
                          const std::function<absl::Status(int64_t)>& after_batch);

}  // namespace skep::compact

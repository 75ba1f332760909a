#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace skep::orc {

// kCorruptFile: "PATH: WHAT at OFFSET", with path and offset in the metadata.
absl::Status CorruptFile(const std::string& path, std::string_view what, uint64_t offset);
// kNotSupported: "PATH: WHAT is not supported".
absl::Status UnsupportedFile(const std::string& path, std::string_view what);
// A status from below (a codec, a decoder) that knows no file: gets path and offset.
absl::Status AtFile(const absl::Status& status, const std::string& path, uint64_t offset);

}  // namespace skep::orc

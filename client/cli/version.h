#pragma once

#include <string_view>

namespace skep::cli {

// SKEP_VERSION comes from the build: the version of the project.
inline constexpr std::string_view kVersion = SKEP_VERSION;

}  // namespace skep::cli

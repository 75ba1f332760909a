#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skep::cli {

// The word of `words` that `typed` most probably means: at most two letters inserted, left out,
// changed or swapped, and fewer than half of its own. Empty if none is near.
std::string Nearest(std::string_view typed, const std::vector<std::string>& words);

}  // namespace skep::cli

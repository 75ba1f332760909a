#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace skep::cli {

enum class Detail { kShort, kVerbose };

// "skepctl: cannot WHAT: REASON: message. What to try." Verbose adds the metadata, one line each.
// Safe to print: control characters are escaped, line breaks of the message stay.
std::string ErrorText(std::string_view what,
                      const absl::Status& status,
                      std::string_view endpoint,
                      Detail detail);

}  // namespace skep::cli

#pragma once

#include <string>

#include <absl/status/statusor.h>

#include "client/cli/context.h"

namespace skep::cli {

enum class Answer { kYes, kNo };

// Asks before something that cannot be taken back. `--yes` answers. Without a terminal or with
// --no-input the answer cannot be had: kInvalidRequest with metadata usage=true, which ends the
// tool with exit code 2.
absl::StatusOr<Answer> Confirm(Run& run, const std::string& question);
// The same where much is affected: `word` (the count) has to be typed.
absl::StatusOr<Answer> ConfirmByTyping(Run& run,
                                       const std::string& question,
                                       const std::string& word);

}  // namespace skep::cli

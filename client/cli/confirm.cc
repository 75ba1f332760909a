#include "client/cli/confirm.h"

#include "client/cli/usage.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

absl::StatusOr<std::string> Ask(Run& run, const std::string& question) {
  Context& io = run.io();
  if (run.global().no_input || !io.in_is_terminal) {
    return AsUsage(MakeError(ErrorReason::kInvalidRequest,
                             question + " Nobody is there to answer; give --yes",
                             {{"field", "yes"}}));
  }
  io.err << question << " " << std::flush;
  std::string line;
  std::getline(io.in, line);
  return std::string(TrimBlanks(line));
}

}  // namespace

absl::StatusOr<Answer> Confirm(Run& run, const std::string& question) {
  if (run.global().yes) return Answer::kYes;
  SKEP_ASSIGN_OR_RETURN(std::string answer, Ask(run, question + " [y/N]"));
  answer = AsciiLower(answer);
  return answer == "y" || answer == "yes" ? Answer::kYes : Answer::kNo;
}

absl::StatusOr<Answer> ConfirmByTyping(Run& run,
                                       const std::string& question,
                                       const std::string& word) {
  if (run.global().yes) return Answer::kYes;
  SKEP_ASSIGN_OR_RETURN(std::string answer, Ask(run, question + " Type " + word + " to go on:"));
  return answer == word ? Answer::kYes : Answer::kNo;
}

}  // namespace skep::cli

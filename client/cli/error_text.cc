#include "client/cli/error_text.h"

#include "client/cli/version.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

// What to try, where the reason alone says it.
std::string_view Remedy(const absl::Status& status) {
  const ErrorReason reason = ReasonOf(status);
  switch (reason) {
    case ErrorReason::kNoSuchTxn:
      return "Open ones: skepctl show transactions.";
    case ErrorReason::kNoSuchLock:
      return "Held and waiting ones: skepctl show locks.";
    case ErrorReason::kNoSuchCompaction:
      return "All of them: skepctl show compactions.";
    case ErrorReason::kTxnAborted:
    case ErrorReason::kWriteConflict:
    case ErrorReason::kSnapshotTooOld:
      return "Run the command again.";
    case ErrorReason::kOutcomeUnknown:
    case ErrorReason::kRequestIdExpired:
      return "Look what became of it before you repeat it.";
    case ErrorReason::kWatchTooOld:
      return "Look at what there is now (skepctl show tables), then watch without --after.";
    case ErrorReason::kStoreBusy:
    case ErrorReason::kShuttingDown:
    case ErrorReason::kOverloaded:
    case ErrorReason::kTooManyOpenTxns:
      return "Try again in a moment.";
    case ErrorReason::kCorruptStore:
    case ErrorReason::kCorruptFile:
      return "Nothing was changed. Restore the file from a backup.";
    case ErrorReason::kMalformedDirectory:
      return "Nothing was changed. Restore what is missing from a backup or move out what is "
             "foreign.";
    case ErrorReason::kInternal:
      // With an errno it is the system that failed a call: which of the two is at fault is open.
      if (MetadataOf(status).contains("errno")) {
        return "Look at the filesystem and the kernel's log; if both are sound, please report it "
               "with this line.";
      }
      return "This is a fault of Skep. Please report it with this line.";
    default:
      return "";
  }
}

// The command that a remedy names, where the message names it already.
bool SaysIt(std::string_view message, std::string_view remedy) {
  const size_t at = remedy.find("skepctl ");
  if (at == std::string_view::npos) return false;
  const std::string_view command = remedy.substr(at);
  return message.find(command.substr(0, command.find('.'))) != std::string_view::npos;
}

std::string ShownMessage(const absl::Status& status) {
  std::string shown;
  const std::string message = MessageOf(status);
  for (std::string_view line : SplitText(message, '\n')) {
    if (!shown.empty()) shown += '\n';
    shown += Printable(line);
  }
  return shown;
}

std::string Sentence(std::string text) {
  if (!text.empty() && std::string_view(".!?^").find(text.back()) == std::string_view::npos)
    text += '.';
  return text;
}

}  // namespace

std::string ErrorText(std::string_view what,
                      const absl::Status& status,
                      std::string_view endpoint,
                      Detail detail) {
  const ErrorReason reason = ReasonOf(status);
  std::string text = "skepctl: cannot " + std::string(what) + ": ";
  text += reason != ErrorReason::kUnspecified ? std::string(ReasonName(reason))
                                              : absl::StatusCodeToString(status.code());
  const std::string message = ShownMessage(status);
  if (!message.empty()) text += ": " + Sentence(message);
  std::string_view remedy = Remedy(status);
  if (SaysIt(message, remedy)) remedy = "";
  std::string connection;
  if (reason == ErrorReason::kUnspecified && status.code() == absl::StatusCode::kUnavailable) {
    connection = "No answer from " + std::string(endpoint) +
                 ": is skepd running there (systemctl status skepd)? Another place: --endpoint.";
    remedy = connection;
  }
  if (!remedy.empty()) text += (text.back() == '^' ? "\n" : " ") + std::string(remedy);
  text += '\n';
  if (detail == Detail::kVerbose || reason == ErrorReason::kInternal) {
    text += "  skepctl " + std::string(kVersion) + ", endpoint " + std::string(endpoint) + "\n";
    for (const auto& [key, value] : MetadataOf(status)) {
      if (key == "usage") continue;  // ours, for the exit code
      text += "  " + Printable(key) + ": " + Printable(value) + "\n";
    }
  }
  return text;
}

}  // namespace skep::cli

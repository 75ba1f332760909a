#include <fmt/format.h>

#include "client/cli/commands.h"
#include "client/cli/confirm.h"
#include "client/cli/exit_codes.h"
#include "client/cli/print.h"
#include "client/cli/reply.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/quote.h"

namespace skep::cli {
namespace {

// "SHARED_READ on sales.orders of ann@host1, transaction 7, acquired 3m ago"
std::string Describe(const Json& lock, const TimeCells& times) {
  const bool held = Enum(lock, "state", "LOCK_STATE_") == "ACQUIRED";
  std::string text = fmt::format("{} on {} of {}",
                                 Enum(lock, "kind", "LOCK_KIND_"),
                                 ResourceOf(Object(lock, "resource")),
                                 OwnerText(Text(lock, "user"), Text(lock, "host")));
  if (Number(lock, "txnId") != 0) text += ", transaction " + Text(lock, "txnId");
  return text + (held ? ", acquired " + times.Show(lock, "acquireTime")
                      : ", waiting since " + times.Show(lock, "requestTime"));
}

}  // namespace

absl::StatusOr<int> RunCommand(Run& run, const ReleaseLock& options) {
  SKEP_ASSIGN_OR_RETURN(
      std::string answer,
      run.Call("AdminService.ExplainLock", Json({{"lockId", options.lock}}).dump()));
  SKEP_ASSIGN_OR_RETURN(Json explained, ParseReply(answer));
  const Json& locks = List(explained, "locks");
  std::string shown;
  bool ends_a_transaction = false;
  for (const Json& lock : locks) {
    shown += "  " + Printable(Describe(lock, TimesOf(run))) + "\n";
    ends_a_transaction |= options.force && Number(lock, "txnId") != 0 &&
                          Enum(lock, "state", "LOCK_STATE_") == "ACQUIRED";
  }
  if (run.global().dry_run) {
    run.Say(fmt::format("would release lock {}:", options.lock));
    run.io().out << shown;
    return kDone;
  }
  if (!run.global().yes) run.io().err << fmt::format("lock {}:\n", options.lock) << shown;
  SKEP_ASSIGN_OR_RETURN(
      Answer yes,
      Confirm(run,
              ends_a_transaction
                  ? "Release it? Its transaction can only abort then, what it wrote is lost."
                  : "Release it?"));
  if (yes == Answer::kNo) {
    run.Say("nothing was released");
    return kFailed;
  }
  const Json request = {{"lockId", options.lock}, {"force", options.force}};
  SKEP_ASSIGN_OR_RETURN(answer, run.Call("LockService.ReleaseLock", request.dump()));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  SKEP_RETURN_IF_ERROR(PrintReply(run, reply, fmt::format("lock {} released\n", options.lock)));
  return kDone;
}

}  // namespace skep::cli

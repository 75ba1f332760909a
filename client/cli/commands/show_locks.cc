#include "client/cli/commands.h"
#include "client/cli/exit_codes.h"
#include "client/cli/hive_output.h"
#include "client/cli/print.h"
#include "client/cli/resource.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"

namespace skep::cli {
namespace {

Listing MakeListing(const Json& locks, const TimeCells& times) {
  Listing listing;
  listing.columns = {{"LOCK", false, true},
                     {"PART", true, true},
                     {"STATE"},
                     {"TYPE"},
                     {"RESOURCE"},
                     {"TXN", false, true},
                     {"ASKED"},
                     {"HELD SINCE"},
                     {"BLOCKED BY", false, true},
                     {"USER"},
                     {"HOST"},
                     {"AGENT"},
                     {"HEARTBEAT", true}};
  for (const Json& lock : locks) {
    listing.rows.push_back({Text(lock, "lockId"),
                            std::to_string(Number(lock, "component")),
                            AsciiLower(Enum(lock, "state", "LOCK_STATE_")),
                            Enum(lock, "kind", "LOCK_KIND_"),
                            ResourceOf(Object(lock, "resource")),
                            IdOrNothing(Number(lock, "txnId")),
                            times.Show(lock, "requestTime"),
                            times.Show(lock, "acquireTime"),
                            IdOrNothing(Number(lock, "blockedByLockId")),
                            Text(lock, "user"),
                            Text(lock, "host"),
                            Text(lock, "agent"),
                            times.Show(lock, "lastHeartbeatTime")});
  }
  return listing;
}

// Rebuilds of views are locks that only meet each other.
void AddViewRebuilds(const Json& rebuilds, const TimeCells& times, Listing* listing) {
  for (const Json& rebuild : rebuilds) {
    listing->rows.push_back({"",
                             "",
                             "acquired",
                             "VIEW_REBUILD",
                             TableOf(Object(rebuild, "view")),
                             IdOrNothing(Number(rebuild, "txnId")),
                             "",
                             times.Show(rebuild, "sinceTime"),
                             "",
                             Text(rebuild, "user"),
                             Text(rebuild, "host"),
                             Text(rebuild, "agent"),
                             ""});
  }
}

}  // namespace

absl::StatusOr<int> RunCommand(Run& run, const ShowLocks& options) {
  Json request = Json::object();
  if (!options.resource.empty()) {
    SKEP_ASSIGN_OR_RETURN(Resource resource, ParseResource(options.resource, Scope::kDatabase));
    request["resource"] = {{"database", resource.database},
                           {"table", resource.table},
                           {"partition", resource.partition}};
  }
  request["txnId"] = options.txn;
  request["waitingOnly"] = options.waiting;
  SKEP_ASSIGN_OR_RETURN(std::string answer,
                        run.List("LockService.ListLocks", request.dump(), run.global().limit));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  const bool all = options.resource.empty() && options.txn == 0 && !options.waiting;
  const bool names_only = run.global().OutputOr(Output::kTable) == Output::kName;
  const auto make = [&](const Json& locks, const TimeCells& times) {
    Listing listing = MakeListing(locks, times);
    // They have no lock id.
    if (!names_only) AddViewRebuilds(cli::List(reply, "viewRebuilds"), times, &listing);
    return listing;
  };
  SKEP_RETURN_IF_ERROR(PrintList(
      run,
      reply,
      {"locks", make, HiveLocks, all ? "no locks are held or waited for" : "no locks match"}));
  return kDone;
}

}  // namespace skep::cli

#include <algorithm>

#include "client/cli/commands.h"
#include "client/cli/exit_codes.h"
#include "client/cli/hive_output.h"
#include "client/cli/print.h"
#include "client/cli/resource.h"
#include "client/cli/usage.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

constexpr std::string_view kStates[] = {"INITIATED",
                                        "WORKING",
                                        "READY_FOR_CLEANING",
                                        "SUCCEEDED",
                                        "FAILED",
                                        "NOT_INITIATED",
                                        "CANCELLED",
                                        "REFUSED"};

// "ready for cleaning", "ready-for-cleaning" and READY_FOR_CLEANING are one word.
absl::StatusOr<std::string> StateName(std::string_view given) {
  std::string word(given);
  std::replace_if(
      word.begin(), word.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  std::vector<std::string> names;
  for (std::string_view state : kStates) {
    if (AsciiEqualsIgnoreCase(word, state)) return "COMPACTION_STATE_" + std::string(state);
    names.push_back(AsciiLower(state));
  }
  return AsUsage(
      MakeError(ErrorReason::kInvalidRequest,
                "there is no state '" + Printable(given) + "'; there are " + JoinText(names, ", "),
                {{"field", "state"}}));
}

std::string Words(std::string enum_word) {
  std::replace(enum_word.begin(), enum_word.end(), '_', ' ');
  return AsciiLower(enum_word);
}

// How long the work took, or has been going on.
std::string TookCell(const Json& compaction, Timestamp now) {
  std::optional<Timestamp> start = Time(compaction, "startTime");
  if (!start.has_value()) return "";
  std::optional<Timestamp> end = Time(compaction, "commitTime");
  if (!end.has_value()) end = Time(compaction, "endTime");
  return FormatSpan(std::max(std::chrono::milliseconds(0), end.value_or(now) - *start));
}

std::string WhyCell(const Json& compaction) {
  std::string error = Text(compaction, "errorMessage");
  return error.empty() ? Text(compaction, "reason") : error;
}

Listing MakeListing(const Json& compactions, const TimeCells& times, Timestamp now) {
  Listing listing;
  listing.columns = {{"ID", false, true},
                     {"TABLE"},
                     {"PARTITION"},
                     {"TYPE"},
                     {"STATE"},
                     {"QUEUED"},
                     {"TOOK", false, true},
                     {"TXN", true, true},
                     {"HIGHEST", true, true},
                     {"WORKER", true},
                     {"INITIATOR", true},
                     {"VISIBLE", true},
                     {"ENDED", true},
                     {"CLEANS", true, true},
                     {"NEXT CLEAN", true},
                     {"WHY"}};
  for (const Json& compaction : compactions) {
    listing.rows.push_back({Text(compaction, "compactionId"),
                            TableOf(Object(compaction, "table")),
                            Text(compaction, "partition"),
                            Words(Enum(compaction, "type", "COMPACTION_TYPE_")),
                            Words(Enum(compaction, "state", "COMPACTION_STATE_")),
                            times.Show(compaction, "enqueueTime"),
                            TookCell(compaction, now),
                            IdOrNothing(Number(compaction, "txnId")),
                            IdOrNothing(Number(compaction, "highestWriteId")),
                            Text(compaction, "worker"),
                            Text(compaction, "initiator"),
                            times.Show(compaction, "commitTime"),
                            times.Show(compaction, "endTime"),
                            IdOrNothing(Number(compaction, "cleanAttemptCount")),
                            times.ShowDue(compaction, "nextCleanTime"),
                            WhyCell(compaction)});
  }
  return listing;
}

// What the server does not filter by: the database alone, the type.
bool Matches(const Json& compaction, const Resource& resource, const std::string& type) {
  if (!resource.database.empty() &&
      Text(Object(compaction, "table"), "database") != resource.database) {
    return false;
  }
  return type.empty() || AsciiEqualsIgnoreCase(Enum(compaction, "type", "COMPACTION_TYPE_"), type);
}

absl::StatusOr<Json> ListById(Run& run, int64_t id) {
  SKEP_ASSIGN_OR_RETURN(
      std::string answer,
      run.Call("CompactionService.GetCompaction", Json({{"compactionId", id}}).dump()));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  Json list = Json::object();
  list["compactions"] = Json::array({reply["compaction"]});
  list["nextPageToken"] = "";
  return list;
}

absl::StatusOr<Json> ListCompactions(Run& run, const ShowCompactions& options) {
  if (options.id != 0) return ListById(run, options.id);
  Json request = Json::object();
  Resource resource;
  if (!options.resource.empty()) {
    SKEP_ASSIGN_OR_RETURN(resource, ParseResource(options.resource, Scope::kDatabase));
    if (!resource.table.empty()) {
      request["table"] = {{"database", resource.database}, {"table", resource.table}};
      request["partition"] = resource.partition;
    }
  }
  for (const std::string& state : options.states) {
    SKEP_ASSIGN_OR_RETURN(std::string name, StateName(state));
    request["states"].push_back(name);
  }
  const bool filtered =
      !options.type.empty() || (!resource.database.empty() && resource.table.empty());
  const int64_t limit = run.global().limit;
  SKEP_ASSIGN_OR_RETURN(
      std::string answer,
      run.List("CompactionService.ListCompactions", request.dump(), filtered ? 0 : limit));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  if (!filtered) return reply;
  Json kept = Json::array();
  for (const Json& compaction : List(reply, "compactions")) {
    if (limit != 0 && static_cast<int64_t>(kept.size()) == limit) break;
    if (Matches(compaction, resource, options.type)) kept.push_back(compaction);
  }
  reply["compactions"] = std::move(kept);
  return reply;
}

}  // namespace

absl::StatusOr<int> RunCommand(Run& run, const ShowCompactions& options) {
  SKEP_ASSIGN_OR_RETURN(Json reply, ListCompactions(run, options));
  const Timestamp now = run.io().clock.Now();
  auto make = [now](const Json& items, const TimeCells& times) {
    return MakeListing(items, times, now);
  };
  const bool all = options.resource.empty() && options.states.empty() && options.type.empty();
  SKEP_RETURN_IF_ERROR(
      PrintList(run,
                reply,
                {"compactions",
                 make,
                 HiveCompactions,
                 all ? "no compactions: none is queued, none was run" : "no compactions match"}));
  return kDone;
}

}  // namespace skep::cli

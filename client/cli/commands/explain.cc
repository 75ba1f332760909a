#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "client/cli/commands.h"
#include "client/cli/exit_codes.h"
#include "client/cli/print.h"
#include "client/cli/resource.h"
#include "client/cli/usage.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/quote.h"

namespace skep::cli {
namespace {

// " (agent)" or nothing.
std::string AgentOf(const Json& owner) {
  std::string agent = Text(owner, "agent");
  return agent.empty() ? "" : " (" + agent + ")";
}

std::string OwnerOf(const Json& owner) {
  return OwnerText(Text(owner, "user"), Text(owner, "host")) + AgentOf(owner);
}

// The last line of an answer: how to get on without waiting.
std::string ByForce(const std::set<std::string>& txns) {
  if (txns.empty()) return "";
  return fmt::format("  by force: skepctl abort transactions {} (what {} wrote is lost)\n",
                     fmt::join(txns, " "),
                     txns.size() == 1 ? "it" : "they");
}

// Transactions whose end lets the request go on: those that hold, not those that only wait.
std::set<std::string> Holders(const Json& steps) {
  std::set<std::string> txns;
  for (const Json& step : steps) {
    const Json& blocker = Object(step, "blocker");
    const bool held = Enum(blocker, "state", "LOCK_STATE_") == "ACQUIRED";
    if (held && Number(blocker, "txnId") != 0) txns.insert(Text(blocker, "txnId"));
  }
  return txns;
}

std::string LockTree(const Json& reply, const TimeCells& times) {
  std::string text = Text(reply, "summary") + "\n";
  for (const Json& lock : List(reply, "locks")) {
    text += fmt::format("lock {}: {} {} on {}, asked {}\n",
                        Text(lock, "lockId"),
                        AsciiLower(Enum(lock, "state", "LOCK_STATE_")),
                        Enum(lock, "kind", "LOCK_KIND_"),
                        ResourceOf(Object(lock, "resource")),
                        times.Show(lock, "requestTime"));
  }
  if (Number(reply, "queuePosition") > 1) {
    text += fmt::format("waiting requests before it: {}\n", Number(reply, "queuePosition") - 1);
  }
  if (const Json& waiters = List(reply, "waitingLockIds"); !waiters.empty()) {
    text += "waited for by: " + JoinedTexts(waiters) + "\n";
  }
  for (const Json& step : List(reply, "steps")) {
    const Json& blocker = Object(step, "blocker");
    const bool held = Enum(blocker, "state", "LOCK_STATE_") == "ACQUIRED";
    const std::string owner =
        Number(blocker, "txnId") == 0 ? "" : "transaction " + Text(blocker, "txnId") + " of ";
    text += std::string(2 * static_cast<size_t>(std::max<int64_t>(1, Number(step, "level"))), ' ');
    text += fmt::format("{} waits for lock {}: {} on {}, {} {} by {}{}",
                        Text(step, "waitingLockId"),
                        Text(blocker, "lockId"),
                        Enum(blocker, "kind", "LOCK_KIND_"),
                        ResourceOf(Object(blocker, "resource")),
                        held ? "taken" : "asked for",
                        times.Show(blocker, "sinceTime"),
                        owner,
                        OwnerOf(blocker));
    if (Number(step, "queuePosition") > 0) {
      text += fmt::format(" (place {} in its queue)", Number(step, "queuePosition"));
    }
    std::string beat = times.Show(step, "lastHeartbeatTime");
    text += beat.empty() ? "\n" : ", last heartbeat " + beat + "\n";
  }
  return text + ByForce(Holders(List(reply, "steps")));
}

std::string CleanerText(const Json& reply, const TimeCells& times) {
  std::string text;
  for (const Json& entry : List(reply, "entries")) {
    const Json& compaction = Object(entry, "compaction");
    std::string where = TableOf(Object(compaction, "table"));
    if (std::string partition = Text(compaction, "partition"); !partition.empty())
      where += "/" + partition;
    text += fmt::format("{} (compaction {}): {}\n",
                        where,
                        Text(compaction, "compactionId"),
                        Text(entry, "summary"));
    for (const Json& directory : List(entry, "directories")) {
      if (directory.is_string()) text += "  waits: " + directory.get<std::string>() + "\n";
    }
    std::set<std::string> open;
    for (const Json& pin : List(entry, "pins")) {
      if (!Flag(pin, "ended")) open.insert(Text(pin, "txnId"));
      // Of a transaction that ended before the server's last start only its id is known.
      const bool known = !Text(pin, "user").empty();
      text += fmt::format(
          "  pinned by transaction {}{}, snapshot {}{}{}\n",
          Text(pin, "txnId"),
          known ? fmt::format(" of {}, opened {}", OwnerOf(pin), times.Show(pin, "openTime")) : "",
          Text(pin, "snapshotSeq"),
          Flag(pin, "everyTable") ? ", pins every table until it names one" : "",
          Flag(pin, "ended") ? ", ended, its pin lives one more lease" : "");
    }
    text += ByForce(open);
    std::string next = times.ShowDue(compaction, "nextCleanTime");
    if (open.empty() && !next.empty()) text += "  next attempt: " + next + "\n";
  }
  return text.empty() ? "nothing waits for the cleaner\n" : text;
}

// "  last: compaction 7, major, failed 3m ago: bucket_00000 is damaged"
std::string LatestText(const Json& latest, const TimeCells& times) {
  std::string state = AsciiLower(Enum(latest, "state", "COMPACTION_STATE_"));
  std::replace(state.begin(), state.end(), '_', ' ');
  std::string when;
  for (const char* field : {"endTime", "commitTime", "startTime", "enqueueTime"}) {
    if (when.empty()) when = times.Show(latest, field);
  }
  std::string text = fmt::format("  last: compaction {}, {}, {} {}",
                                 Text(latest, "compactionId"),
                                 AsciiLower(Enum(latest, "type", "COMPACTION_TYPE_")),
                                 state,
                                 when);
  const std::string error = Text(latest, "errorMessage");
  return text + (error.empty() ? "" : ": " + error) + "\n";
}

std::string CompactionText(const Json& reply, const TimeCells& times) {
  std::string text;
  for (const Json& entry : List(reply, "entries")) {
    std::string decision = AsciiLower(Enum(entry, "decision", "COMPACTION_TYPE_"));
    std::string partition = Text(entry, "partition");
    double threshold = 0;
    if (auto found = entry.find("deltaSizeThreshold"); found != entry.end() && found->is_number()) {
      threshold = found->get<double>();
    }
    text += fmt::format("{}{}: {}\n",
                        partition.empty() ? "" : partition + ": ",
                        decision.empty() ? "nothing to do" : decision,
                        Text(entry, "reason"));
    text +=
        fmt::format("  base {}, deltas {} in {} (thresholds: {} deltas, {:.0f} % of the base)\n",
                    FormatBytes(Number(entry, "baseBytes")),
                    FormatBytes(Number(entry, "deltaBytes")),
                    Number(entry, "deltaCount"),
                    Number(entry, "deltaCountThreshold"),
                    threshold * 100);
    if (std::string blocked = Text(entry, "blockedBy"); !blocked.empty()) {
      text += "  kept from the queue: " + blocked + "\n";
    }
    if (const Json& latest = Object(entry, "latest"); !latest.empty()) {
      text += LatestText(latest, times);
    }
  }
  return text.empty() ? "no partitions\n" : text;
}

// The lines of a text made safe to print, line breaks kept.
std::string Safe(const std::string& text) {
  std::string safe;
  for (std::string_view line : SplitText(text, '\n')) safe += Printable(line) + "\n";
  safe.pop_back();
  return safe;
}

Json TableJson(const TableName& name) {
  return {{"database", name.database}, {"table", name.table}};
}

}  // namespace

absl::StatusOr<int> RunCommand(Run& run, const ExplainLock& options) {
  SKEP_ASSIGN_OR_RETURN(
      std::string answer,
      run.Call("AdminService.ExplainLock", Json({{"lockId", options.lock}}).dump()));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  SKEP_RETURN_IF_ERROR(PrintReply(run, reply, Safe(LockTree(reply, TimesOf(run)))));
  return kDone;
}

absl::StatusOr<int> RunCommand(Run& run, const ExplainCleaner& options) {
  Json request = Json::object();
  if (!options.table.empty()) {
    SKEP_ASSIGN_OR_RETURN(TableName table, ParseTableArgument(options.table));
    request["table"] = TableJson(table);
  }
  SKEP_ASSIGN_OR_RETURN(std::string answer,
                        run.Call("AdminService.ExplainCleaner", request.dump()));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  SKEP_RETURN_IF_ERROR(PrintReply(run, reply, Safe(CleanerText(reply, TimesOf(run)))));
  return kDone;
}

absl::StatusOr<int> RunCommand(Run& run, const ExplainCompaction& options) {
  SKEP_ASSIGN_OR_RETURN(Resource resource, ParseResource(options.resource, Scope::kTable));
  const Json request = {{"table", TableJson(resource.name())}, {"partition", resource.partition}};
  SKEP_ASSIGN_OR_RETURN(std::string answer,
                        run.Call("AdminService.ExplainCompaction", request.dump()));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  SKEP_RETURN_IF_ERROR(PrintReply(run, reply, Safe(CompactionText(reply, TimesOf(run)))));
  return kDone;
}

}  // namespace skep::cli

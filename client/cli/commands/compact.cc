#include <algorithm>
#include <set>

#include "client/cli/commands.h"
#include "client/cli/exit_codes.h"
#include "client/cli/print.h"
#include "client/cli/resource.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPause{200};
// A visible result is what was asked for; files that nobody reads go within moments of it, so a
// little patience usually shows the end of it all.
constexpr milliseconds kCleaningGrace{10'000};

struct Queued {
  int64_t id = 0;
  std::string partition;
  bool accepted = true;
  std::string state;  // as Enum gives it, the last one seen
  std::string error;
};

Json TableJson(const Resource& resource) {
  return {{"database", resource.database}, {"table", resource.table}};
}

// The partitions to compact: the one that was named, each one of a partitioned table, or none ("").
absl::StatusOr<std::vector<std::string>> Partitions(Run& run, const Resource& resource) {
  if (!resource.partition.empty()) return std::vector<std::string>{resource.partition};
  SKEP_ASSIGN_OR_RETURN(
      std::string answer,
      run.Call("TableService.GetTable", Json({{"name", TableJson(resource)}}).dump()));
  SKEP_ASSIGN_OR_RETURN(Json table, ParseReply(answer));
  if (List(Object(table, "table"), "partitionColumns").empty()) return std::vector<std::string>{""};
  SKEP_ASSIGN_OR_RETURN(
      answer,
      run.List("TableService.ListPartitions", Json({{"table", TableJson(resource)}}).dump(), 0));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  std::vector<std::string> partitions;
  for (const Json& partition : List(reply, "partitions")) {
    if (partition.is_string()) partitions.push_back(partition.get<std::string>());
  }
  return partitions;
}

std::string WhereOf(const Resource& resource, const std::string& partition) {
  Resource whole = resource;
  whole.partition = partition;
  return whole.ToString();
}

std::string Words(std::string state) {
  std::replace(state.begin(), state.end(), '_', ' ');
  return AsciiLower(state);
}

class Compaction {
 public:
  Compaction(Run& run, const Resource& resource, std::string type)
      : run_(run), resource_(resource), type_(std::move(type)) {}

  absl::StatusOr<int> Start(const std::vector<std::string>& partitions) {
    SKEP_ASSIGN_OR_RETURN(client::Session * session, run_.session());
    for (const std::string& partition : partitions) {
      const Json request = {
          {"table", TableJson(resource_)},
          {"partition", partition},
          {"type", type_ == "minor" ? "COMPACTION_TYPE_MINOR" : "COMPACTION_TYPE_MAJOR"},
          {"initiator", session->impl().options().host}};
      SKEP_ASSIGN_OR_RETURN(std::string answer,
                            run_.Call("CompactionService.EnqueueCompaction", request.dump()));
      SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
      Queued queued{Number(reply, "compactionId"), partition, Flag(reply, "accepted"), "", ""};
      queued.state = Enum(reply, "state", "COMPACTION_STATE_");
      Tell(queued);
      replies_.push_back(std::move(reply));
      queue_.push_back(std::move(queued));
    }
    return kDone;
  }

  void PrintReplies() {
    const Output output = run_.global().OutputOr(Output::kTable);
    if (output == Output::kJson) {
      run_.io().out << Json({{"compactions", replies_}}).dump(2) << "\n";
    } else if (output == Output::kJsonl) {
      for (const Json& reply : replies_) run_.io().out << reply.dump() << "\n";
    } else if (output == Output::kName) {
      for (const Queued& queued : queue_) run_.io().out << queued.id << "\n";
    }
  }

  // Until every compaction is decided, and a moment longer for the cleaner.
  absl::StatusOr<int> Wait() {
    SKEP_ASSIGN_OR_RETURN(const bool works, SomebodyWorks());
    if (!works) return kFailed;
    const Timestamp start = run_.io().clock.Now();
    std::optional<Timestamp> visible;
    run_.io().catch_interrupts(true);
    while (true) {
      SKEP_RETURN_IF_ERROR(Ask());
      const Timestamp now = run_.io().clock.Now();
      ShowProgress(now - start);
      if (AllDecided()) {
        if (!visible.has_value()) visible = now;
        if (!AnyReady() || !cleaner_ || now - *visible >= kCleaningGrace || ReadersPin())
          return Result(now - start);
      } else if (run_.global().timeout.has_value() && now - start >= *run_.global().timeout) {
        EndProgress();
        run_.Say("not finished after " + FormatSpan(now - start) + "; it goes on. " + Reattach());
        return kWaitTimeout;
      }
      if (run_.io().interrupted) {
        EndProgress();
        run_.Say("detached; " + Names() + " on. " + Reattach());
        return kInterrupted;
      }
      SKEP_ASSIGN_OR_RETURN(client::Session * session, run_.session());
      session->impl().Sleep(kPause);
    }
  }

 private:
  // False, and said so: the daemon was told to compact nothing, so nothing would ever be waited
  // for.
  absl::StatusOr<bool> SomebodyWorks() {
    SKEP_RETURN_IF_ERROR(Ask());
    if (AllDecided()) return true;
    const absl::StatusOr<std::string> answer = run_.Call("AdminService.GetStatus", "{}");
    const absl::StatusOr<Json> reply = answer.ok() ? ParseReply(*answer) : answer.status();
    if (!reply.ok() || Object(*reply, "duties").empty()) return true;  // nobody says so
    const Json& duties = Object(*reply, "duties");
    cleaner_ = Flag(duties, "cleaner");
    if (Number(duties, "workers") > 0) return true;
    run_.Say("nobody works on it: this skepd has no workers (compactor.workers = 0), so " +
             std::string(queue_.size() == 1 ? "it stays" : "they stay") + " queued. " + Reattach());
    return false;
  }

  void Tell(const Queued& queued) {
    if (run_.global().OutputOr(Output::kTable) != Output::kTable) return;
    const std::string where = WhereOf(resource_, queued.partition);
    const std::string id = "compaction " + std::to_string(queued.id);
    std::string line = id + ": " + type_ + " of " + where + ", queued";
    if (!queued.accepted) {
      line = id + " of " + where + " is " + Words(queued.state) + " already";
      if (queued.state == "READY_FOR_CLEANING") line += ", and nothing was written since";
    }
    run_.io().out << Printable(line) << "\n";
  }

  absl::Status Ask() {
    for (Queued& queued : queue_) {
      if (Decided(queued) && queued.state != "READY_FOR_CLEANING") continue;
      SKEP_ASSIGN_OR_RETURN(
          std::string answer,
          run_.Call("CompactionService.GetCompaction", Json({{"compactionId", queued.id}}).dump()));
      SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
      const Json& compaction = Object(reply, "compaction");
      queued.state = Enum(compaction, "state", "COMPACTION_STATE_");
      queued.error = Text(compaction, "errorMessage");
    }
    return absl::OkStatus();
  }

  static bool Decided(const Queued& queued) {
    return queued.state != "INITIATED" && queued.state != "WORKING";
  }
  bool AllDecided() const { return std::all_of(queue_.begin(), queue_.end(), Decided); }
  bool AnyReady() const {
    return std::any_of(queue_.begin(), queue_.end(), [](const Queued& queued) {
      return queued.state == "READY_FOR_CLEANING";
    });
  }

  // Waiting longer is of no use while a transaction may still read the replaced files.
  bool ReadersPin() {
    absl::StatusOr<std::string> answer =
        run_.Call("AdminService.ExplainCleaner", Json({{"table", TableJson(resource_)}}).dump());
    if (!answer.ok()) return true;
    absl::StatusOr<Json> reply = ParseReply(*answer);
    if (!reply.ok()) return true;
    for (const Json& entry : List(*reply, "entries")) {
      if (!List(entry, "pins").empty()) return true;
    }
    return false;
  }

  absl::StatusOr<int> Result(milliseconds took) {
    EndProgress();
    int code = kDone;
    for (const Queued& queued : queue_) {
      std::string line = "compaction " + std::to_string(queued.id) + ": " + Words(queued.state);
      if (queued.state == "READY_FOR_CLEANING") {
        line +=
            "; the result is visible, the replaced files go when nobody reads them any more "
            "(skepctl "
            "explain cleaner " +
            resource_.name().ToString() + ")";
        if (!cleaner_) line += "; the cleaner is off (cleaner.enabled = false)";
      } else if (!queued.error.empty()) {
        line += ": " + queued.error;
      }
      const bool fine = queued.state == "READY_FOR_CLEANING" || queued.state == "SUCCEEDED" ||
                        queued.state == "REFUSED";
      if (!fine) code = kFailed;
      run_.Say(Printable(line));
    }
    run_.Say("after " + FormatSpan(took));
    return code;
  }

  void ShowProgress(milliseconds elapsed) {
    if (!run_.io().err_is_terminal || run_.global().quiet) return;
    const auto decided = std::count_if(queue_.begin(), queue_.end(), Decided);
    std::string line =
        "compacting " + std::to_string(decided) + "/" + std::to_string(queue_.size());
    for (const Queued& queued : queue_) {
      if (Decided(queued)) continue;
      line += " · " + std::to_string(queued.id) + " " + Words(queued.state);
      break;
    }
    run_.io().err << "\r\x1b[K" << line << " · " << FormatSpan(elapsed) << std::flush;
    progress_ = true;
  }
  void EndProgress() {
    if (progress_) run_.io().err << "\r\x1b[K" << std::flush;
    progress_ = false;
  }

  std::string Names() const {
    if (queue_.size() == 1) return "compaction " + std::to_string(queue_[0].id) + " goes";
    return std::to_string(queue_.size()) + " compactions go";
  }
  std::string Reattach() const {
    return "To wait again: skepctl compact " + resource_.ToString() + " --type " + type_ +
           " --wait; to look: skepctl show compactions " + resource_.ToString();
  }

  Run& run_;
  const Resource resource_;
  const std::string type_;
  std::vector<Queued> queue_;
  Json replies_ = Json::array();
  bool cleaner_ = true;
  bool progress_ = false;
};

}  // namespace

absl::StatusOr<int> RunCommand(Run& run, const Compact& options) {
  SKEP_ASSIGN_OR_RETURN(Resource resource, ParseResource(options.resource, Scope::kTable));
  SKEP_ASSIGN_OR_RETURN(std::vector<std::string> partitions, Partitions(run, resource));
  if (partitions.empty()) {
    run.Say(resource.ToString() + " has no partitions: nothing to compact");
    return kDone;
  }
  Compaction compaction(run, resource, AsciiLower(options.type));
  SKEP_RETURN_IF_ERROR(compaction.Start(partitions).status());
  compaction.PrintReplies();
  if (!options.wait) return kDone;
  return compaction.Wait();
}

}  // namespace skep::cli

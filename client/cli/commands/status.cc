#include "client/cli/commands.h"
#include "client/cli/exit_codes.h"
#include "client/cli/print.h"
#include "client/cli/text_block.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/quote.h"

namespace skep::cli {
namespace {

std::string OldestTransaction(const Json& oldest, const TimeCells& times) {
  std::string text = Text(oldest, "txnId") + ", opened " + times.Show(oldest, "openTime") + " by " +
                     OwnerText(Text(oldest, "user"), Text(oldest, "host"));
  if (std::string agent = Text(oldest, "agent"); !agent.empty()) text += " (" + agent + ")";
  return text;
}

// The tables of the store, which people read in the sqlite3 shell: nothing where they follow.
std::string TablesBehind(const Json& reply, const TimeCells& times) {
  const std::string cause = Text(reply, "logBacklogCause");
  if (cause.empty()) return {};
  return FormatBytes(Number(reply, "logBacklogBytes")) + " of " +
         FormatBytes(Number(reply, "logBacklogLimitBytes")) + " of log, since " +
         times.Show(reply, "logBacklogSinceTime") + ": " + cause;
}

// Empty: all work, or an older server does not say.
std::string DutiesThatAreOff(const Json& reply) {
  const Json& duties = Object(reply, "duties");
  if (duties.empty()) return {};
  std::vector<std::string> off;
  if (!Flag(duties, "initiator")) off.push_back("initiator");
  if (Number(duties, "workers") == 0) off.push_back("workers");
  if (!Flag(duties, "cleaner")) off.push_back("cleaner");
  return JoinText(off, ", ");
}

}  // namespace

absl::StatusOr<int> RunCommand(Run& run, const Status&) {
  SKEP_ASSIGN_OR_RETURN(std::string answer, run.Call("AdminService.GetStatus", "{}"));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  const TimeCells times = TimesOf(run);
  TextBlock block;
  block.Add("skepd", Text(reply, "version") + (Flag(reply, "draining") ? ", draining" : ""));
  std::string started = times.Show(reply, "startTime");
  block.Add("started", started);
  block.Add("listens on", JoinedTexts(List(reply, "endpoints")));
  block.Add("warehouse", JoinedTexts(List(reply, "warehouseRoots")));
  block.Add("store", Text(reply, "storePath") + ", commit sequence " + Text(reply, "commitSeq"));
  if (Flag(reply, "storeFull")) {
    block.Add("disk full",
              "opens, tables, locks and other new work are refused (STORE_FULL); commits, aborts, "
              "heartbeats and releases go on: free space on the filesystem of the store");
  }
  if (const std::string behind = TablesBehind(reply, times); !behind.empty()) {
    block.Add("tables behind", behind);
  }
  block.Add("tables", Text(reply, "tableCount"));
  std::string transactions = Text(reply, "openTransactionCount") + " open";
  if (std::optional<std::chrono::milliseconds> lease = Span(reply, "txnTimeout")) {
    transactions += ", lease " + FormatSpan(*lease);
  }
  block.Add("transactions", transactions);
  const Json& oldest = Object(reply, "oldestOpenTransaction");
  if (!oldest.empty()) block.Add("oldest", OldestTransaction(oldest, times));
  block.Add(
      "locks",
      Text(reply, "heldLockCount") + " held, " + Text(reply, "waitingLockCount") + " waiting");
  block.Add("compactions",
            Text(reply, "initiatedCompactionCount") + " queued, " +
                Text(reply, "workingCompactionCount") + " working, " +
                Text(reply, "readyForCleaningCount") + " ready for cleaning");
  block.Add("off", DutiesThatAreOff(reply));
  SKEP_RETURN_IF_ERROR(PrintReply(run, reply, block.ToString()));
  return kDone;
}

}  // namespace skep::cli

#include "client/cli/commands.h"
#include "client/cli/exit_codes.h"
#include "client/cli/print.h"
#include "client/cli/resource.h"
#include "client/cli/text_block.h"
#include "client/cli/usage.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/model/snapshot.h"

namespace skep::cli {
namespace {

std::string OpenText(const Json& open) { return open.empty() ? "none" : JoinedTexts(open); }

std::string AbortedText(const Json& ranges) {
  std::vector<std::string> shown;
  for (const Json& range : ranges) {
    const std::string first = Text(range, "first");
    const std::string last = Text(range, "last");
    shown.push_back(first == last ? first : first + "-" + last);
  }
  return shown.empty() ? "none" : JoinText(shown, ", ");
}

// Aborted ids travel as ranges; beyond this many the text form would be of no use to anybody.
constexpr int64_t kMostIds = 10'000'000;

// {"highWatermark", "open", "aborted"} as the domain has it.
absl::StatusOr<ValidIds> IdsOf(const Json& list) {
  ValidIds ids;
  ids.high = Number(list, "highWatermark");
  for (const Json& id : List(list, "open")) {
    ids.open.push_back(id.is_string() ? ParseInt64(id.get<std::string>()).value_or(0) : 0);
  }
  for (const Json& range : List(list, "aborted")) {
    const int64_t last = Number(range, "last");
    if (last - Number(range, "first") + static_cast<int64_t>(ids.aborted.size()) > kMostIds) {
      return MakeError(ErrorReason::kNotSupported,
                       "too many aborted ids for Hive's text; use --json");
    }
    for (int64_t id = Number(range, "first"); id <= last; ++id) ids.aborted.push_back(id);
  }
  return ids;
}

// The snapshot's transactions: what `_vN` of directory names is judged by.
absl::Status ShowTxns(Run& run, int64_t txn) {
  SKEP_ASSIGN_OR_RETURN(std::string answer,
                        run.Call("TransactionService.GetSnapshot", Json({{"txnId", txn}}).dump()));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  const Json& txns = Object(reply, "txns");
  if (run.global().output == Output::kHive) {
    TxnSnapshot snapshot;
    SKEP_ASSIGN_OR_RETURN(snapshot.ids, IdsOf(txns));
    run.io().out << FormatTxnList(snapshot) << "\n";
    return absl::OkStatus();
  }
  TextBlock block;
  block.Add("snapshot", Text(reply, "snapshotSeq"));
  block.Add("transactions", "up to " + Text(txns, "highWatermark"));
  block.Add("still open", OpenText(List(txns, "open")));
  block.Add("aborted", AbortedText(List(txns, "aborted")));
  return PrintReply(run, reply, block.ToString());
}

// The newest write ids of a table: the list belongs to a transaction, so one is opened for the
// question.
absl::Status ShowWriteIds(Run& run, const TableName& table) {
  SKEP_ASSIGN_OR_RETURN(client::Session * session, run.session());
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<client::Transaction> txn,
                        session->Begin({.mode = client::TransactionMode::kReadOnly}));
  const Json request = {
      {"txnId", txn->id().value()},
      {"tables", Json::array({{{"database", table.database}, {"table", table.table}}})}};
  SKEP_ASSIGN_OR_RETURN(std::string answer,
                        run.Call("TableService.GetValidWriteIds", request.dump()));
  SKEP_RETURN_IF_ERROR(txn->Commit());
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  const Json& lists = List(reply, "lists");
  if (lists.empty()) return MakeError(ErrorReason::kInternal, "the server sent no list");
  const Json& list = lists[0];
  if (run.global().output == Output::kHive) {
    WriteIdSnapshot snapshot;
    snapshot.table = table;
    SKEP_ASSIGN_OR_RETURN(snapshot.ids, IdsOf(list));
    run.io().out << FormatWriteIdList(snapshot) << "\n";
    return absl::OkStatus();
  }
  TextBlock block;
  block.Add("table", TableOf(Object(list, "table")) + ", id " + Text(list, "tableId"));
  block.Add("snapshot", Text(list, "snapshotSeq"));
  block.Add("write ids", "up to " + Text(list, "highWatermark"));
  block.Add("still open", OpenText(List(list, "open")));
  block.Add("aborted", AbortedText(List(list, "aborted")));
  return PrintReply(run, reply, block.ToString());
}

}  // namespace

absl::StatusOr<int> RunCommand(Run& run, const ShowSnapshot& options) {
  if (options.table.empty()) {
    SKEP_RETURN_IF_ERROR(ShowTxns(run, options.txn));
    return kDone;
  }
  if (options.txn != 0) {
    return AsUsage(MakeError(
        ErrorReason::kInvalidRequest,
        "the write ids that another's transaction sees cannot be asked for: the question would pin "
        "the table for it. Give --txn or a table, not both",
        {{"field", "txn"}}));
  }
  SKEP_ASSIGN_OR_RETURN(TableName table, ParseTableArgument(options.table));
  SKEP_RETURN_IF_ERROR(ShowWriteIds(run, table));
  return kDone;
}

}  // namespace skep::cli

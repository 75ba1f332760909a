#include <algorithm>

#include "client/cli/commands.h"
#include "client/cli/exit_codes.h"
#include "client/cli/hive_output.h"
#include "client/cli/print.h"
#include "client/cli/resource.h"
#include "client/cli/transactions.h"
#include "client/cli/usage.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

std::string StateCell(const Json& txn) {
  std::string state = AsciiLower(Enum(txn, "state", "TRANSACTION_STATE_"));
  const std::string cause = AsciiLower(Enum(txn, "abortCause", "ABORT_CAUSE_"));
  return cause.empty() ? state : state + " (" + cause + ")";
}

std::string LeaseCell(const Json& txn) {
  std::optional<std::chrono::milliseconds> left = Span(txn, "leaseLeft");
  return left.has_value() ? FormatSpan(std::max(*left, std::chrono::milliseconds(0))) : "";
}

Listing MakeListing(const Json& transactions, const TimeCells& times) {
  Listing listing;
  listing.columns = {{"TXN", false, true},
                     {"STATE"},
                     {"TYPE", true},
                     {"OPENED"},
                     {"HEARTBEAT"},
                     {"LEASE LEFT", false, true},
                     {"USER"},
                     {"HOST"},
                     {"AGENT"},
                     {"TABLES"},
                     {"LOCKS", true},
                     {"SNAPSHOT", true, true}};
  for (const Json& txn : transactions) {
    listing.rows.push_back({Text(txn, "txnId"),
                            StateCell(txn),
                            AsciiLower(Enum(txn, "type", "TRANSACTION_TYPE_")),
                            times.Show(txn, "openTime"),
                            times.Show(txn, "lastHeartbeatTime"),
                            LeaseCell(txn),
                            Text(txn, "user"),
                            Text(txn, "host"),
                            Text(txn, "agent"),
                            JoinedTexts(List(txn, "tables"), ","),
                            JoinedTexts(List(txn, "lockIds"), ","),
                            IdOrNothing(Number(txn, "snapshotSeq"))});
  }
  return listing;
}

}  // namespace

absl::StatusOr<Json> ListTransactions(Run& run, const ShowTransactions& options) {
  Json request = Json::object();
  for (const std::string& state : options.states) {
    std::string word = AsciiLower(state);
    if (word != "open" && word != "aborted") {
      return AsUsage(
          MakeError(ErrorReason::kInvalidRequest,
                    "there is no state '" + Printable(state) + "' to list; there are open, aborted",
                    {{"field", "state"}}));
    }
    request["states"].push_back(word == "open" ? "TRANSACTION_STATE_OPEN"
                                               : "TRANSACTION_STATE_ABORTED");
  }
  if (!options.user.empty()) request["user"] = options.user;
  if (!options.table.empty()) {
    SKEP_ASSIGN_OR_RETURN(TableName table, ParseTableArgument(options.table));
    request["table"] = {{"database", table.database}, {"table", table.table}};
  }
  // What the server does not filter has to be seen whole before the limit counts.
  const bool filtered = options.older_than.has_value() || !options.type.empty();
  const int64_t limit = run.global().limit;
  SKEP_ASSIGN_OR_RETURN(
      std::string answer,
      run.List("TransactionService.ListTransactions", request.dump(), filtered ? 0 : limit));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  if (!filtered) return reply;
  Json kept = Json::array();
  const Timestamp now = run.io().clock.Now();
  for (const Json& txn : List(reply, "transactions")) {
    std::optional<Timestamp> opened = Time(txn, "openTime");
    if (options.older_than.has_value() &&
        (!opened.has_value() || now - *opened < *options.older_than)) {
      continue;
    }
    if (!options.type.empty() &&
        !AsciiEqualsIgnoreCase(Enum(txn, "type", "TRANSACTION_TYPE_"), options.type)) {
      continue;
    }
    if (limit != 0 && static_cast<int64_t>(kept.size()) == limit) break;
    kept.push_back(txn);
  }
  reply["transactions"] = std::move(kept);
  return reply;
}

absl::StatusOr<int> RunCommand(Run& run, const ShowTransactions& options) {
  ShowTransactions asked = options;
  // SHOW TRANSACTIONS of Hive prints aborted ones too.
  if (asked.states.empty() && run.global().output == Output::kHive)
    asked.states = {"open", "aborted"};
  SKEP_ASSIGN_OR_RETURN(Json reply, ListTransactions(run, asked));
  const bool all_open = asked.states.empty() && asked.user.empty() && asked.table.empty() &&
                        asked.type.empty() && !asked.older_than.has_value();
  SKEP_RETURN_IF_ERROR(PrintList(run,
                                 reply,
                                 {"transactions",
                                  MakeListing,
                                  HiveTransactions,
                                  all_open ? "no open transactions" : "no transactions match"}));
  return kDone;
}

}  // namespace skep::cli

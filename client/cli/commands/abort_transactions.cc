#include <algorithm>

#include "client/cli/commands.h"
#include "client/cli/confirm.h"
#include "client/cli/exit_codes.h"
#include "client/cli/listing.h"
#include "client/cli/print.h"
#include "client/cli/transactions.h"
#include "client/cli/usage.h"
#include "storage/base/counted.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/model/quote.h"

namespace skep::cli {
namespace {

constexpr size_t kTypeTheCountAbove = 10;
constexpr size_t kIdsPerCall = 10'000;

struct Target {
  std::string id;
  std::string
      what;  // "ann@host1 (query 5), opened 3m ago, writes sales.orders"; empty if not known
};

std::string Describe(const Json& txn, const TimeCells& times) {
  std::string text = OwnerText(Text(txn, "user"), Text(txn, "host"));
  if (std::string agent = Text(txn, "agent"); !agent.empty()) text += " (" + agent + ")";
  text += ", opened " + times.Show(txn, "openTime");
  if (const Json& tables = List(txn, "tables"); !tables.empty())
    text += ", writes " + JoinedTexts(tables);
  return text;
}

absl::StatusOr<std::vector<Target>> TargetsByFilter(Run& run, const AbortTransactions& options) {
  ShowTransactions filter;
  filter.user = options.user;
  filter.older_than = options.older_than;
  SKEP_ASSIGN_OR_RETURN(Json reply, ListTransactions(run, filter));
  std::vector<Target> targets;
  for (const Json& txn : List(reply, "transactions")) {
    targets.push_back({Text(txn, "txnId"), Describe(txn, TimesOf(run))});
  }
  return targets;
}

absl::StatusOr<std::vector<Target>> TargetsById(Run& run, const std::vector<int64_t>& ids) {
  std::vector<Target> targets;
  for (int64_t id : ids) {
    SKEP_ASSIGN_OR_RETURN(
        std::string answer,
        run.Call("TransactionService.GetTransaction", Json({{"txnId", id}}).dump()));
    SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
    const Json& txn = Object(reply, "transaction");
    const std::string state = AsciiLower(Enum(txn, "state", "TRANSACTION_STATE_"));
    targets.push_back({std::to_string(id), state == "open" ? Describe(txn, TimesOf(run)) : state});
  }
  return targets;
}

void ShowTargets(Run& run, const std::vector<Target>& targets) {
  for (const Target& target : targets)
    run.io().err << "  " << target.id << "  " << Printable(target.what) << "\n";
}

absl::StatusOr<Answer> AskAbout(Run& run, const std::vector<Target>& targets, bool bulk) {
  const std::string these = Counted(std::ssize(targets), "transaction");
  if (!run.global().yes) {
    run.io().err << these << " to abort; what they wrote is lost:\n";
    ShowTargets(run, targets);
  }
  if (bulk && targets.size() > kTypeTheCountAbove) {
    return ConfirmByTyping(run, "Abort " + these + "?", std::to_string(targets.size()));
  }
  return Confirm(run, "Abort " + these + "?");
}

// One reply for all calls: {"aborted": […], "notFound": […], "alreadyCommitted": […]}.
absl::StatusOr<Json> AbortAll(Run& run, const std::vector<Target>& targets) {
  Json joined = {
      {"aborted", Json::array()}, {"notFound", Json::array()}, {"alreadyCommitted", Json::array()}};
  for (size_t begin = 0; begin < targets.size(); begin += kIdsPerCall) {
    Json request = {{"txnIds", Json::array()}, {"byOperator", true}};
    for (size_t i = begin; i < std::min(targets.size(), begin + kIdsPerCall); ++i) {
      request["txnIds"].push_back(targets[i].id);
    }
    SKEP_ASSIGN_OR_RETURN(std::string answer,
                          run.Call("TransactionService.AbortTransactions", request.dump()));
    SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
    for (auto& [field, ids] : joined.items()) {
      for (const Json& id : List(reply, field)) ids.push_back(id);
    }
  }
  return joined;
}

}  // namespace

absl::StatusOr<int> RunCommand(Run& run, const AbortTransactions& options) {
  const bool bulk = options.ids.empty();
  if (bulk && options.user.empty() && !options.older_than.has_value()) {
    return AsUsage(MakeError(ErrorReason::kInvalidRequest,
                             "nothing says which ones; give ids, --user or --older-than",
                             {{"field", "ids"}}));
  }
  std::vector<Target> targets;
  if (bulk) {
    SKEP_ASSIGN_OR_RETURN(targets, TargetsByFilter(run, options));
  } else {
    SKEP_ASSIGN_OR_RETURN(targets, TargetsById(run, options.ids));
  }
  if (targets.empty()) {
    run.Say("no open transactions match");
    return kDone;
  }
  if (run.global().dry_run) {
    run.Say("would abort " + std::to_string(targets.size()) + ":");
    for (const Target& target : targets)
      run.io().out << target.id << "  " << Printable(target.what) << "\n";
    return kDone;
  }
  SKEP_ASSIGN_OR_RETURN(Answer answer, AskAbout(run, targets, bulk));
  if (answer == Answer::kNo) {
    run.Say("nothing was aborted");
    return kFailed;
  }
  SKEP_ASSIGN_OR_RETURN(Json reply, AbortAll(run, targets));
  std::string text;
  static constexpr std::pair<const char*, const char*> kOutcomes[] = {
      {"aborted", "aborted"}, {"alreadyCommitted", "already committed"}, {"notFound", "not known"}};
  for (const auto& [field, word] : kOutcomes) {
    for (const Json& id : List(reply, field)) {
      text += id.is_string() ? id.get<std::string>() + "  " + word + "\n" : "";
    }
  }
  SKEP_RETURN_IF_ERROR(PrintReply(run, reply, text));
  if (!List(reply, "notFound").empty()) return kNotFound;
  return List(reply, "alreadyCommitted").empty() ? kDone : kConflict;
}

}  // namespace skep::cli

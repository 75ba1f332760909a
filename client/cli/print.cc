#include "client/cli/print.h"

#include "client/cli/usage.h"
#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

absl::Status NoSuchOutput(std::string_view output, const Run& run, std::string_view there_are) {
  return AsUsage(MakeError(ErrorReason::kInvalidRequest,
                           "-o " + std::string(output) + " does not exist for " + run.words() +
                               "; there are " + std::string(there_are),
                           {{"field", "output"}}));
}

}  // namespace

Zone ZoneOf(const Run& run) { return run.global().local_time ? Zone::kLocal : Zone::kUtc; }

TimeCells TimesOf(Run& run) {
  return {run.global().OutputOr(Output::kTable), ZoneOf(run), run.io().clock.Now()};
}

absl::Status PrintList(Run& run, const Json& reply, const ListPrinter& printer) {
  const Output output = run.global().OutputOr(Output::kTable);
  const Json& items = List(reply, printer.items);
  std::ostream& out = run.io().out;
  switch (output) {
    case Output::kJson:
      out << reply.dump(2) << "\n";
      return absl::OkStatus();
    case Output::kJsonl:
      for (const Json& item : items) out << item.dump() << "\n";
      return absl::OkStatus();
    case Output::kHive: {
      if (!printer.hive)
        return NoSuchOutput("hive", run, "table, wide, json, jsonl, csv, tsv, name");
      std::string text = printer.hive(items);
      if (run.global().no_headers) text.erase(0, text.find('\n') + 1);
      out << text;
      return absl::OkStatus();
    }
    default:
      break;
  }
  Listing listing = printer.make(items, TimesOf(run));
  if (!run.global().sort.empty()) {
    listing.sort_keys = printer.make(items, {Output::kTsv, ZoneOf(run), run.io().clock.Now()}).rows;
  }
  SKEP_ASSIGN_OR_RETURN(std::string text, Render(listing, run.global(), output));
  out << text;
  const bool for_people = output == Output::kTable || output == Output::kWide;
  if (listing.rows.empty() && for_people) run.Say(printer.nothing);
  if (!Text(reply, "nextPageToken").empty() && for_people)
    run.Say("(more are there; --limit cut the list)");
  return absl::OkStatus();
}

absl::Status PrintReply(Run& run, const Json& reply, const std::string& text) {
  switch (run.global().OutputOr(Output::kTable)) {
    case Output::kJson:
      run.io().out << reply.dump(2) << "\n";
      return absl::OkStatus();
    case Output::kJsonl:
      run.io().out << reply.dump() << "\n";
      return absl::OkStatus();
    case Output::kTable:
    case Output::kWide:
      run.io().out << text;
      return absl::OkStatus();
    case Output::kCsv:
      return NoSuchOutput("csv", run, "table, json, jsonl");
    case Output::kTsv:
      return NoSuchOutput("tsv", run, "table, json, jsonl");
    case Output::kHive:
      return NoSuchOutput("hive", run, "table, json, jsonl");
    case Output::kName:
      break;
  }
  return NoSuchOutput("name", run, "table, json, jsonl");
}

}  // namespace skep::cli

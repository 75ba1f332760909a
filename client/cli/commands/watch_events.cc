#include <fmt/format.h>

#include "client/cli/commands.h"
#include "client/cli/exit_codes.h"
#include "client/cli/print.h"
#include "client/cli/reply.h"
#include "client/cli/resource.h"
#include "client/cli/usage.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

std::string NameOf(const Json& event_table) {
  const std::string name = TableOf(Object(event_table, "name"));
  return name.empty() ? "table id " + Text(event_table, "tableId") : name;
}

std::string Range(const Json& object, std::string_view first, std::string_view last) {
  const std::string from = Text(object, first);
  const std::string to = Text(object, last);
  return from == to ? from : from + "-" + to;
}

// "sales.orders write id 7 (insert p=1, update)"
std::string WrittenText(const Json& table) {
  std::string text = NameOf(Object(table, "table"));
  if (Number(table, "writeId") != 0) text += " write id " + Text(table, "writeId");
  std::vector<std::string> writes;
  for (const Json& write : List(table, "writes")) {
    const std::string partition = Text(write, "partition");
    writes.push_back(AsciiLower(Enum(write, "operation", "WRITE_OPERATION_")) +
                     (partition.empty() ? "" : " " + partition));
  }
  return writes.empty() ? text : text + " (" + JoinText(writes, ", ") + ")";
}

std::string CommittedText(const Json& e) {
  std::vector<std::string> tables;
  for (const Json& table : List(e, "tables")) tables.push_back(WrittenText(table));
  return "transaction " + Text(e, "txnId") + " committed" +
         (tables.empty() ? "" : ": " + JoinText(tables, "; ")) + (Flag(e, "more") ? "; …" : "");
}

std::string AbortedText(const Json& e) {
  std::vector<std::string> tables;
  for (const Json& table : List(e, "tables")) tables.push_back(NameOf(table));
  return fmt::format("transaction {} aborted ({})",
                     Text(e, "txnId"),
                     AsciiLower(Enum(e, "cause", "ABORT_CAUSE_"))) +
         (tables.empty() ? "" : ": " + JoinText(tables, ", "));
}

std::string AllocatedText(const Json& e) {
  std::vector<std::string> ids;
  for (const Json& allocation : List(e, "allocations")) {
    ids.push_back(Text(allocation, "writeId") + " to transaction " + Text(allocation, "txnId"));
  }
  return NameOf(Object(e, "table")) + " write id " + JoinText(ids, ", ");
}

std::string PropertiesText(const Json& e) {
  std::vector<std::string> changes;
  for (const auto& [key, value] : Object(e, "set").items()) {
    changes.push_back(key + "=" + (value.is_string() ? value.get<std::string>() : ""));
  }
  for (const Json& key : List(e, "unset")) {
    if (key.is_string()) changes.push_back(key.get<std::string>() + " removed");
  }
  return NameOf(Object(e, "table")) + " properties: " + JoinText(changes, ", ");
}

std::string CompactionText(const Json& e) {
  const std::string partition = Text(e, "partition");
  return fmt::format("compaction {} ({} of {}{}) is {}",
                     Text(e, "compactionId"),
                     AsciiLower(Enum(e, "type", "COMPACTION_TYPE_")),
                     NameOf(Object(e, "table")),
                     partition.empty() ? "" : "/" + partition,
                     AsciiLower(Enum(e, "state", "COMPACTION_STATE_")));
}

// What happened, in a sentence.
std::string Sentence(const Json& event) {
  const std::string kind = Enum(event, "kind", "EVENT_KIND_");
  if (kind == "TRANSACTIONS_OPENED") {
    const Json& e = Object(event, "opened");
    const std::string ids = Range(e, "firstTxnId", "lastTxnId");
    return (ids.find('-') == std::string::npos ? "transaction " : "transactions ") + ids +
           " opened";
  }
  if (kind == "COMMITTED") return CommittedText(Object(event, "committed"));
  if (kind == "ABORTED") return AbortedText(Object(event, "aborted"));
  if (kind == "WRITE_IDS_ALLOCATED") return AllocatedText(Object(event, "writeIdsAllocated"));
  if (kind == "WRITE_IDS_TAKEN_OVER") {
    const Json& e = Object(event, "writeIdsTakenOver");
    return NameOf(Object(e, "table")) + " write ids " + Range(e, "firstWriteId", "lastWriteId") +
           " taken over";
  }
  if (kind == "TABLE_ADDED") {
    const Json& e = Object(event, "tableAdded");
    return NameOf(Object(e, "table")) + (Flag(e, "registered") ? " registered" : " created");
  }
  if (kind == "TABLE_DROPPED") {
    const Json& e = Object(event, "tableDropped");
    return NameOf(Object(e, "table")) + " dropped by transaction " + Text(e, "txnId");
  }
  if (kind == "PROPERTIES_CHANGED") return PropertiesText(Object(event, "propertiesChanged"));
  if (kind == "PARTITIONS_ADDED") {
    const Json& e = Object(event, "partitionsAdded");
    return NameOf(Object(e, "table")) + " partitions added: " + JoinedTexts(List(e, "partitions"));
  }
  if (kind == "COMPACTION_CHANGED") return CompactionText(Object(event, "compactionChanged"));
  return "something that this skepctl does not know; use --json";
}

std::string Line(const Json& event, Zone zone) {
  const Json& revision = Object(event, "revision");
  const std::optional<Timestamp> time = Time(event, "time");
  return Printable(fmt::format("{}.{}  {}  {}",
                               Text(revision, "seq"),
                               Number(revision, "index"),
                               time ? FormatTime(*time, zone) : "",
                               Sentence(event)));
}

// "41" or "41.3".
absl::StatusOr<Json> RevisionOf(const std::string& text) {
  const size_t dot = text.find('.');
  const std::optional<int64_t> seq = ParseInt64(text.substr(0, dot));
  const std::optional<int64_t> index =
      dot == std::string::npos ? std::optional<int64_t>(0) : ParseInt64(text.substr(dot + 1));
  if (seq && index && *seq >= 0 && *index >= 0 && *index <= INT32_MAX) {
    return Json({{"seq", *seq}, {"index", *index}});
  }
  return AsUsage(MakeError(ErrorReason::kInvalidRequest,
                           "--after " + Printable(text) +
                               " is no revision; give its number as printed, such as 41 or 41.3",
                           {{"field", "after"}}));
}

absl::StatusOr<Json> RequestOf(const WatchEvents& options) {
  Json request = Json::object();
  if (!options.after.empty()) {
    SKEP_ASSIGN_OR_RETURN(request["after"], RevisionOf(options.after));
  }
  for (const std::string& text : options.tables) {
    SKEP_ASSIGN_OR_RETURN(const Resource resource, ParseResource(text, Scope::kDatabase));
    if (!resource.partition.empty()) {
      return AsUsage(MakeError(ErrorReason::kInvalidRequest,
                               "--table takes DB or DB.TABLE: events of a partition are those of "
                               "its table",
                               {{"field", "table"}}));
    }
    if (resource.table.empty()) {
      request["databases"].push_back(resource.database);
    } else {
      request["tables"].push_back({{"database", resource.database}, {"table", resource.table}});
    }
  }
  return request;
}

}  // namespace

absl::StatusOr<int> RunCommand(Run& run, const WatchEvents& options) {
  const Output output = run.global().OutputOr(Output::kTable);
  const bool json = output == Output::kJson || output == Output::kJsonl;
  if (!json && output != Output::kTable) {
    return AsUsage(MakeError(ErrorReason::kInvalidRequest,
                             "watch events prints lines for people, or JSON lines with --json",
                             {{"field", "output"}}));
  }
  SKEP_ASSIGN_OR_RETURN(const Json request, RequestOf(options));
  int64_t left = run.global().limit;
  bool enough = false;
  absl::Status broken;
  std::string seen;
  const auto told = [&](const std::string& message) {
    absl::StatusOr<Json> reply = ParseReply(message);
    if (!reply.ok()) {
      broken = reply.status();
      return false;
    }
    for (const Json& event : List(*reply, "events")) {
      run.io().out << (json ? event.dump() : Line(event, ZoneOf(run))) << std::endl;
      enough = (left > 0 && --left == 0) || !run.io().out;
      if (enough) return false;
    }
    const Json& revision = Object(*reply, "revision");
    seen = Text(revision, "seq");
    if (Number(revision, "index") != 0) seen += "." + std::to_string(Number(revision, "index"));
    return true;
  };
  const absl::Status ended = run.io().watch_events(run.endpoint(), request.dump(), told);
  if (!broken.ok()) return broken;
  if (enough) return kDone;
  if (!seen.empty()) run.Say("go on with --after " + seen);
  if (!ended.ok()) return ended;
  return kDone;
}

}  // namespace skep::cli

#include "client/cli/hive_output.h"

#include <vector>

#include "storage/base/text.h"

namespace skep::cli {
namespace {

constexpr char kNull[] = "NULL";
constexpr char kNoValue[] = " --- ";
constexpr char kNotBlocked[] = "            ";  // twelve blanks

std::string Row(const std::vector<std::string>& cells) { return JoinText(cells, "\t") + "\n"; }

std::string Millis(const Json& object, std::string_view field, const std::string& absent) {
  std::optional<Timestamp> time = Time(object, field);
  return time.has_value() ? std::to_string(time->time_since_epoch().count()) : absent;
}

std::string Or(std::string text, const std::string& absent) { return text.empty() ? absent : text; }

std::string ExtId(int64_t lock, int64_t component) {
  return std::to_string(lock) + "." + std::to_string(component);
}

std::string LockStateWord(const Json& lock) {
  const std::string state = Enum(lock, "state", "LOCK_STATE_");
  return state == "ABORTED" ? "ABORT" : state;
}

std::string CompactionStateWord(const Json& compaction) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"INITIATED", "initiated"},
      {"WORKING", "working"},
      {"READY_FOR_CLEANING", "ready for cleaning"},
      {"SUCCEEDED", "succeeded"},
      {"FAILED", "failed"},
      {"NOT_INITIATED", "did not initiate"},
      {"CANCELLED", "aborted"},
      {"REFUSED", "refused"}};
  const std::string state = Enum(compaction, "state", "COMPACTION_STATE_");
  for (const auto& [name, word] : kWords) {
    if (state == name) return std::string(word);
  }
  return state;
}

// "host-thread": host names may hold hyphens, thread names do not.
std::string HostOf(const std::string& id) { return Or(id.substr(0, id.rfind('-')), kNoValue); }
std::string ThreadOf(const std::string& id) {
  const size_t hyphen = id.rfind('-');
  return hyphen == std::string::npos ? kNoValue : Or(id.substr(hyphen + 1), kNoValue);
}

}  // namespace

std::string HiveTransactions(const Json& transactions) {
  std::string text = Row({"Transaction ID",
                          "Transaction State",
                          "Started Time",
                          "Last Heartbeat Time",
                          "User",
                          "Hostname"});
  for (const Json& txn : transactions) {
    text += Row({Text(txn, "txnId"),
                 Enum(txn, "state", "TRANSACTION_STATE_"),
                 Millis(txn, "openTime", "0"),
                 Millis(txn, "lastHeartbeatTime", "0"),
                 Text(txn, "user"),
                 Text(txn, "host")});
  }
  return text;
}

std::string HiveLocks(const Json& locks) {
  std::string text = Row({"Lock ID",
                          "Database",
                          "Table",
                          "Partition",
                          "State",
                          "Blocked By",
                          "Type",
                          "Transaction ID",
                          "Last Heartbeat",
                          "Acquired At",
                          "User",
                          "Hostname",
                          "Agent Info"});
  for (const Json& lock : locks) {
    const Json& resource = Object(lock, "resource");
    const int64_t blocker = Number(lock, "blockedByLockId");
    text += Row({ExtId(Number(lock, "lockId"), Number(lock, "component")),
                 Text(resource, "database"),
                 Or(Text(resource, "table"), kNull),
                 Or(Text(resource, "partition"), kNull),
                 LockStateWord(lock),
                 blocker == 0 ? kNotBlocked : ExtId(blocker, Number(lock, "blockedByComponent")),
                 Enum(lock, "kind", "LOCK_KIND_"),
                 Or(IdOrNothing(Number(lock, "txnId")), kNull),
                 Millis(lock, "lastHeartbeatTime", "0"),
                 Millis(lock, "acquireTime", kNull),
                 Text(lock, "user"),
                 Text(lock, "host"),
                 Or(Text(lock, "agent"), kNull)});
  }
  return text;
}

std::string HiveCompactions(const Json& compactions) {
  std::string text =
      Row({"CompactionId", "Database",    "Table",         "Partition",      "Type",
           "State",        "Worker host", "Worker",        "Enqueue Time",   "Start Time",
           "Duration(ms)", "HadoopJobId", "Error message", "Initiator host", "Initiator",
           "Pool name",    "TxnId",       "Next TxnId",    "Commit Time",    "Highest WriteId"});
  for (const Json& compaction : compactions) {
    const Json& table = Object(compaction, "table");
    const std::optional<Timestamp> start = Time(compaction, "startTime");
    const std::optional<Timestamp> end = Time(compaction, "endTime");
    const bool lasted = start.has_value() && end.has_value();
    text += Row({Text(compaction, "compactionId"),
                 Text(table, "database"),
                 Text(table, "table"),
                 Or(Text(compaction, "partition"), kNoValue),
                 Enum(compaction, "type", "COMPACTION_TYPE_"),
                 CompactionStateWord(compaction),
                 HostOf(Text(compaction, "worker")),
                 ThreadOf(Text(compaction, "worker")),
                 Millis(compaction, "enqueueTime", kNoValue),
                 Millis(compaction, "startTime", kNoValue),
                 lasted ? std::to_string((*end - *start).count()) : kNoValue,
                 "None",
                 Or(Text(compaction, "errorMessage"), kNoValue),
                 HostOf(Text(compaction, "initiator")),
                 ThreadOf(Text(compaction, "initiator")),
                 kNoValue,
                 Or(IdOrNothing(Number(compaction, "txnId")), kNoValue),
                 kNoValue,
                 Millis(compaction, "commitTime", kNoValue),
                 Or(IdOrNothing(Number(compaction, "highestWriteId")), kNoValue)});
  }
  return text;
}

}  // namespace skep::cli

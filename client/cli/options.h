#pragma once

// What a command line says, as plain values: command_line.* fills it, the commands read it.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace skep::cli {

enum class Output { kTable, kWide, kJson, kJsonl, kCsv, kTsv, kHive, kName };

struct GlobalOptions {
  std::string endpoint;
  std::optional<Output> output;  // unset: the command's own default
  bool no_headers = false;
  std::vector<std::string>
      columns;        // of a listing, by title, any case; empty: all that the output shows
  std::string sort;   // a column's title; "-" before it: descending
  int64_t limit = 0;  // 0: no limit
  bool local_time = false;
  bool quiet = false;
  bool verbose = false;
  bool yes = false;
  bool no_input = false;
  bool dry_run = false;
  std::optional<std::chrono::milliseconds> timeout;

  Output OutputOr(Output fallback) const { return output.value_or(fallback); }
};

struct Status {};

struct ShowTransactions {
  std::vector<std::string> states;  // "open", "aborted"
  std::string user;
  std::string table;
  std::string type;
  std::optional<std::chrono::milliseconds> older_than;
};
struct ShowLocks {
  std::string resource;  // DB[.TABLE[/PART]]
  bool waiting = false;
  int64_t txn = 0;
};
struct ShowCompactions {
  std::string resource;  // DB[.TABLE[/PART]]
  std::vector<std::string> states;
  std::string type;
  int64_t id = 0;
};
struct ShowTables {
  std::string database;
};
struct ShowTable {
  std::string table;
};
struct ShowDeltas {
  std::string resource;  // DB.TABLE[/PART]
};
struct ShowSnapshot {
  std::string table;
  int64_t txn = 0;
};
struct ExplainLock {
  int64_t lock = 0;
};
struct ExplainCleaner {
  std::string table;
};
struct ExplainCompaction {
  std::string resource;  // DB.TABLE[/PART]
};
struct AbortTransactions {
  std::vector<int64_t> ids;
  std::string user;
  std::optional<std::chrono::milliseconds> older_than;
};
struct ReleaseLock {
  int64_t lock = 0;
  bool force = false;
};
struct WatchEvents {
  std::string after;                // "41" or "41.3"; empty: from now on
  std::vector<std::string> tables;  // DB[.TABLE]; empty: all
};
struct Compact {
  std::string resource;  // DB.TABLE[/PART]
  std::string type = "major";
  bool wait = false;
};
struct CreateTable {
  std::string table;
  std::string columns;
  std::string partitioned_by;
  std::string format = "orc";
  bool external = false;
  std::string location;
  std::vector<std::string> properties;  // k=v
};
struct RegisterTable {
  std::string table;
  std::string directory;
  std::string ddl_file;
  std::string write_ids;
  std::string txns;
};
struct SetProperties {
  std::string table;
  std::vector<std::string> properties;  // k=v
  std::vector<std::string> unset;       // k
};
struct DropTable {
  std::string table;
};
struct Read {
  std::string resource;  // DB.TABLE[/PART]
  bool row_ids = false;
  std::string where;
};
struct Dump {
  std::string directory;
  std::string write_ids;
  std::string txns;
  std::string ddl_file;
  bool stats = false;
};

using Command = std::variant<Status,
                             ShowTransactions,
                             ShowLocks,
                             ShowCompactions,
                             ShowTables,
                             ShowTable,
                             ShowDeltas,
                             ShowSnapshot,
                             ExplainLock,
                             ExplainCleaner,
                             ExplainCompaction,
                             AbortTransactions,
                             ReleaseLock,
                             WatchEvents,
                             Compact,
                             CreateTable,
                             RegisterTable,
                             SetProperties,
                             DropTable,
                             Read,
                             Dump>;

struct Invocation {
  GlobalOptions global;
  Command command;
  std::string words;  // "show transactions", for messages
};

}  // namespace skep::cli

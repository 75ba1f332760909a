#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace skep::daemon {

// The effective configuration, typed. What each key means and its default are in setting_table.cc,
// which the default file, the command line and the checks come from.
struct Settings {
  struct Server {
    std::vector<std::string> listen;
    std::chrono::milliseconds drain_timeout{0};
    int64_t max_message = 0;
    int64_t max_in_flight = 0;
    int64_t max_in_flight_per_client = 0;
  } server;
  struct Store {
    std::string path;
    std::string form;         // "log", "tables"
    std::string synchronous;  // "full", "extra"
    bool auto_migrate = false;
  } store;
  struct Warehouse {
    std::vector<std::string> roots;  // normalised
  } warehouse;
  struct Txn {
    std::chrono::milliseconds timeout{0};
    std::chrono::milliseconds reaper_interval{0};
    std::chrono::milliseconds replication_timeout{0};
    int64_t max_open = 0;
    int64_t max_open_per_user = 0;
    int64_t max_batch = 0;
  } txn;
  struct Lock {
    int64_t max_components = 0;
    std::chrono::milliseconds reader_bypass{0};
  } lock;
  struct Events {
    int64_t max_events = 0;
    int64_t max_memory = 0;  // bytes
  } events;
  struct Initiator {
    bool enabled = false;
    std::chrono::milliseconds interval{0};
  } initiator;
  struct Compactor {
    int64_t workers = 0;
    int64_t delta_num_threshold = 0;
    double delta_pct_threshold = 0;
    std::chrono::milliseconds worker_lease{0};
    int64_t failed_threshold = 0;
    std::chrono::milliseconds failed_retry{0};
  } compactor;
  struct Cleaner {
    bool enabled = false;
    std::chrono::milliseconds interval{0};
    std::chrono::milliseconds retry_base{0};
    int64_t retry_max = 0;
  } cleaner;
  struct History {
    int64_t succeeded = 0;
    int64_t failed = 0;
    int64_t refused = 0;
    int64_t not_initiated = 0;
    std::chrono::milliseconds max_age{0};
  } history;
  struct Log {
    std::string level;   // a LogLevel's name
    std::string format;  // "auto", "text", "json"
    std::string target;  // "auto", "stderr" or a file's path
  } log;
};

}  // namespace skep::daemon

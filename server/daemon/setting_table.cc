#include "server/daemon/setting_table.h"

#include <algorithm>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "server/daemon/setting_values.h"
#include "storage/base/text.h"
#include "storage/fs/file_system.h"

namespace skep::daemon {
namespace {

using std::chrono::milliseconds;
using Type = RawValue::Type;

constexpr milliseconds kSecond{1000};
constexpr milliseconds kDay{86'400'000};

bool IsText(const RawValue& value) { return value.type == Type::kText && value.items.size() == 1; }

template <class Get>
Setting DurationKey(std::string key,
                    std::string fallback,
                    std::string doc,
                    Get get,
                    milliseconds min,
                    milliseconds max) {
  Setting setting{std::move(key), Quote(fallback), std::move(doc), {}, {}};
  setting.set = [=](const RawValue& value, Settings* settings) -> std::string {
    const auto parsed = IsText(value) ? ParseDuration(value.items[0]) : std::nullopt;
    if (!parsed) return "a duration with its unit: \"200ms\", \"30s\", \"5m\", \"12h\", \"7d\"";
    if (*parsed < min || *parsed > max) {
      return fmt::format("between {} and {}", FormatDuration(min), FormatDuration(max));
    }
    get(*settings) = *parsed;
    return {};
  };
  setting.show = [=](const Settings& settings) {
    return Quote(FormatDuration(get(const_cast<Settings&>(settings))));
  };
  return setting;
}

template <class Get>
Setting SizeKey(
    std::string key, std::string fallback, std::string doc, Get get, int64_t min, int64_t max) {
  Setting setting{std::move(key), Quote(fallback), std::move(doc), {}, {}};
  setting.set = [=](const RawValue& value, Settings* settings) -> std::string {
    const auto parsed = IsText(value) ? ParseSize(value.items[0]) : std::nullopt;
    if (!parsed) return "a size with its unit: \"512KiB\", \"4MiB\"";
    if (*parsed < min || *parsed > max)
      return fmt::format("between {} and {}", FormatSize(min), FormatSize(max));
    get(*settings) = *parsed;
    return {};
  };
  setting.show = [=](const Settings& settings) {
    return Quote(FormatSize(get(const_cast<Settings&>(settings))));
  };
  return setting;
}

template <class Get>
Setting IntegerKey(
    std::string key, std::string fallback, std::string doc, Get get, int64_t min, int64_t max) {
  Setting setting{std::move(key), std::move(fallback), std::move(doc), {}, {}};
  setting.set = [=](const RawValue& value, Settings* settings) -> std::string {
    const bool number = value.type == Type::kInteger || value.type == Type::kText;
    const auto parsed =
        number && value.items.size() == 1 ? ParseInt64(value.items[0]) : std::nullopt;
    if (!parsed || *parsed < min || *parsed > max)
      return fmt::format("a whole number between {} and {}", min, max);
    get(*settings) = *parsed;
    return {};
  };
  setting.show = [=](const Settings& settings) {
    return std::to_string(get(const_cast<Settings&>(settings)));
  };
  return setting;
}

template <class Get>
Setting RatioKey(
    std::string key, std::string fallback, std::string doc, Get get, double min, double max) {
  Setting setting{std::move(key), std::move(fallback), std::move(doc), {}, {}};
  setting.set = [=](const RawValue& value, Settings* settings) -> std::string {
    const bool number =
        value.type != Type::kBoolean && value.type != Type::kOther && value.items.size() == 1;
    const auto parsed = number ? ParseDouble(value.items[0]) : std::nullopt;
    if (!parsed || !(*parsed >= min && *parsed <= max))
      return fmt::format("a ratio between {} and {}", min, max);
    get(*settings) = *parsed;
    return {};
  };
  setting.show = [=](const Settings& settings) {
    return fmt::format("{}", get(const_cast<Settings&>(settings)));
  };
  return setting;
}

template <class Get>
Setting BooleanKey(std::string key, std::string fallback, std::string doc, Get get) {
  Setting setting{std::move(key), std::move(fallback), std::move(doc), {}, {}};
  setting.set = [=](const RawValue& value, Settings* settings) -> std::string {
    const bool readable =
        (value.type == Type::kBoolean || value.type == Type::kText) && value.items.size() == 1;
    if (!readable || (value.items[0] != "true" && value.items[0] != "false"))
      return "true or false";
    get(*settings) = value.items[0] == "true";
    return {};
  };
  setting.show = [=](const Settings& settings) -> std::string {
    return get(const_cast<Settings&>(settings)) ? "true" : "false";
  };
  return setting;
}

// Text that `check` accepts: it answers the broken rule, or nothing.
template <class Get, class Check>
Setting TextKey(std::string key, std::string fallback, std::string doc, Get get, Check check) {
  Setting setting{std::move(key), Quote(fallback), std::move(doc), {}, {}};
  setting.set = [=](const RawValue& value, Settings* settings) -> std::string {
    if (!IsText(value)) return "a text in quotes";
    std::string broken = check(value.items[0]);
    if (broken.empty()) get(*settings) = value.items[0];
    return broken;
  };
  setting.show = [=](const Settings& settings) {
    return Quote(get(const_cast<Settings&>(settings)));
  };
  return setting;
}

std::string ShowList(const std::vector<std::string>& items) {
  std::vector<std::string> quoted;
  for (const std::string& item : items) quoted.push_back(Quote(item));
  return "[" + JoinText(quoted, ", ") + "]";
}

// A list of texts. `read` turns an item into what is stored, or answers the broken rule.
struct Item {
  std::string value;
  std::string broken;
};
template <class Get, class Read>
Setting ListKey(
    std::string key, std::vector<std::string> fallback, std::string doc, Get get, Read read) {
  Setting setting{std::move(key), ShowList(fallback), std::move(doc), {}, {}};
  setting.set = [=](const RawValue& value, Settings* settings) -> std::string {
    if (value.type != Type::kText && value.type != Type::kList) return "a list of texts";
    std::vector<std::string> read_items;
    for (const std::string& given : value.items) {
      Item item = read(given);
      if (!item.broken.empty()) return item.broken;
      read_items.push_back(std::move(item.value));
    }
    get(*settings) = std::move(read_items);
    return {};
  };
  setting.show = [=](const Settings& settings) {
    return ShowList(get(const_cast<Settings&>(settings)));
  };
  return setting;
}

std::string CheckPath(const std::string& path) {
  if (!fs::NormalizePath(path).ok() || path == "/") return "an absolute path without \"..\"";
  return {};
}

Item ReadRoot(const std::string& path) {
  const absl::StatusOr<std::string> normal = fs::NormalizePath(path);
  if (!normal.ok() || *normal == "/") return {"", "absolute paths without \"..\", each below /"};
  return {*normal, ""};
}

Item ReadEndpoint(const std::string& endpoint) {
  constexpr std::string_view kUnix = "unix:";
  constexpr size_t kMaxUnixPath = 107;  // sockaddr_un
  if (endpoint.starts_with(kUnix)) {
    const std::string path = endpoint.substr(kUnix.size());
    if (!CheckPath(path).empty()) return {"", "unix:/absolute/path or HOST:PORT"};
    if (path.size() > kMaxUnixPath) return {"", "a socket's path has 107 bytes at most"};
    return {endpoint, ""};
  }
  const size_t colon = endpoint.rfind(':');
  const auto port = colon == std::string::npos || colon == 0
                        ? std::nullopt
                        : ParseInt64(endpoint.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) return {"", "unix:/absolute/path or HOST:PORT"};
  return {endpoint, ""};
}

auto OneOf(std::vector<std::string> allowed) {
  return [allowed = std::move(allowed)](const std::string& text) -> std::string {
    if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return {};
    return "one of " + JoinText(allowed, ", ");
  };
}

std::string CheckSynchronous(const std::string& text) {
  if (text == "normal" || text == "off")
    return "full or extra: less may lose acknowledged commits at power loss";
  return OneOf({"full", "extra"})(text);
}

std::string CheckTarget(const std::string& text) {
  if (text == "auto" || text == "stderr") return {};
  return CheckPath(text).empty() ? "" : "auto, stderr or an absolute path";
}

std::string DefaultWorkers() {
  return std::to_string(std::max(1u, std::thread::hardware_concurrency() / 4));
}

void AddServerKeys(std::vector<Setting>* table) {
  table->push_back(ListKey(
      "server.listen",
      {"unix:/run/skep/skepd.sock", "127.0.0.1:7083"},
      "Endpoints of the gRPC services. There is no TLS yet: keep to this host.",
      [](Settings & s) -> auto& { return s.server.listen; },
      ReadEndpoint));
  table->push_back(DurationKey(
      "server.drain_timeout",
      "20s",
      "How long running calls may go on after SIGTERM.",
      [](Settings & s) -> auto& { return s.server.drain_timeout; },
      milliseconds(0),
      milliseconds(600'000)));
  table->push_back(SizeKey(
      "server.max_message",
      "4MiB",
      "Largest message that is taken in.",
      [](Settings & s) -> auto& { return s.server.max_message; },
      64 << 10,
      64 << 20));
  table->push_back(IntegerKey(
      "server.max_in_flight",
      "512",
      "Calls at one time; commit, abort, heartbeat and release always get through.",
      [](Settings & s) -> auto& { return s.server.max_in_flight; },
      4,
      1'000'000));
  table->push_back(IntegerKey(
      "server.max_in_flight_per_client",
      "64",
      "Of these, calls of one client process (metadata skep-client-id).",
      [](Settings & s) -> auto& { return s.server.max_in_flight_per_client; },
      1,
      1'000'000));
  table->push_back(TextKey(
      "store.path",
      "/var/lib/skep/skep.db",
      "The store: a file on a local filesystem; its log and skep.lock lie beside it.",
      [](Settings & s) -> auto& { return s.store.path; },
      CheckPath));
  table->push_back(TextKey(
      "store.form",
      "log",
      "log: units go to a log, the tables follow. tables: each unit goes to the tables; slower.",
      [](Settings & s) -> auto& { return s.store.form; },
      OneOf({"log", "tables"})));
  table->push_back(TextKey(
      "store.synchronous",
      "full",
      "full: each unit is synced before it is answered. extra: the directory too.",
      [](Settings & s) -> auto& { return s.store.synchronous; },
      CheckSynchronous));
  table->push_back(BooleanKey(
      "store.auto_migrate",
      "false",
      "Copy and migrate a store of an older version instead of refusing to start.",
      [](Settings & s) -> auto& { return s.store.auto_migrate; }));
  table->push_back(ListKey(
      "warehouse.roots",
      {},
      "Where tables may lie; new ones go to the first. Without one no table can be made.",
      [](Settings & s) -> auto& { return s.warehouse.roots; },
      ReadRoot));
}

void AddTxnKeys(std::vector<Setting>* table) {
  table->push_back(DurationKey(
      "txn.timeout",
      "300s",
      "Lease of a transaction between two heartbeats.",
      [](Settings & s) -> auto& { return s.txn.timeout; },
      kSecond,
      kDay));
  table->push_back(DurationKey(
      "txn.replication_timeout",
      "11d",
      "Lease of a transaction that stands for one of another server.",
      [](Settings & s) -> auto& { return s.txn.replication_timeout; },
      kSecond,
      100 * kDay));
  table->push_back(DurationKey(
      "txn.reaper_interval",
      "30s",
      "How often expired transactions are looked for, at least.",
      [](Settings & s) -> auto& { return s.txn.reaper_interval; },
      kSecond,
      milliseconds(600'000)));
  table->push_back(IntegerKey(
      "txn.max_open",
      "100000",
      "Open transactions; more are refused until 90 % are left.",
      [](Settings & s) -> auto& { return s.txn.max_open; },
      10,
      10'000'000));
  table->push_back(IntegerKey(
      "txn.max_open_per_user",
      "0",
      "Open transactions of one user; 0: no limit but that of all.",
      [](Settings & s) -> auto& { return s.txn.max_open_per_user; },
      0,
      10'000'000));
  table->push_back(IntegerKey(
      "txn.max_batch",
      "1000",
      "Transactions opened by one call.",
      [](Settings & s) -> auto& { return s.txn.max_batch; },
      1,
      1000));
  table->push_back(IntegerKey(
      "lock.max_components",
      "10000",
      "Resources named by one lock request.",
      [](Settings & s) -> auto& { return s.lock.max_components; },
      1,
      10'000));
  table->push_back(DurationKey(
      "lock.reader_bypass",
      "0s",
      "How long a waiting request lets readers pass it; 0s: never.",
      [](Settings & s) -> auto& { return s.lock.reader_bypass; },
      milliseconds(0),
      kDay));
}

void AddEventKeys(std::vector<Setting>* table) {
  table->push_back(IntegerKey(
      "events.max_events",
      "65536",
      "Events kept in memory for watchers that are behind.",
      [](Settings & s) -> auto& { return s.events.max_events; },
      1,
      100'000'000));
  table->push_back(SizeKey(
      "events.max_memory",
      "16MiB",
      "Memory that these events may take; the newest unit's are always kept.",
      [](Settings & s) -> auto& { return s.events.max_memory; },
      int64_t{64} << 10,
      int64_t{16} << 30));
}

void AddCompactionKeys(std::vector<Setting>* table) {
  table->push_back(BooleanKey(
      "initiator.enabled", "true", "Enqueue compactions by the thresholds below.", [
      ](Settings & s) -> auto& { return s.initiator.enabled; }));
  table->push_back(DurationKey(
      "initiator.interval",
      "300s",
      "Between two passes over what was written.",
      [](Settings & s) -> auto& { return s.initiator.interval; },
      milliseconds(100),
      kDay));
  table->push_back(IntegerKey(
      "compactor.workers",
      DefaultWorkers(),
      "Threads that compact. Default: a quarter of the cores, one at least.",
      [](Settings & s) -> auto& { return s.compactor.workers; },
      0,
      256));
  table->push_back(IntegerKey(
      "compactor.delta_num_threshold",
      "10",
      "Deltas that make a minor compaction.",
      [](Settings & s) -> auto& { return s.compactor.delta_num_threshold; },
      2,
      1'000'000));
  table->push_back(RatioKey(
      "compactor.delta_pct_threshold",
      "0.1",
      "Delta bytes ÷ base bytes that make a major compaction.",
      [](Settings & s) -> auto& { return s.compactor.delta_pct_threshold; },
      0.001,
      1000));
  table->push_back(DurationKey(
      "compactor.worker_lease",
      "10m",
      "A worker that is silent for so long has lost its compaction.",
      [](Settings & s) -> auto& { return s.compactor.worker_lease; },
      30 * kSecond,
      kDay));
  table->push_back(IntegerKey(
      "compactor.failed_threshold",
      "2",
      "Failures in a row after which a partition is left alone.",
      [](Settings & s) -> auto& { return s.compactor.failed_threshold; },
      1,
      1000));
  table->push_back(DurationKey(
      "compactor.failed_retry",
      "7d",
      "… for so long; 0s: until something changes.",
      [](Settings & s) -> auto& { return s.compactor.failed_retry; },
      milliseconds(0),
      365 * kDay));
  table->push_back(BooleanKey(
      "cleaner.enabled", "true", "Remove what compactions replaced.", [](Settings & s) -> auto& {
        return s.cleaner.enabled;
      }));
  table->push_back(DurationKey(
      "cleaner.interval",
      "5s",
      "Between two passes.",
      [](Settings & s) -> auto& { return s.cleaner.interval; },
      milliseconds(10),
      kDay));
  table->push_back(DurationKey(
      "cleaner.retry_base",
      "300s",
      "Wait after a pass that left something; doubled up to sixteen times that.",
      [](Settings & s) -> auto& { return s.cleaner.retry_base; },
      kSecond,
      kDay));
  table->push_back(IntegerKey(
      "cleaner.retry_max",
      "5",
      "Such waits until an entry is given up: it shows as FAILED.",
      [](Settings & s) -> auto& { return s.cleaner.retry_max; },
      0,
      1000));
  table->push_back(IntegerKey(
      "history.succeeded",
      "3",
      "Finished compactions that are kept, per partition.",
      [](Settings & s) -> auto& { return s.history.succeeded; },
      0,
      1000));
  table->push_back(IntegerKey(
      "history.failed",
      "3",
      "Failed ones.",
      [](Settings & s) -> auto& { return s.history.failed; },
      0,
      1000));
  table->push_back(IntegerKey(
      "history.refused",
      "3",
      "Refused ones.",
      [](Settings & s) -> auto& { return s.history.refused; },
      0,
      1000));
  table->push_back(IntegerKey(
      "history.not_initiated",
      "2",
      "Ones that the initiator left out.",
      [](Settings & s) -> auto& { return s.history.not_initiated; },
      0,
      1000));
  table->push_back(DurationKey(
      "history.max_age",
      "7d",
      "Of failures that a newer success outdates.",
      [](Settings & s) -> auto& { return s.history.max_age; },
      kSecond,
      3650 * kDay));
}

void AddLogKeys(std::vector<Setting>* table) {
  table->push_back(TextKey(
      "log.level",
      "info",
      "trace, debug, info, warn, error or critical.",
      [](Settings & s) -> auto& { return s.log.level; },
      OneOf({"trace", "debug", "info", "warn", "error", "critical"})));
  table->push_back(TextKey(
      "log.format",
      "auto",
      "text (logfmt), json; auto is text.",
      [](Settings & s) -> auto& { return s.log.format; },
      OneOf({"auto", "text", "json"})));
  table->push_back(TextKey(
      "log.target",
      "auto",
      "stderr, or a file's path (SIGUSR1 opens it again); auto is stderr.",
      [](Settings & s) -> auto& { return s.log.target; },
      CheckTarget));
}

std::string Replace(std::string text, char from, char to) {
  std::replace(text.begin(), text.end(), from, to);
  return text;
}

}  // namespace

std::string Setting::FlagName() const { return "--" + Replace(key, '_', '-'); }

std::string Setting::VariableName() const {
  std::string name = "SKEP_" + Replace(key, '.', '_');
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? c - 32 : c;
  });
  return name;
}

const std::vector<Setting>& SettingTable() {
  static const std::vector<Setting>* const table = [] {
    auto* made = new std::vector<Setting>();  // lives as long as the process
    AddServerKeys(made);
    AddTxnKeys(made);
    AddEventKeys(made);
    AddCompactionKeys(made);
    AddLogKeys(made);
    return made;
  }();
  return *table;
}

std::vector<BrokenRule> CheckTogether(const Settings& settings) {
  std::vector<BrokenRule> broken;
  if (settings.server.listen.empty()) broken.push_back({"server.listen", "one endpoint at least"});
  const std::set<std::string> endpoints(settings.server.listen.begin(),
                                        settings.server.listen.end());
  if (endpoints.size() != settings.server.listen.size()) {
    broken.push_back({"server.listen", "each endpoint once"});
  }
  if (settings.server.max_in_flight_per_client > settings.server.max_in_flight) {
    broken.push_back({"server.max_in_flight_per_client", "not above server.max_in_flight"});
  }
  const auto& roots = settings.warehouse.roots;
  for (size_t i = 0; i < roots.size(); ++i) {
    if (fs::IsInside(roots[i], settings.store.path)) {
      broken.push_back({"store.path", "outside the warehouse (it is inside " + roots[i] + ")"});
    }
    for (size_t j = 0; j < roots.size(); ++j) {
      if (i != j && fs::IsInside(roots[i], roots[j])) {
        broken.push_back({"warehouse.roots", roots[j] + " is inside " + roots[i]});
      }
    }
  }
  return broken;
}

std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace skep::daemon

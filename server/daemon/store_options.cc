#include "server/daemon/store_options.h"

#include <cstdio>

#include <fmt/format.h>

#include "server/daemon/exit_codes.h"
#include "server/daemon/version.h"
#include "storage/base/text.h"

namespace skep::daemon {
namespace {

// Some thousand commits, or the next piece of the log.
constexpr int64_t kReserveBytes = int64_t{1} << 20;

}  // namespace

meta::StoreForm FormOf(const Settings& settings) {
  return settings.store.form == "tables" ? meta::StoreForm::kTables : meta::StoreForm::kLog;
}

meta::LogStoreOptions StoreOptionsOf(const Settings& settings, Timestamp now) {
  meta::LogStoreOptions options;
  options.tables.path = settings.store.path;
  options.tables.synchronous = settings.store.synchronous == "extra"
                                   ? meta::SqliteOptions::Synchronous::kExtra
                                   : meta::SqliteOptions::Synchronous::kFull;
  options.tables.auto_migrate = settings.store.auto_migrate;
  options.tables.now = now;
  options.reserve_bytes = kReserveBytes;
  options.tables.program = std::string("skepd ") + kVersion;
  return options;
}

int CheckStoreFiles(const Settings& settings, CheckDepth depth) {
  const absl::StatusOr<std::vector<std::string>> findings =
      meta::CheckStore(StoreOptionsOf(settings, SystemClock().Now()),
                       depth == CheckDepth::kDeep ? meta::SqliteStore::Depth::kDeep
                                                  : meta::SqliteStore::Depth::kQuick);
  if (!findings.ok()) {
    std::fputs(
        fmt::format("skepd: cannot check the store: {}\n", MessageOf(findings.status())).c_str(),
        stderr);
    return ExitCodeOfStore(findings.status());
  }
  for (const std::string& finding : *findings) {
    std::fputs((Printable(finding) + "\n").c_str(), stdout);
  }
  if (!findings->empty()) return kExitIo;
  std::fputs("skepd: the store is sound\n", stdout);
  return kExitOk;
}

}  // namespace skep::daemon

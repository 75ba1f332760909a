#include "storage/meta/open_store.h"

#include <utility>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/fs/posix_file_system.h"
#include "storage/meta/check_store.h"
#include "storage/meta/log/recovery.h"
#include "storage/meta/reserved_store.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

absl::StatusOr<std::unique_ptr<SqliteStore>> OpenTables(const LogStoreOptions& options) {
  fs::PosixFileSystem system_fs;
  SKEP_ASSIGN_OR_RETURN(
      RecoveredTables recovered,
      OpenTablesAfterLog(options.fs != nullptr ? *options.fs : system_fs, options.tables));
  return std::move(recovered.tables);
}

// A start that needs room on a full disk, told what for.
absl::Status WhyItNeedsRoom(const absl::Status& status) {
  if (ReasonOf(status) != ErrorReason::kStoreFull) return status;
  return MakeError(
      ErrorReason::kStoreFull,
      MessageOf(status) +
          "; a start takes what the log holds into the tables, for which there must be "
          "room: free some, then start again. Nothing is lost, and no file of the "
          "data directory is to be removed",
      MetadataOf(status));
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetaStore>> OpenStore(StoreForm form,
                                                     const LogStoreOptions& options) {
  std::unique_ptr<MetaStore> store;
  if (form == StoreForm::kTables) {
    auto tables = OpenTables(options);
    if (!tables.ok()) return WhyItNeedsRoom(tables.status());
    store = *std::move(tables);
  } else {
    auto log = LogStore::Open(options);
    if (!log.ok()) return WhyItNeedsRoom(log.status());
    store = *std::move(log);
  }
  if (options.reserve_bytes == 0) return store;
  static auto* const system_clock = new SystemClock;
  return std::make_unique<ReservedStore>(std::move(store),
                                         FileReserve(options.tables.path, options.reserve_bytes),
                                         options.clock != nullptr ? *options.clock : *system_clock);
}

absl::StatusOr<std::vector<std::string>> CheckStore(const LogStoreOptions& options,
                                                    SqliteStore::Depth depth) {
  const std::string& path = options.tables.path;
  fs::PosixFileSystem system_fs;
  fs::FileSystem& fs = options.fs != nullptr ? *options.fs : system_fs;
  if (absl::IsNotFound(fs.Stat(path).status())) {
    return MakeError(ErrorReason::kStorageUnwritable,
                     fmt::format("there is no store {}; give the path of one", Printable(path)),
                     {{"path", path}, {"errno", "ENOENT"}});
  }
  SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<SqliteStore> tables, OpenTables(options));
  SKEP_ASSIGN_OR_RETURN(std::vector<std::string> findings, tables->CheckFile(depth));
  SKEP_ASSIGN_OR_RETURN(const StoredState state, tables->Load());
  for (std::string& finding : CheckInvariants(state)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace skep::meta

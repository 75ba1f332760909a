#pragma once

#include <memory>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/meta/log/log_store.h"
#include "storage/meta/meta_store.h"
#include "storage/meta/sqlite/sqlite_store.h"

namespace skep::meta {

// The two ways to keep a store. Each opens what the other left, after a crash too.
enum class StoreForm {
  kLog,     // units in a log, tables that follow (LogStore)
  kTables,  // units in the tables at once (SqliteStore)
};

// `options.tables` is all that kTables looks at, `options.fs` for the files of a log that it
// finds, and `options.reserve_bytes`. Errors: those of LogStore::Open.
absl::StatusOr<std::unique_ptr<MetaStore>> OpenStore(StoreForm form,
                                                     const LogStoreOptions& options);

// What is wrong with a store that nobody uses, one sentence each: the files, then what its rows
// say. Puts the units of a log into the tables as a start would. Errors: those of OpenStore;
// kStorageUnwritable where there is no store.
absl::StatusOr<std::vector<std::string>> CheckStore(const LogStoreOptions& options,
                                                    SqliteStore::Depth depth);

}  // namespace skep::meta

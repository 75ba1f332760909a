#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <absl/status/statusor.h>
#include <gtest/gtest.h>

#include "storage/meta/log/log_store.h"
#include "storage/meta/sqlite/sqlite_store.h"

namespace skep::meta {

inline SqliteOptions OptionsFor(const std::string& dir) {
  SqliteOptions options;
  options.path = dir + "/skep.db";
  options.now = Timestamp(std::chrono::milliseconds(1'790'812'800'000));
  options.program = "test 1";
  return options;
}

// With segments so small that a few units fill one.
inline LogStoreOptions LogOptionsFor(const std::string& dir) {
  LogStoreOptions options;
  options.tables = OptionsFor(dir);
  options.first_segment_bytes = 1024;
  options.largest_segment_bytes = 4096;
  options.slice_bytes = 1500;
  return options;
}

// What a restarted process finds in the directory. Errors: those of Open and Load.
inline absl::StatusOr<StoredState> LoadFrom(const std::string& dir) {
  absl::StatusOr<std::unique_ptr<SqliteStore>> store = SqliteStore::Open(OptionsFor(dir));
  if (!store.ok()) return store.status();
  return (*store)->Load();
}
inline absl::StatusOr<StoredState> LoadFromLog(const std::string& dir) {
  absl::StatusOr<std::unique_ptr<LogStore>> store = LogStore::Open(LogOptionsFor(dir));
  if (!store.ok()) return store.status();
  return (*store)->Load();
}

// The log's files of one directory into another.
inline void CopyLog(const std::string& from, const std::string& to) {
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("skep.db-log.")) {
      std::filesystem::copy_file(
          entry.path(), to + "/" + name, std::filesystem::copy_options::overwrite_existing);
    }
  }
}

// The files as they are at this moment, as after a kill of the process: the system keeps what was
// written, synced or not. (Copying closes descriptors of the live file, which drops its locks in
// this process: fine where no other process is about.)
inline void CopyFiles(const std::string& from, const std::string& to) {
  for (const char* name : {"skep.db", "skep.db-wal"}) {
    std::error_code absent;
    std::filesystem::copy_file(from + "/" + name, to + "/" + name, absent);
  }
  CopyLog(from, to);
}

}  // namespace skep::meta

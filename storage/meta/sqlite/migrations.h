#pragma once

#include <span>
#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "storage/base/clock.h"
#include "storage/meta/sqlite/database.h"

namespace skep::meta {

// One step of the schema's life, from version − 1 to `version`. Frozen once released: a store
// remembers the checksum of the text it was made by.
struct MigrationStep {
  int version;  // from 1, without gaps
  std::string_view name;
  std::string_view sql;
};

// All steps up to the schema this program writes.
std::span<const MigrationStep> MigrationSteps();

// "SKEP": tells a store from any other SQLite file (PRAGMA application_id).
inline constexpr int64_t kApplicationId = 0x534b4550;

struct MigrateOptions {
  bool auto_migrate = false;
  Timestamp now{};      // goes into schema_migrations and the name of the copy
  std::string program;  // likewise: "skepd 0.1.0"
};

// OK for a store. Errors: kCorruptStore for anything else, a file that holds nothing included.
absl::Status CheckIsStore(Database& db);

// Brings the store to the last of `steps`. A new file gets all of them in one transaction. An older
// store is copied first ("<path>.v1-20261001T120000Z.backup", checked and synced), then takes each
// missing step in a transaction of its own, so a crash leaves a whole version and a start goes on
// from there.
//
// Errors: kNotSupported for a newer store, and for an older one unless auto_migrate (metadata
// found, known); kCorruptStore for a store whose steps are not these; else as SqliteError.
absl::Status Migrate(Database& db,
                     std::span<const MigrationStep> steps,
                     const MigrateOptions& options);

// What schema_migrations holds for a step.
std::string ChecksumOf(const MigrationStep& step);

}  // namespace skep::meta

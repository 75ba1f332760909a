#pragma once

#include <absl/status/statusor.h>

#include "storage/meta/sqlite/database.h"
#include "storage/model/stored_state.h"

namespace skep::meta {

// Reads every table as one consistent state. Errors: kCorruptStore for values that no program of
// this schema writes; else as SqliteError.
absl::StatusOr<StoredState> ReadState(Database& db);

}  // namespace skep::meta

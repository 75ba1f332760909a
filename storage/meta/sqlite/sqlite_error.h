#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <sqlite3.h>

namespace skep::meta {

// The status for a result code of a call that changed nothing durable. `doing` says what was tried
// ("read open_transactions"). `db` may be null; the connection's own words are taken if it has any.
//
// BUSY, LOCKED: kStoreBusy. FULL, and I/O errors whose errno is ENOSPC or EDQUOT or that come from
// growing the shared memory: kStoreFull. READONLY, CANTOPEN, PERM, AUTH: kStorageUnwritable.
// CORRUPT, NOTADB, FORMAT and other I/O errors: kCorruptStore. Else kInternal.
// Metadata: path, sqlite (the code's number).
absl::Status SqliteError(int code, std::string_view doing, const std::string& path, sqlite3* db);

}  // namespace skep::meta

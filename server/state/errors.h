#pragma once

// The refusals of the state machine, one function each: message and metadata as the error table
// wants them.

#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "storage/model/errors.h"
#include "storage/model/ids.h"
#include "storage/model/names.h"
#include "storage/model/txn.h"

namespace skep::state {

absl::Status NoSuchTxn(TxnId txn);
// `detail`: more than the cause says, or empty.
absl::Status TxnAborted(TxnId txn, AbortCause cause, std::string_view detail = "");
absl::Status TxnAlreadyCommitted(TxnId txn);
// The transaction or its snapshot belongs to a unit that is not durable yet.
absl::Status NotPublishedYet(TxnId txn);
absl::Status TxnMayNot(TxnId txn, std::string_view operation, std::string_view why);
absl::Status TableMayNot(const TableName& table, std::string_view operation, std::string_view why);
absl::Status NoSuchTable(const TableName& table, std::string_view why = "");
absl::Status SnapshotTooOld(TxnId txn, const TableName& table, std::string_view why);
absl::Status NotTransactional(const TableName& table, std::string_view operation);
absl::Status NoSuchLock(LockId lock);
absl::Status NoSuchCompaction(CompactionId id);
// `field` is the name of the wire field.
absl::Status InvalidField(std::string_view field, std::string_view message);

}  // namespace skep::state

#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <absl/status/status.h>

namespace skep {

// Why an operation was refused, for machines. Each reason has one status code (errors.cc holds the
// table); the wire name is the constant in upper snake case without the k ("WRITE_CONFLICT").
enum class ErrorReason {
  kUnspecified,
  kNoSuchTxn,
  kTxnAlreadyCommitted,
  kTxnAborted,
  kNotEnoughHistory,
  kOperationNotAllowed,
  kSnapshotTooOld,
  kWriteConflict,
  kNoSuchLock,
  kTxnOpen,
  kTooManyOpenTxns,
  kNoSuchTable,
  kNoSuchCompaction,
  kTableNotTransactional,
  kInvalidRequest,
  kRequestIdExpired,
  kRequestIdReused,
  kWatchTooOld,
  kStoreBusy,
  kShuttingDown,
  kMalformedDirectory,
  kCorruptStore,
  kOverloaded,
  kStoreFull,
  kOutcomeUnknown,
  kAlreadyExists,
  kLocationNotAllowed,
  kNotSupported,
  kLegacyLayout,
  kCorruptFile,
  kValueOutOfRange,
  kStorageUnwritable,
  kStorageUnreadable,
  kNoSuchSession,
  kSessionFenced,
  kInternal,
};

using ErrorMetadata = std::map<std::string, std::string>;

// The only way to create an error. Whatever varies in `message` is in `metadata` too.
absl::Status MakeError(ErrorReason reason, std::string_view message, ErrorMetadata metadata = {});

// kUnspecified for OK and for errors that do not come from MakeError.
ErrorReason ReasonOf(const absl::Status& status);
ErrorMetadata MetadataOf(const absl::Status& status);

// "context: message", same code, reason and metadata. OK stays OK.
absl::Status Annotate(const absl::Status& status, std::string_view context);

absl::StatusCode CodeOf(ErrorReason reason);
std::string_view ReasonName(ErrorReason reason);  // "WRITE_CONFLICT"
std::optional<ErrorReason> ParseReasonName(std::string_view name);

}  // namespace skep

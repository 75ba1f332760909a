#include "storage/model/errors.h"

#include <array>

#include <absl/strings/cord.h>

#include "storage/base/text.h"

namespace skep {

namespace {

struct ReasonEntry {
  ErrorReason reason;
  const char* name;
  absl::StatusCode code;
};

using absl::StatusCode;

// One row per reason, in the order of the enum.
constexpr std::array kReasons = {
    ReasonEntry{ErrorReason::kUnspecified, "UNSPECIFIED", StatusCode::kUnknown},
    ReasonEntry{ErrorReason::kNoSuchTxn, "NO_SUCH_TXN", StatusCode::kNotFound},
    ReasonEntry{ErrorReason::kTxnAlreadyCommitted,
                "TXN_ALREADY_COMMITTED",
                StatusCode::kFailedPrecondition},
    ReasonEntry{ErrorReason::kTxnAborted, "TXN_ABORTED", StatusCode::kAborted},
    ReasonEntry{
        ErrorReason::kNotEnoughHistory, "NOT_ENOUGH_HISTORY", StatusCode::kFailedPrecondition},
    ReasonEntry{ErrorReason::kOperationNotAllowed,
                "OPERATION_NOT_ALLOWED",
                StatusCode::kFailedPrecondition},
    ReasonEntry{ErrorReason::kSnapshotTooOld, "SNAPSHOT_TOO_OLD", StatusCode::kFailedPrecondition},
    ReasonEntry{ErrorReason::kWriteConflict, "WRITE_CONFLICT", StatusCode::kAborted},
    ReasonEntry{ErrorReason::kNoSuchLock, "NO_SUCH_LOCK", StatusCode::kNotFound},
    ReasonEntry{ErrorReason::kTxnOpen, "TXN_OPEN", StatusCode::kFailedPrecondition},
    ReasonEntry{
        ErrorReason::kTooManyOpenTxns, "TOO_MANY_OPEN_TXNS", StatusCode::kResourceExhausted},
    ReasonEntry{ErrorReason::kNoSuchTable, "NO_SUCH_TABLE", StatusCode::kNotFound},
    ReasonEntry{ErrorReason::kNoSuchCompaction, "NO_SUCH_COMPACTION", StatusCode::kNotFound},
    ReasonEntry{ErrorReason::kTableNotTransactional,
                "TABLE_NOT_TRANSACTIONAL",
                StatusCode::kFailedPrecondition},
    ReasonEntry{ErrorReason::kInvalidRequest, "INVALID_REQUEST", StatusCode::kInvalidArgument},
    ReasonEntry{
        ErrorReason::kRequestIdExpired, "REQUEST_ID_EXPIRED", StatusCode::kFailedPrecondition},
    ReasonEntry{
        ErrorReason::kRequestIdReused, "REQUEST_ID_REUSED", StatusCode::kFailedPrecondition},
    ReasonEntry{ErrorReason::kWatchTooOld, "WATCH_TOO_OLD", StatusCode::kOutOfRange},
    ReasonEntry{ErrorReason::kStoreBusy, "STORE_BUSY", StatusCode::kUnavailable},
    ReasonEntry{ErrorReason::kShuttingDown, "SHUTTING_DOWN", StatusCode::kUnavailable},
    ReasonEntry{ErrorReason::kMalformedDirectory, "MALFORMED_DIRECTORY", StatusCode::kDataLoss},
    ReasonEntry{ErrorReason::kCorruptStore, "CORRUPT_STORE", StatusCode::kDataLoss},
    ReasonEntry{ErrorReason::kOverloaded, "OVERLOADED", StatusCode::kResourceExhausted},
    ReasonEntry{ErrorReason::kStoreFull, "STORE_FULL", StatusCode::kResourceExhausted},
    ReasonEntry{ErrorReason::kOutcomeUnknown, "OUTCOME_UNKNOWN", StatusCode::kUnknown},
    ReasonEntry{ErrorReason::kAlreadyExists, "ALREADY_EXISTS", StatusCode::kAlreadyExists},
    ReasonEntry{
        ErrorReason::kLocationNotAllowed, "LOCATION_NOT_ALLOWED", StatusCode::kInvalidArgument},
    ReasonEntry{ErrorReason::kNotSupported, "NOT_SUPPORTED", StatusCode::kUnimplemented},
    ReasonEntry{ErrorReason::kLegacyLayout, "LEGACY_LAYOUT", StatusCode::kFailedPrecondition},
    ReasonEntry{ErrorReason::kCorruptFile, "CORRUPT_FILE", StatusCode::kDataLoss},
    ReasonEntry{ErrorReason::kValueOutOfRange, "VALUE_OUT_OF_RANGE", StatusCode::kOutOfRange},
    ReasonEntry{
        ErrorReason::kStorageUnwritable, "STORAGE_UNWRITABLE", StatusCode::kFailedPrecondition},
    ReasonEntry{
        ErrorReason::kStorageUnreadable, "STORAGE_UNREADABLE", StatusCode::kFailedPrecondition},
    ReasonEntry{ErrorReason::kNoSuchSession, "NO_SUCH_SESSION", StatusCode::kNotFound},
    ReasonEntry{ErrorReason::kSessionFenced, "SESSION_FENCED", StatusCode::kFailedPrecondition},
    ReasonEntry{ErrorReason::kInternal, "INTERNAL", StatusCode::kInternal},
};

constexpr bool InEnumOrder() {
  for (size_t i = 0; i < kReasons.size(); ++i) {
    if (kReasons[i].reason != static_cast<ErrorReason>(i)) return false;
  }
  return true;
}
static_assert(InEnumOrder());

const ReasonEntry& EntryOf(ErrorReason reason) { return kReasons[static_cast<size_t>(reason)]; }

// The payload: NUL-separated reason, key, value, key, value, … with NULs inside values left out.
constexpr char kPayloadUrl[] = "skep.v1/error";

std::string WithoutNul(std::string_view text) {
  std::string clean(text);
  std::erase(clean, '\0');
  return clean;
}

std::vector<std::string> PayloadParts(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayloadUrl);
  std::vector<std::string> parts;
  if (!payload.has_value()) return parts;
  const std::string flat(*payload);
  for (const std::string_view part : SplitText(flat, '\0')) parts.emplace_back(part);
  return parts;
}

absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

absl::Status MakeError(ErrorReason reason, std::string_view message, ErrorMetadata metadata) {
  absl::Status status(CodeOf(reason), ToAbsl(message));
  std::string payload(ReasonName(reason));
  for (const auto& [key, value] : metadata) {
    payload += '\0' + WithoutNul(key) + '\0' + WithoutNul(value);
  }
  status.SetPayload(kPayloadUrl, absl::Cord(payload));
  return status;
}

ErrorReason ReasonOf(const absl::Status& status) {
  const std::vector<std::string> parts = PayloadParts(status);
  if (parts.empty()) return ErrorReason::kUnspecified;
  return ParseReasonName(parts[0]).value_or(ErrorReason::kUnspecified);
}

ErrorMetadata MetadataOf(const absl::Status& status) {
  const std::vector<std::string> parts = PayloadParts(status);
  ErrorMetadata metadata;
  for (size_t i = 1; i + 1 < parts.size(); i += 2) metadata[parts[i]] = parts[i + 1];
  return metadata;
}

absl::Status Annotate(const absl::Status& status, std::string_view context) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(), ToAbsl(std::string(context) + ": " + MessageOf(status)));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    annotated.SetPayload(url, payload);
  });
  return annotated;
}

absl::StatusCode CodeOf(ErrorReason reason) { return EntryOf(reason).code; }

std::string_view ReasonName(ErrorReason reason) { return EntryOf(reason).name; }

std::optional<ErrorReason> ParseReasonName(std::string_view name) {
  for (const ReasonEntry& entry : kReasons) {
    if (entry.name == name) return entry.reason;
  }
  return std::nullopt;
}

}  // namespace skep

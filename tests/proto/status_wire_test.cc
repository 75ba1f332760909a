#include "proto/wire/status_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

#include "proto/google/rpc/error_details.pb.h"
#include "proto/google/rpc/status.pb.h"

namespace skep::wire {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::testing::HasSubstr;
using Code = grpc::StatusCode;

struct Row {
  ErrorReason reason;
  const char* name;
  Code code;
  bool retry_info;
};

// The table of errors as the wire shows it.
constexpr Row kTable[] = {
    {ErrorReason::kNoSuchTxn, "NO_SUCH_TXN", Code::NOT_FOUND, false},
    {ErrorReason::kTxnAlreadyCommitted, "TXN_ALREADY_COMMITTED", Code::FAILED_PRECONDITION, false},
    {ErrorReason::kTxnAborted, "TXN_ABORTED", Code::ABORTED, false},
    {ErrorReason::kNotEnoughHistory, "NOT_ENOUGH_HISTORY", Code::FAILED_PRECONDITION, false},
    {ErrorReason::kOperationNotAllowed, "OPERATION_NOT_ALLOWED", Code::FAILED_PRECONDITION, false},
    {ErrorReason::kSnapshotTooOld, "SNAPSHOT_TOO_OLD", Code::FAILED_PRECONDITION, false},
    {ErrorReason::kWriteConflict, "WRITE_CONFLICT", Code::ABORTED, false},
    {ErrorReason::kNoSuchLock, "NO_SUCH_LOCK", Code::NOT_FOUND, false},
    {ErrorReason::kTxnOpen, "TXN_OPEN", Code::FAILED_PRECONDITION, false},
    {ErrorReason::kTooManyOpenTxns, "TOO_MANY_OPEN_TXNS", Code::RESOURCE_EXHAUSTED, true},
    {ErrorReason::kNoSuchTable, "NO_SUCH_TABLE", Code::NOT_FOUND, false},
    {ErrorReason::kNoSuchCompaction, "NO_SUCH_COMPACTION", Code::NOT_FOUND, false},
    {ErrorReason::kTableNotTransactional,
     "TABLE_NOT_TRANSACTIONAL",
     Code::FAILED_PRECONDITION,
     false},
    {ErrorReason::kInvalidRequest, "INVALID_REQUEST", Code::INVALID_ARGUMENT, false},
    {ErrorReason::kRequestIdExpired, "REQUEST_ID_EXPIRED", Code::FAILED_PRECONDITION, false},
    {ErrorReason::kRequestIdReused, "REQUEST_ID_REUSED", Code::FAILED_PRECONDITION, false},
    {ErrorReason::kWatchTooOld, "WATCH_TOO_OLD", Code::OUT_OF_RANGE, false},
    {ErrorReason::kStoreBusy, "STORE_BUSY", Code::UNAVAILABLE, true},
    {ErrorReason::kShuttingDown, "SHUTTING_DOWN", Code::UNAVAILABLE, true},
    {ErrorReason::kMalformedDirectory, "MALFORMED_DIRECTORY", Code::DATA_LOSS, false},
    {ErrorReason::kCorruptStore, "CORRUPT_STORE", Code::DATA_LOSS, false},
    {ErrorReason::kOverloaded, "OVERLOADED", Code::RESOURCE_EXHAUSTED, true},
    {ErrorReason::kStoreFull, "STORE_FULL", Code::RESOURCE_EXHAUSTED, true},
    {ErrorReason::kOutcomeUnknown, "OUTCOME_UNKNOWN", Code::UNKNOWN, false},
    {ErrorReason::kAlreadyExists, "ALREADY_EXISTS", Code::ALREADY_EXISTS, false},
    {ErrorReason::kLocationNotAllowed, "LOCATION_NOT_ALLOWED", Code::INVALID_ARGUMENT, false},
    {ErrorReason::kNotSupported, "NOT_SUPPORTED", Code::UNIMPLEMENTED, false},
    {ErrorReason::kLegacyLayout, "LEGACY_LAYOUT", Code::FAILED_PRECONDITION, false},
    {ErrorReason::kCorruptFile, "CORRUPT_FILE", Code::DATA_LOSS, false},
    {ErrorReason::kValueOutOfRange, "VALUE_OUT_OF_RANGE", Code::OUT_OF_RANGE, false},
    {ErrorReason::kStorageUnwritable, "STORAGE_UNWRITABLE", Code::FAILED_PRECONDITION, false},
    {ErrorReason::kStorageUnreadable, "STORAGE_UNREADABLE", Code::FAILED_PRECONDITION, false},
    {ErrorReason::kNoSuchSession, "NO_SUCH_SESSION", Code::NOT_FOUND, false},
    {ErrorReason::kSessionFenced, "SESSION_FENCED", Code::FAILED_PRECONDITION, false},
    {ErrorReason::kInternal, "INTERNAL", Code::INTERNAL, false},
};

google::rpc::Status DetailsOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  return details;
}

TEST(StatusWire, EachReasonHasItsCodeItsNameAndComesBack) {
  for (const Row& row : kTable) {
    SCOPED_TRACE(row.name);
    const absl::Status error = MakeError(row.reason, "transaction 17 is gone", {{"txnId", "17"}});
    const grpc::Status wire = ToGrpc(error);
    EXPECT_EQ(wire.error_code(), row.code);
    EXPECT_EQ(wire.error_message(), "transaction 17 is gone");
    google::rpc::ErrorInfo info;
    ASSERT_TRUE(DetailsOf(wire).details(0).UnpackTo(&info));
    EXPECT_EQ(info.reason(), row.name);
    EXPECT_EQ(info.domain(), "skep.v1");
    EXPECT_EQ(RetryDelay(wire).has_value(), row.retry_info);

    const absl::Status back = FromGrpc(wire);
    EXPECT_THAT(back, HasReason(row.reason));
    EXPECT_EQ(MessageOf(back), "transaction 17 is gone");
    EXPECT_EQ(MetadataOf(back).at("txnId"), "17");
  }
}

TEST(StatusWire, AMalformedFieldTravelsAsABadRequest) {
  const grpc::Status wire = ToGrpc(MakeError(
      ErrorReason::kInvalidRequest, "columns[2].type: no `foo`", {{"field", "columns[2].type"}}));
  google::rpc::BadRequest bad;
  ASSERT_TRUE(DetailsOf(wire).details(1).UnpackTo(&bad));
  ASSERT_EQ(bad.field_violations_size(), 1);
  EXPECT_EQ(bad.field_violations(0).field(), "columns[2].type");
  EXPECT_THAT(bad.field_violations(0).description(), HasSubstr("`foo`"));
}

TEST(StatusWire, AnErrorWithoutAReasonLeavesAsInternal) {
  const grpc::Status wire = ToGrpc(absl::NotFoundError("/w/t is not there"));
  EXPECT_EQ(wire.error_code(), Code::INTERNAL);
  EXPECT_THAT(FromGrpc(wire), HasReason(ErrorReason::kInternal));
}

TEST(StatusWire, DeadlineAndCancellationStayWhatTheyAre) {
  EXPECT_EQ(ToGrpc(absl::DeadlineExceededError("late")).error_code(), Code::DEADLINE_EXCEEDED);
  EXPECT_EQ(ToGrpc(absl::CancelledError("gone")).error_code(), Code::CANCELLED);
}

TEST(StatusWire, OkStaysOk) {
  EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok());
  EXPECT_THAT(FromGrpc(grpc::Status::OK), IsOk());
}

TEST(StatusWire, GrpcsOwnRefusalKeepsCodeAndMessage) {
  const absl::Status status = FromGrpc({Code::UNAVAILABLE, "connection refused"});
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(MessageOf(status), "connection refused");
  EXPECT_THAT(status, HasReason(ErrorReason::kUnspecified));
}

TEST(StatusWire, ANewerServersReasonIsShownButNotInvented) {
  google::rpc::ErrorInfo info;
  info.set_reason("QUOTA_OF_TOMORROW");
  info.set_domain("skep.v1");
  google::rpc::Status details;
  details.add_details()->PackFrom(info);
  const absl::Status status =
      FromGrpc({Code::RESOURCE_EXHAUSTED, "no quota", details.SerializeAsString()});
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(status, HasReason(ErrorReason::kUnspecified));
  EXPECT_THAT(MessageOf(status), HasSubstr("QUOTA_OF_TOMORROW"));
}

TEST(StatusWire, DamagedDetailsDoNotHideTheError) {
  const grpc::Status damaged(Code::ABORTED, "lost", "\xff\xff\xff");
  EXPECT_TRUE(absl::IsAborted(FromGrpc(damaged)));
  EXPECT_FALSE(RetryDelay(damaged).has_value());
}

TEST(StatusWire, LongTextsAreCutBelowWhatMetadataMayHold) {
  ErrorMetadata metadata;
  for (int i = 0; i < 50; ++i) metadata["key" + std::to_string(i)] = std::string(1000, 'x');
  std::string message;
  while (message.size() < 20'000) message += "ü";  // the cut must not fall within a character
  const grpc::Status wire = ToGrpc(MakeError(ErrorReason::kInvalidRequest, message, metadata));
  EXPECT_TRUE(IsValidUtf8(wire.error_message()));
  // Plain trailer (percent-escaped: three bytes each) and base64 details together.
  EXPECT_LT(wire.error_message().size() * 3 + wire.error_details().size() * 4 / 3, 8192u);
  EXPECT_THAT(FromGrpc(wire), HasReason(ErrorReason::kInvalidRequest));
}

}  // namespace
}  // namespace skep::wire

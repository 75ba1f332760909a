#include "server/loop/session_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

namespace skep::loop {
namespace {

constexpr ErrorReason kOk = ErrorReason::kUnspecified;
const std::string kId = "0123456789abcdef";

TEST(DecideHello, FollowsTheTable) {
  struct Case {
    const char* name;
    std::optional<KnownSession> known;
    SessionClaim claim;
    ErrorReason refused;
  };
  const Case cases[] = {
      {"a new one", std::nullopt, {kId, 1, false}, kOk},
      {"a new one of any epoch", std::nullopt, {kId, 7, false}, kOk},
      // never begun anew under old numbers.
      {"going on with one that is not known",
       std::nullopt,
       {kId, 2, true},
       ErrorReason::kNoSuchSession},
      {"the next stream", KnownSession{1, false}, {kId, 2, true}, kOk},
      {"a much later stream", KnownSession{1, false}, {kId, 90, true}, kOk},
      {"the same epoch again", KnownSession{2, false}, {kId, 2, true}, ErrorReason::kSessionFenced},
      {"an older stream", KnownSession{2, false}, {kId, 1, true}, ErrorReason::kSessionFenced},
      {"an older stream that begins",
       KnownSession{2, false},
       {kId, 1, false},
       ErrorReason::kSessionFenced},
      {"an id that is taken",
       KnownSession{1, false},
       {kId, 2, false},
       ErrorReason::kInvalidRequest},
      {"after a fence", KnownSession{3, true}, {kId, 4, true}, ErrorReason::kSessionFenced},
      {"late, after a fence of an unknown one",
       KnownSession{3, true},
       {kId, 1, false},
       ErrorReason::kSessionFenced},
      {"a short id", std::nullopt, {"short", 1, false}, ErrorReason::kInvalidRequest},
      {"an empty id", std::nullopt, {"", 1, false}, ErrorReason::kInvalidRequest},
      {"an id of zeros",
       std::nullopt,
       {std::string(16, '\0'), 1, false},
       ErrorReason::kInvalidRequest},
      {"no epoch", std::nullopt, {kId, 0, false}, ErrorReason::kInvalidRequest},
      {"a negative epoch", std::nullopt, {kId, -1, false}, ErrorReason::kInvalidRequest},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const absl::Status status = DecideHello(c.known, c.claim);
    EXPECT_EQ(ReasonOf(status), c.refused) << status;
    EXPECT_EQ(status.ok(), c.refused == kOk);
  }
}

TEST(DecideFence, FollowsTheTable) {
  struct Case {
    const char* name;
    std::optional<KnownSession> known;
    std::string id;
    int64_t epoch;
    ErrorReason refused;
  };
  const Case cases[] = {
      {"of a session that is not known yet", std::nullopt, kId, 2, kOk},
      {"of a live one", KnownSession{1, false}, kId, 2, kOk},
      {"the same again", KnownSession{2, true}, kId, 2, kOk},
      {"a later one", KnownSession{2, true}, kId, 3, kOk},
      {"behind a stream", KnownSession{2, false}, kId, 2, ErrorReason::kSessionFenced},
      {"behind a newer stream", KnownSession{5, false}, kId, 2, ErrorReason::kSessionFenced},
      {"behind a fence", KnownSession{3, true}, kId, 2, ErrorReason::kSessionFenced},
      {"a short id", std::nullopt, "x", 2, ErrorReason::kInvalidRequest},
      {"no epoch", std::nullopt, kId, 0, ErrorReason::kInvalidRequest},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ReasonOf(DecideFence(c.known, c.id, c.epoch)), c.refused);
  }
}

TEST(OperationRequestId, IsOnePerSessionAndNumber) {
  EXPECT_EQ(OperationRequestId(kId, 0), kId);
  std::string expected = kId;
  expected[15] = static_cast<char>(expected[15] ^ 0x02);
  expected[14] = static_cast<char>(expected[14] ^ 0x01);
  EXPECT_EQ(OperationRequestId(kId, 0x0102), expected);
  EXPECT_NE(OperationRequestId(kId, 1), OperationRequestId("1123456789abcdef", 1));
}

}  // namespace
}  // namespace skep::loop

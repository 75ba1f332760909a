#include "storage/model/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/status_matchers.h"

namespace skep {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(MakeError, CarriesReasonCodeAndMetadata) {
  const absl::Status status =
      MakeError(ErrorReason::kWriteConflict, "lost", {{"txnId", "17"}, {"table", "sales.orders"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(ReasonOf(status), ErrorReason::kWriteConflict);
  EXPECT_THAT(MetadataOf(status), ElementsAre(Pair("table", "sales.orders"), Pair("txnId", "17")));
}

TEST(Annotate, KeepsReasonAndMetadata) {
  const absl::Status inner = MakeError(ErrorReason::kCorruptFile, "ends early", {{"path", "/w/x"}});
  const absl::Status outer = Annotate(inner, "reading the footer");
  EXPECT_EQ(outer.message(), "reading the footer: ends early");
  EXPECT_EQ(ReasonOf(outer), ErrorReason::kCorruptFile);
  EXPECT_EQ(MetadataOf(outer), MetadataOf(inner));
  EXPECT_THAT(Annotate(absl::OkStatus(), "x"), testing::IsOk());
}

TEST(ReasonName, RoundTripsForEveryReason) {
  for (int i = 0; i <= static_cast<int>(ErrorReason::kInternal); ++i) {
    const auto reason = static_cast<ErrorReason>(i);
    EXPECT_EQ(ParseReasonName(ReasonName(reason)), reason);
  }
  EXPECT_EQ(ParseReasonName("NO_SUCH_REASON"), std::nullopt);
}

TEST(ReasonOf, IsUnspecifiedForForeignErrors) {
  EXPECT_EQ(ReasonOf(absl::NotFoundError("x")), ErrorReason::kUnspecified);
  EXPECT_EQ(ReasonOf(absl::OkStatus()), ErrorReason::kUnspecified);
}

}  // namespace
}  // namespace skep

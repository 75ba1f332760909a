#include "server/loop/admission.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

namespace skep::loop {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;

TEST(Admission, WhoAsksWhoIsInTheWayGetsThroughWhereOrdinaryCallsDoNot) {
  Admission admission({.in_flight = 8, .per_client = 100});
  for (int i = 0; i < 6; ++i) EXPECT_THAT(admission.Enter(CallClass::kOrdinary, "a"), IsOk());
  EXPECT_THAT(admission.Enter(CallClass::kOrdinary, "b"), HasReason(ErrorReason::kOverloaded));
  for (int i = 0; i < 2; ++i) EXPECT_THAT(admission.Enter(CallClass::kOperator, "b"), IsOk());
  EXPECT_THAT(admission.Enter(CallClass::kOperator, "b"), HasReason(ErrorReason::kOverloaded));
  EXPECT_THAT(admission.Enter(CallClass::kReserved, "b"), IsOk());
}

TEST(Admission, LetsOrdinaryCallsTakeThreeQuarters) {
  Admission admission({.in_flight = 8, .per_client = 100});
  std::vector<int64_t*> slots;
  for (int i = 0; i < 6; ++i) {
    const auto slot = admission.Enter(CallClass::kOrdinary, "a");
    ASSERT_THAT(slot, IsOk());
    slots.push_back(*slot);
  }
  const auto refused = admission.Enter(CallClass::kOrdinary, "b");
  ASSERT_THAT(refused, HasReason(ErrorReason::kOverloaded));
  EXPECT_EQ(MetadataOf(refused.status()).at("limit"), "6");
  EXPECT_THAT(MessageOf(refused.status()),
              ::testing::HasSubstr("the other 2 of server.max_in_flight = 8 are kept for commits"));
  admission.Leave(slots.back());
  EXPECT_THAT(admission.Enter(CallClass::kOrdinary, "b"), IsOk());
}

TEST(Admission, AlwaysLetsReservedCallsThrough) {
  Admission admission({.in_flight = 4, .per_client = 1});
  for (int i = 0; i < 50; ++i) EXPECT_THAT(admission.Enter(CallClass::kReserved, "a"), IsOk());
  EXPECT_EQ(admission.in_flight(), 50);
  EXPECT_THAT(admission.Enter(CallClass::kOrdinary, "b"), HasReason(ErrorReason::kOverloaded));
}

TEST(Admission, GivesEachClientItsShare) {
  Admission admission({.in_flight = 100, .per_client = 2});
  const auto first = admission.Enter(CallClass::kOrdinary, "greedy");
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(admission.Enter(CallClass::kOrdinary, "greedy"), IsOk());
  EXPECT_THAT(admission.Enter(CallClass::kOrdinary, "greedy"), HasReason(ErrorReason::kOverloaded));
  EXPECT_THAT(admission.Enter(CallClass::kOrdinary, "modest"), IsOk());
  admission.Leave(*first);
  EXPECT_THAT(admission.Enter(CallClass::kOrdinary, "greedy"), IsOk());
}

TEST(Admission, RefusesOrdinaryCallsWhileDraining) {
  Admission admission({.in_flight = 100, .per_client = 100});
  admission.Drain();
  EXPECT_THAT(admission.Enter(CallClass::kOrdinary, "a"), HasReason(ErrorReason::kShuttingDown));
  EXPECT_THAT(admission.Enter(CallClass::kReserved, "a"), IsOk());
}

TEST(Admission, ForgetsClientsThatAreGone) {
  Admission admission({.in_flight = 100, .per_client = 2});
  const auto kept = admission.Enter(CallClass::kOrdinary, "kept");
  ASSERT_THAT(kept, IsOk());
  for (int i = 0; i < 10'000; ++i) {
    const auto slot = admission.Enter(CallClass::kOrdinary, "client " + std::to_string(i));
    ASSERT_THAT(slot, IsOk());
    admission.Leave(*slot);
  }
  admission.Leave(*kept);  // its slot stayed where it was
  EXPECT_EQ(admission.in_flight(), 0);
}

}  // namespace
}  // namespace skep::loop

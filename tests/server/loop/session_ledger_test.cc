#include "server/loop/session_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

namespace skep::loop {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using Taken = SessionLedger::Taken;

constexpr int64_t kAll = 1 << 20;

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() : ledger_({.operations = 3, .bytes = 100, .slack = 2, .notices = 2}) {}

  // Takes and answers the next operation.
  void Do(const std::string& answer) {
    const int64_t number = ledger_.next_number();
    ASSERT_THAT(ledger_.Take(number, 1, false), IsOkAndHolds(Taken::kRun));
    ledger_.Answer(number, answer);
  }

  SessionLedger ledger_;
};

TEST_F(LedgerTest, NumbersHaveNoGap) {
  EXPECT_THAT(ledger_.Take(2, 1, true), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(ledger_.Take(0, 1, true), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(ledger_.Take(-1, 1, true), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(ledger_.Take(1, 1, true), IsOkAndHolds(Taken::kRun));
  EXPECT_THAT(ledger_.Take(3, 1, true), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(ledger_.Take(2, 1, true), IsOkAndHolds(Taken::kRun));
  EXPECT_EQ(ledger_.next_number(), 3);
}

TEST_F(LedgerTest, ARepeatIsRecognisedAtEveryStage) {
  ASSERT_THAT(ledger_.Take(1, 1, true), IsOkAndHolds(Taken::kRun));
  EXPECT_THAT(ledger_.Take(1, 1, true), IsOkAndHolds(Taken::kRepeat)) << "running";
  ledger_.Answer(1, "a");
  EXPECT_THAT(ledger_.Take(1, 1, true), IsOkAndHolds(Taken::kRepeat)) << "answered";
  ASSERT_THAT(ledger_.Acknowledge(2, {}), IsOk());
  EXPECT_THAT(ledger_.Take(1, 1, true), IsOkAndHolds(Taken::kRepeat)) << "seen";
}

TEST_F(LedgerTest, AnswersLeaveOnceInTheOrderOfAnswering) {
  for (int64_t i = 1; i <= 3; ++i) ASSERT_THAT(ledger_.Take(i, 1, true), IsOk());
  ledger_.Answer(3, "three");
  ledger_.Answer(1, "one");
  EXPECT_EQ(ledger_.unsent_bytes(), 8);
  EXPECT_THAT(ledger_.TakeOutput(kAll).answers, ElementsAre("three", "one"));
  EXPECT_EQ(ledger_.unsent_bytes(), 0);
  EXPECT_THAT(ledger_.TakeOutput(kAll).answers, IsEmpty());
  ledger_.Answer(2, "two");
  EXPECT_THAT(ledger_.TakeOutput(kAll).answers, ElementsAre("two"));
}

// answers 1, 2 and 5 seen, 3 and 4 lost.
TEST_F(LedgerTest, ANewStreamBringsWhatWasNotSeenAndNothingElse) {
  for (const char* answer : {"1", "2", "3", "4", "5"}) Do(answer);
  ASSERT_THAT(ledger_.Take(6, 1, false), IsOk());
  ledger_.TakeOutput(kAll);
  ASSERT_THAT(ledger_.Acknowledge(3, {5}), IsOk());
  ledger_.SendAgain();
  EXPECT_EQ(ledger_.unsent_bytes(), 2);
  EXPECT_THAT(ledger_.TakeOutput(kAll).answers, ElementsAre("3", "4"));
  ledger_.Answer(6, "6");
  EXPECT_THAT(ledger_.TakeOutput(kAll).answers, ElementsAre("6"));
  ASSERT_THAT(ledger_.Acknowledge(7, {}), IsOk());
  EXPECT_EQ(ledger_.unacknowledged(), 0);
}

TEST_F(LedgerTest, NobodyHasSeenWhatWasNotAnswered) {
  Do("1");
  ASSERT_THAT(ledger_.Take(2, 1, true), IsOk());
  EXPECT_THAT(ledger_.Acknowledge(3, {}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(ledger_.Acknowledge(4, {}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(ledger_.Acknowledge(-1, {}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(ledger_.Acknowledge(2, {2}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(ledger_.Acknowledge(2, {3}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(ledger_.Acknowledge(2, {0}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_EQ(ledger_.unacknowledged(), 2) << "a bad acknowledgement takes nothing away";
  EXPECT_THAT(ledger_.Acknowledge(2, {1, 1}), IsOk());
  EXPECT_THAT(ledger_.Acknowledge(1, {}), IsOk()) << "an old one is no news";
}

TEST_F(LedgerTest, CreditComesBackWithTheAcknowledgement) {
  for (int64_t i = 1; i <= 3; ++i) {
    ASSERT_THAT(ledger_.Take(i, 1, true), IsOkAndHolds(Taken::kRun));
  }
  ASSERT_THAT(ledger_.Take(4, 1, true), IsOkAndHolds(Taken::kNoCredit));
  ledger_.Answer(4, "no");
  EXPECT_THAT(ledger_.Take(5, 1, false), IsOkAndHolds(Taken::kRun)) << "a commit needs none";
  ledger_.Answer(1, "1");
  EXPECT_THAT(ledger_.Take(6, 1, true), IsOkAndHolds(Taken::kNoCredit)) << "not acknowledged yet";
  EXPECT_THAT(ledger_.Take(7, 1, true), HasReason(ErrorReason::kOverloaded)) << "twice the limit";
  ASSERT_THAT(ledger_.Acknowledge(2, {}), IsOk());
  EXPECT_THAT(ledger_.Take(7, 1, true), IsOkAndHolds(Taken::kRun));
}

TEST_F(LedgerTest, CreditOfBytesLetsOneThroughWhateverItsSize) {
  ASSERT_THAT(ledger_.Take(1, 1'000, true), IsOkAndHolds(Taken::kRun));
  EXPECT_THAT(ledger_.Take(2, 1, true), IsOkAndHolds(Taken::kNoCredit));
  ledger_.Answer(1, "1");
  ASSERT_THAT(ledger_.Acknowledge(2, {}), IsOk());
  EXPECT_THAT(ledger_.Take(3, 60, true), IsOkAndHolds(Taken::kRun));
  EXPECT_THAT(ledger_.Take(4, 60, true), IsOkAndHolds(Taken::kNoCredit));
  EXPECT_THAT(ledger_.Take(5, 40, true), IsOkAndHolds(Taken::kRun));
}

TEST_F(LedgerTest, NoticesAreKeptUntilTheyAreSeen) {
  EXPECT_EQ(ledger_.next_notice(), 1);
  ASSERT_THAT(ledger_.AddNotice("a"), IsOk());
  EXPECT_EQ(ledger_.next_notice(), 2);
  EXPECT_THAT(ledger_.AcknowledgeNotices(2), HasReason(ErrorReason::kInvalidRequest))
      << "it was not sent";
  EXPECT_THAT(ledger_.TakeOutput(kAll).notices, ElementsAre("a"));
  ASSERT_THAT(ledger_.AddNotice("b"), IsOk());
  EXPECT_THAT(ledger_.AddNotice("c"), HasReason(ErrorReason::kOverloaded));
  ledger_.SendAgain();
  EXPECT_THAT(ledger_.TakeOutput(kAll).notices, ElementsAre("a", "b"));
  ASSERT_THAT(ledger_.AcknowledgeNotices(3), IsOk());
  ledger_.SendAgain();
  EXPECT_FALSE(ledger_.HasOutput());
  EXPECT_EQ(ledger_.unsent_bytes(), 0);
  EXPECT_EQ(ledger_.next_notice(), 3);
  EXPECT_THAT(ledger_.AcknowledgeNotices(0), IsOk());
  EXPECT_THAT(ledger_.AcknowledgeNotices(-1), HasReason(ErrorReason::kInvalidRequest));
}

TEST_F(LedgerTest, OutputIsCutByBytesButNeverEmpty) {
  Do("12345");
  Do("67890");
  ASSERT_THAT(ledger_.AddNotice("notice"), IsOk());
  EXPECT_THAT(ledger_.TakeOutput(3).answers, ElementsAre("12345"));
  const SessionLedger::Output second = ledger_.TakeOutput(3);
  EXPECT_THAT(second.answers, ElementsAre("67890"));
  EXPECT_THAT(second.notices, IsEmpty());
  EXPECT_THAT(ledger_.TakeOutput(3).notices, ElementsAre("notice"));
  EXPECT_FALSE(ledger_.HasOutput());
}

TEST_F(LedgerTest, AFailureIsForgottenWhenItsAnswerWasSeen) {
  ASSERT_THAT(ledger_.Take(1, 1, true), IsOk());
  ledger_.NoteFailure(1, "AddPartitions", {TxnId(7), TxnId(8)});
  ledger_.Answer(1, "no");
  EXPECT_THAT(ledger_.FailureOf(TxnId(8)), ::testing::HasSubstr("operation 1 (AddPartitions)"));
  EXPECT_THAT(ledger_.FailureOf(TxnId(9)), IsEmpty());
  ASSERT_THAT(ledger_.Acknowledge(2, {}), IsOk());
  EXPECT_THAT(ledger_.FailureOf(TxnId(8)), IsEmpty());
}

}  // namespace
}  // namespace skep::loop

#include "storage/model/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

namespace skep {
namespace {

using testing::HasReason;

WriteIdSnapshot List(std::string_view text) { return ParseWriteIdList(text).value(); }

// The example of section 9 of the layout rules: default.t:10:4:4,7:6 (V-1…V-5, VAL-1…VAL-3, VAL-5, VAL-6).
TEST(WriteIdSnapshot, AnswersTheWorkedExample) {
  const WriteIdSnapshot list = List("default.t:10:4:4,7:6");
  for (const int64_t valid : {0, 1, 2, 3, 5, 8, 9, 10})
    EXPECT_TRUE(list.IsValid(WriteId(valid))) << valid;
  for (const int64_t invalid : {4, 6, 7, 11})
    EXPECT_FALSE(list.IsValid(WriteId(invalid))) << invalid;
  struct RangeCase {
    int64_t first, last;
    RangeAnswer validity, aborted;
  };
  const RangeCase cases[] = {
      {1, 3, RangeAnswer::kAll, RangeAnswer::kNone},
      {4, 4, RangeAnswer::kNone, RangeAnswer::kNone},
      {2, 5, RangeAnswer::kSome, RangeAnswer::kNone},
      {9, 12, RangeAnswer::kSome, RangeAnswer::kNone},
      {11, 12, RangeAnswer::kNone, RangeAnswer::kNone},
      {6, 6, RangeAnswer::kNone, RangeAnswer::kAll},
      {5, 6, RangeAnswer::kSome, RangeAnswer::kSome},
  };
  for (const RangeCase& c : cases) {
    SCOPED_TRACE(std::to_string(c.first) + "-" + std::to_string(c.last));
    EXPECT_EQ(list.RangeValidity(WriteId(c.first), WriteId(c.last)), c.validity);
    EXPECT_EQ(list.RangeAborted(WriteId(c.first), WriteId(c.last)), c.aborted);
  }
  EXPECT_TRUE(list.IsValidBase(WriteId(3)));
  EXPECT_FALSE(list.IsValidBase(WriteId(4)));
  EXPECT_FALSE(list.IsValidBase(WriteId(5)));
}

// VAL-4: with nothing excluded, a range that passes the high mark is SOME, not ALL.
TEST(WriteIdSnapshot, RangePastTheHighMarkIsSome) {
  EXPECT_EQ(List("d.t:4::"
                 ":")
                .RangeValidity(WriteId(3), WriteId(6)),
            RangeAnswer::kSome);
}

// V-6, R-28: a transaction sees its own write ids, wherever the list puts them.
TEST(WriteIdSnapshot, OwnIdsAreValidAndAFieldOfTheirOwn) {
  WriteIdSnapshot list = List("d.t:5:::");
  list.own = {8};
  EXPECT_TRUE(list.IsValid(WriteId(8)));
  EXPECT_FALSE(list.IsValid(WriteId(7)));
  EXPECT_EQ(list.RangeValidity(WriteId(8), WriteId(8)), RangeAnswer::kAll);
  EXPECT_EQ(list.RangeValidity(WriteId(7), WriteId(8)), RangeAnswer::kSome);
  EXPECT_EQ(list.RangeValidity(WriteId(6), WriteId(7)), RangeAnswer::kNone);
  EXPECT_EQ(FormatWriteIdList(list), "d.t:8:6:6,7:");
}

// V-8, VAL-7.
TEST(WriteIdSnapshot, CompactorStopsBelowTheLowestOpenId) {  // STR-7
  const WriteIdSnapshot view = List("d.t:10:5:5:2,8").ForCompactor();
  EXPECT_EQ(view.ids.high, 4);
  EXPECT_EQ(view.ids.aborted, std::vector<int64_t>{2});
  EXPECT_EQ(view.RangeValidity(WriteId(1), WriteId(4)), RangeAnswer::kAll);
  EXPECT_EQ(view.RangeValidity(WriteId(4), WriteId(5)), RangeAnswer::kNone);
  EXPECT_TRUE(view.IsAborted(WriteId(2)));
  EXPECT_EQ(List("d.t:10:::2").ForCompactor().ids.high, 10);
}

// V-9, VAL-8.
TEST(WriteIdSnapshot, CleanerTakesNothingPastTheHighMark) {
  WriteIdSnapshot list = List("d.t:10:::");
  list.role = SnapshotRole::kCleaner;
  EXPECT_EQ(list.RangeValidity(WriteId(9), WriteId(12)), RangeAnswer::kNone);
  EXPECT_EQ(list.RangeValidity(WriteId(9), WriteId(10)), RangeAnswer::kAll);
}

// SER-1, SER-2, SER-9.
TEST(TxnList, PrintsLongRunsAndReadsThemBack) {
  TxnSnapshot snapshot;
  snapshot.ids = {.high = 11, .open = {4, 5, 6, 7, 8, 10}, .aborted = {2, 9}};
  EXPECT_EQ(FormatTxnList(snapshot), "11:4:4-8,10:2,9");
  SKEP_ASSERT_OK_AND_ASSIGN(const TxnSnapshot back, ParseTxnList("11:4:4-8,10:2,9"));
  EXPECT_EQ(back.ids, snapshot.ids);
  EXPECT_EQ(FormatTxnList(AllTxnsVisible()), "9223372036854775807:9223372036854775807::");
}

// SER-3.
TEST(TxnList, EmptyTextMeansEverything) {
  SKEP_ASSERT_OK_AND_ASSIGN(const TxnSnapshot all, ParseTxnList(""));
  EXPECT_TRUE(all.IsVisible(TxnId(INT64_MAX)));
}

TEST(WriteIdList, RecomputesTheLowestOpenId) {  // SER-10
  EXPECT_EQ(FormatWriteIdList(List("d.t:10:9223372036854775807:5:3")), "d.t:10:5:5:3");
}

TEST(WriteIdList, RefusesATextThatContradictsItself) {
  for (const char* bad : {"d.t:10:5:5",
                          "d.t:x:::",
                          "d.t:-1:::",
                          "d.t:10::5,4:",
                          "d.t:10::5:5",
                          "d.t:10::11:",
                          "d.t:10:::3,3",
                          "d.t:10::0:",
                          "d.t:10::a:",
                          "d.t:10:y::",
                          "10:::"}) {
    SCOPED_TRACE(bad);
    EXPECT_THAT(ParseWriteIdList(bad), HasReason(ErrorReason::kInvalidRequest));
  }
}

}  // namespace
}  // namespace skep

#include "storage/model/snapshot_order.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skep {
namespace {

WriteIdSnapshot ListOf(ValidIds ids, std::vector<int64_t> own = {}, int64_t table = 3) {
  WriteIdSnapshot list;
  list.table_id = TableId(table);
  list.ids = std::move(ids);
  list.own = std::move(own);
  return list;
}

TEST(ShowTheSame, GoesByWhatAReaderSees) {  // VAL-10, VAL-12
  struct Case {
    const char* name;
    WriteIdSnapshot a, b;
    bool same;
  };
  const Case cases[] = {
      {"equal lists", ListOf({5, {3}, {}}), ListOf({5, {3}, {}}), true},
      {"4, 5 and 6 are hidden up to the mark", ListOf({6, {5}, {4, 6}}), ListOf({3, {}, {}}), true},
      {"6 is seen", ListOf({6, {5}, {4}}), ListOf({3, {}, {}}), false},
      {"3 was open and is aborted", ListOf({5, {3}, {}}), ListOf({5, {}, {3}}), true},
      {"3 was open and is committed", ListOf({5, {3}, {}}), ListOf({5, {}, {}}), false},
      {"everything is hidden", ListOf({2, {1}, {2}}), ListOf({0, {}, {}}), true},
      {"another table", ListOf({5, {}, {}}), ListOf({5, {}, {}}, {}, 4), false},
      {"the own id is seen", ListOf({5, {}, {}}, {7}), ListOf({7, {6}, {}}), true},
      {"also among the open ones", ListOf({7, {6, 7}, {}}, {7}), ListOf({7, {6}, {}}), true},
      {"an own id more", ListOf({5, {}, {}}, {7}), ListOf({5, {}, {}}), false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ShowTheSame(c.a, c.b), c.same);
    EXPECT_EQ(ShowTheSame(c.b, c.a), c.same);
  }
}

std::strong_ordering ByTheFirstDifference(const ValidIds& a, const ValidIds& b) {
  for (int64_t id = 1; id <= std::max(a.high, b.high); ++id) {
    if (a.IsValid(id) != b.IsValid(id)) return a.IsValid(id) <=> b.IsValid(id);
  }
  return std::strong_ordering::equal;
}

TEST(CompareShown, IsDecidedByTheFirstIdThatOneDoesNotShow) {  // VAL-11
  std::mt19937 random(11);
  const auto any = [&] {
    ValidIds ids;
    ids.high = random() % 7;
    for (int64_t id = 1; id <= ids.high; ++id) {
      if (random() % 3 == 0) (random() % 2 == 0 ? ids.open : ids.aborted).push_back(id);
    }
    return ids;
  };
  for (int i = 0; i < 20'000; ++i) {
    const ValidIds a = any();
    const ValidIds b = any();
    ASSERT_EQ(CompareShown(a, b), ByTheFirstDifference(a, b))
        << FormatWriteIdList(ListOf(a)) << " and " << FormatWriteIdList(ListOf(b));
  }
}

}  // namespace
}  // namespace skep

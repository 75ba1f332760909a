#include "proto/wire/snapshot_wire.h"

#include <functional>

#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

namespace skep::wire {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOkAndHolds;

TEST(SnapshotWire, ATransactionListComesBackAsItWas) {
  TxnSnapshot snapshot;
  snapshot.seq = CommitSeq(8);
  snapshot.ids = {20, {4, 17}, {5, 6, 7, 9, 20}};
  snapshot.own = TxnId(18);
  v1::GetSnapshotResponse wire;
  ToProto(snapshot, &wire);
  ASSERT_EQ(wire.txns().aborted_size(), 3);  // 5-7, 9, 20
  EXPECT_EQ(wire.txns().aborted(0).first(), 5);
  EXPECT_EQ(wire.txns().aborted(0).last(), 7);
  EXPECT_THAT(FromProto(wire, TxnId(18)), IsOkAndHolds(snapshot));
}

TEST(SnapshotWire, AWriteIdListComesBackAsItWas) {
  WriteIdSnapshot list;
  list.table = {"sales", "orders"};
  list.table_id = TableId(3);
  list.seq = CommitSeq(8);
  list.ids = {6, {5}, {1, 2, 4}};
  list.own = {7, 9};
  v1::WriteIdList wire;
  ToProto(list, &wire);
  EXPECT_THAT(FromProto(wire), IsOkAndHolds(list));
}

TEST(SnapshotWire, AnEmptyListIsAList) {
  EXPECT_THAT(FromProto(v1::WriteIdList()), IsOkAndHolds(WriteIdSnapshot{}));
}

void AddRange(v1::WriteIdList* list, int64_t first, int64_t last) {
  auto* range = list->add_aborted();
  range->set_first(first);
  range->set_last(last);
}

TEST(SnapshotWire, ListsThatContradictThemselvesAreRefused) {
  using L = v1::WriteIdList;
  struct Case {
    const char* name;
    std::function<void(L*)> damage;
  };
  const Case cases[] = {
      {"negative high mark", [](L* l) { l->set_high_watermark(-1); }},
      {"open ids descend", [](L* l) { l->add_open(5), l->add_open(4); }},
      {"open id twice", [](L* l) { l->add_open(5), l->add_open(5); }},
      {"open id above the high mark", [](L* l) { l->add_open(11); }},
      {"open id zero", [](L* l) { l->add_open(0); }},
      {"aborted range reversed", [](L* l) { AddRange(l, 5, 4); }},
      {"aborted range above the high mark", [](L* l) { AddRange(l, 5, 11); }},
      {"aborted ranges overlap", [](L* l) { AddRange(l, 2, 5), AddRange(l, 5, 6); }},
      {"open and aborted", [](L* l) { l->add_open(5), AddRange(l, 4, 6); }},
      {"own ids descend", [](L* l) { l->add_own(5), l->add_own(4); }},
      {"more ids than memory should hold",
       [](L* l) { l->set_high_watermark(INT64_MAX), AddRange(l, 1, INT64_MAX - 1); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    L list;
    list.set_high_watermark(10);
    c.damage(&list);
    EXPECT_THAT(FromProto(list), HasReason(ErrorReason::kInvalidRequest));
  }
}

}  // namespace
}  // namespace skep::wire

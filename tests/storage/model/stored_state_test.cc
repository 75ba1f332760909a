#include "storage/model/stored_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skep {
namespace {

TEST(ApplyEffects, LastPutOfAKeyWins) {
  StoredState state;
  TxnRow row{.id = TxnId(3), .user = "a"};
  TxnRow newer{.id = TxnId(3), .user = "b"};
  ApplyEffects(state, {Put<TxnRow>{row}, Put<TxnRow>{newer}});
  ASSERT_EQ(state.txns.size(), 1u);
  EXPECT_EQ(state.txns[TxnId(3)].user, "b");
  ApplyEffects(state, {EraseTxn{TxnId(3)}});
  EXPECT_TRUE(state.txns.empty());
}

TEST(ApplyEffects, ErasingATableTakesWhatHangsOnItAndNothingElse) {
  StoredState state;
  for (const int64_t id : {1, 2}) {
    const TableId table(id);
    ApplyEffects(
        state,
        {Put<TableRow>{TableRow{.id = table}},
         Put<PartitionRow>{{.table = table, .name = "p=1"}},
         Put<WriteIdRow>{{.table = table, .write_id = WriteId(4)}},
         Put<ResolvedWriteIdRow>{{.end_seq = CommitSeq(9), .table = table, .write_id = WriteId(3)}},
         Put<AbortedWriteIdsRow>{{.table = table, .first = WriteId(2), .last = WriteId(2)}},
         Put<WriteMarkRow>{{.table = table, .partition = "p=1"}}});
  }
  ApplyEffects(state, {EraseTable{TableId(1)}});
  EXPECT_EQ(state.tables.size(), 1u);
  EXPECT_EQ(state.partitions.size(), 1u);
  EXPECT_EQ(state.write_ids.size(), 1u);
  EXPECT_EQ(state.resolved_write_ids.size(), 1u);
  EXPECT_EQ(state.aborted_write_ids.size(), 1u);
  EXPECT_EQ(state.write_marks.size(), 1u);
}

TEST(ApplyEffects, ForgettingResolvedRowsIncludesTheSequenceItself) {
  StoredState state;
  for (const int64_t seq : {4, 5, 6}) {
    ApplyEffects(state,
                 {Put<ResolvedTxnRow>{{.end_seq = CommitSeq(seq), .id = TxnId(seq)}},
                  Put<ResolvedWriteIdRow>{
                      {.end_seq = CommitSeq(seq), .table = TableId(1), .write_id = WriteId(seq)}}});
  }
  ApplyEffects(state, {ForgetResolved{CommitSeq(5)}});
  EXPECT_EQ(state.resolved_txns.size(), 1u);
  EXPECT_EQ(state.resolved_write_ids.size(), 1u);
}

TEST(ApplyEffects, ErasingComponentsTakesThoseOfOneTransaction) {
  StoredState state;
  for (const int64_t txn : {1, 2}) {
    ApplyEffects(
        state,
        {Put<ComponentRow>{{.txn = TxnId(txn), .table = TableId(1), .op = WriteOp::kInsert}},
         Put<ComponentRow>{{.txn = TxnId(txn), .table = TableId(1), .op = WriteOp::kUpdate}}});
  }
  ApplyEffects(state, {EraseComponents{TxnId(1)}});
  ASSERT_EQ(state.components.size(), 2u);
  EXPECT_EQ(state.components.begin()->second.txn, TxnId(2));
}

}  // namespace
}  // namespace skep

// What readers and writers of files get from a transaction, and what its commit declares for them.
#include "client/session/transaction_core.h"

#include "storage/base/text.h"
#include "tests/client/session/fakes.h"
#include "tests/testing/status_matchers.h"

namespace skep::client {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Wrote = TransactionCore::Wrote;

const TableName kOrders{"sales", "orders"};
const TableName kItems{"sales", "items"};

struct CoreWorld : World {
  explicit CoreWorld(const BeginOptions& options = {}) {
    session = NewSession();
    txn = Begin(*session, options);
    core = txn->core();
  }
  void MakePartitioned() {
    v1::Column* column = table.add_partition_columns();
    column->set_name("p");
    column->set_type("date");
  }
  void MakeBucketed() {
    table.mutable_bucketing()->add_columns("a");
    table.mutable_bucketing()->set_count(4);
  }
  WriteStatement Write(const TableName& name, WriteOp op) {
    absl::StatusOr<WriteStatement> statement = core->BeginWrite(name, op);
    EXPECT_THAT(statement, IsOk());
    return statement.ok() ? *statement : WriteStatement{};
  }
  // "sales.orders: p=1 INSERT, p=2 DELETE" of the commit.
  std::vector<std::string> Committed() {
    EXPECT_THAT(txn->Commit(), IsOk());
    std::vector<std::string> shown;
    const v1::CommitTransactionRequest request =
        server.RequestsOf<v1::CommitTransactionRequest>().at(0);
    for (const v1::TableWrites& table : request.write_set()) {
      std::string line = table.table().database() + "." + table.table().table() + ":";
      for (const v1::PartitionWrite& write : table.writes()) {
        line += " [" + write.partition() + "] " +
                v1::WriteOperation_Name(write.operation()).substr(sizeof("WRITE_OPERATION"));
      }
      shown.push_back(line);
    }
    return shown;
  }

  std::unique_ptr<Session> session;
  std::unique_ptr<Transaction> txn;
  std::shared_ptr<TransactionCore> core;
};

TEST(BeginWrite, LocksAllocatesAndNumbers) {
  CoreWorld world;
  WriteStatement first = world.Write(kOrders, WriteOp::kInsert);
  WriteStatement second = world.Write(kOrders, WriteOp::kInsert);
  WriteStatement third = world.Write(kOrders, WriteOp::kUpdate);
  WriteStatement other = world.Write(kItems, WriteOp::kInsert);
  EXPECT_EQ(first.write_id, WriteId(12));
  EXPECT_EQ(first.statement_id, 0);
  EXPECT_EQ(second.statement_id, 1);
  EXPECT_EQ(third.statement_id, 2);
  EXPECT_EQ(other.statement_id, 0);
  EXPECT_EQ(first.table.location, "/w/t");
  EXPECT_EQ(first.table.schema.columns.at(0).name, "a");

  std::vector<v1::AcquireLocksRequest> locks = world.server.RequestsOf<v1::AcquireLocksRequest>();
  ASSERT_EQ(locks.size(), 3u) << "one per table and kind of write";
  EXPECT_EQ(locks[0].components(0).kind(), v1::LOCK_KIND_SHARED_WRITE);
  EXPECT_EQ(locks[0].components(0).operation(), v1::WRITE_OPERATION_INSERT);
  EXPECT_FALSE(locks[0].components(0).dynamic_partitions());
  EXPECT_EQ(locks[1].components(0).operation(), v1::WRITE_OPERATION_UPDATE);
  EXPECT_EQ(locks[2].components(0).resource().table(), "items");
  EXPECT_EQ(world.server.CallsOf<v1::AllocateWriteIdsRequest>().size(), 2u);
  EXPECT_EQ(world.server.CallsOf<v1::GetTableRequest>().size(), 2u);
}

TEST(BeginWrite, LocksStrongerForAnOverwrite) {
  CoreWorld world;
  world.MakePartitioned();
  world.Write(kOrders, WriteOp::kOverwrite);
  v1::LockComponent sent = world.server.RequestsOf<v1::AcquireLocksRequest>().at(0).components(0);
  EXPECT_EQ(sent.kind(), v1::LOCK_KIND_EXCL_WRITE);
  EXPECT_EQ(sent.operation(), v1::WRITE_OPERATION_OVERWRITE);
  EXPECT_TRUE(sent.dynamic_partitions());
}

TEST(BeginWrite, RefusesWhatTheTableDoesNotTake) {
  struct Case {
    std::string name;
    v1::TableKind kind;
    TransactionMode mode;
    WriteOp op;
  };
  const Case cases[] = {
      {"read-only", v1::TABLE_KIND_FULL_ACID, TransactionMode::kReadOnly, WriteOp::kInsert},
      {"external", v1::TABLE_KIND_EXTERNAL, TransactionMode::kReadWrite, WriteOp::kInsert},
      {"update of insert-only",
       v1::TABLE_KIND_INSERT_ONLY,
       TransactionMode::kReadWrite,
       WriteOp::kUpdate},
      {"delete of insert-only",
       v1::TABLE_KIND_INSERT_ONLY,
       TransactionMode::kReadWrite,
       WriteOp::kDelete},
      {"drop", v1::TABLE_KIND_FULL_ACID, TransactionMode::kReadWrite, WriteOp::kDrop},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    CoreWorld world({.mode = c.mode});
    world.table.set_kind(c.kind);
    EXPECT_THAT(world.core->BeginWrite(kOrders, c.op),
                HasReason(ErrorReason::kOperationNotAllowed));
    EXPECT_THAT(world.server.CallsOf<v1::AcquireLocksRequest>(), IsEmpty());
    EXPECT_THAT(world.server.CallsOf<v1::AllocateWriteIdsRequest>(), IsEmpty());
  }
}

// P-7: a new row's bucket is its hash, a delete's is its victim's.
TEST(BeginWrite, OfABucketedTableTakesDeletesOnly) {
  for (const WriteOp op : {WriteOp::kInsert, WriteOp::kUpdate, WriteOp::kOverwrite}) {
    CoreWorld world;
    world.MakeBucketed();
    const absl::Status refused = world.core->BeginWrite(kOrders, op).status();
    EXPECT_THAT(refused, HasReason(ErrorReason::kNotSupported));
    EXPECT_THAT(MessageOf(refused),
                ::testing::HasSubstr("sales.orders: it is CLUSTERED BY (a) INTO 4 BUCKETS"));
    EXPECT_THAT(world.server.CallsOf<v1::AllocateWriteIdsRequest>(), IsEmpty());
  }
  CoreWorld world;
  world.MakeBucketed();
  world.Write(kOrders, WriteOp::kDelete);
}

TEST(BeginWrite, StopsWhereARowIdCannotCountFurther) {
  CoreWorld world;
  for (int i = 0; i < 4096; ++i) world.Write(kOrders, WriteOp::kInsert);
  EXPECT_THAT(world.core->BeginWrite(kOrders, WriteOp::kInsert),
              HasReason(ErrorReason::kValueOutOfRange));
}

TEST(BeginWrite, WaitsForItsLockAsLongAsTheSessionSays) {
  CoreWorld world;
  world.server.On<v1::AcquireLocksRequest>([](const auto&, auto& answer) {
    answer.set_lock_id(41);
    answer.set_state(v1::LOCK_STATE_WAITING);
    return Ok();
  });
  world.server.On<v1::CheckLockRequest>([](const auto&, auto& answer) {
    answer.set_state(v1::LOCK_STATE_WAITING);
    return Ok();
  });
  EXPECT_THAT(world.core->BeginWrite(kOrders, WriteOp::kInsert),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(world.txn->Commit(), IsOk()) << "nothing was begun";
}

TEST(WriteSet, OfAnUnpartitionedTableNamesTheTable) {
  CoreWorld world;
  WriteStatement insert = world.Write(kOrders, WriteOp::kInsert);
  WriteStatement update = world.Write(kOrders, WriteOp::kUpdate);
  WriteStatement nothing = world.Write(kItems, WriteOp::kDelete);
  EXPECT_THAT(world.core->EndWrite(insert, Wrote::kRows), IsOk());
  EXPECT_THAT(world.core->EndWrite(update, Wrote::kRows), IsOk());
  EXPECT_THAT(world.core->EndWrite(nothing, Wrote::kNothing), IsOk());
  EXPECT_THAT(world.Committed(), ElementsAre("sales.items:", "sales.orders: [] INSERT [] UPDATE"));
}

TEST(WriteSet, OfAPartitionedTableNamesWhatWasDeclared) {
  CoreWorld world;
  world.MakePartitioned();
  WriteStatement insert = world.Write(kOrders, WriteOp::kInsert);
  WriteStatement remove = world.Write(kOrders, WriteOp::kDelete);
  EXPECT_THAT(world.core->DeclarePartitions(insert, {"p=1", "p=2"}), IsOk());
  EXPECT_THAT(world.core->DeclarePartitions(insert, {"p=2", "p=3"}), IsOk());
  EXPECT_THAT(world.core->DeclarePartitions(insert, {"p=1"}), IsOk());
  EXPECT_THAT(world.core->DeclarePartitions(remove, {"p=1"}), IsOk());

  std::vector<v1::AddPartitionsRequest> added = world.server.RequestsOf<v1::AddPartitionsRequest>();
  ASSERT_EQ(added.size(), 3u);
  EXPECT_THAT(added[0].partitions(), ElementsAre("p=1", "p=2"));
  EXPECT_THAT(added[1].partitions(), ElementsAre("p=3"));
  EXPECT_EQ(added[2].operation(), v1::WRITE_OPERATION_DELETE);

  EXPECT_THAT(world.core->EndWrite(insert, Wrote::kRows), IsOk());
  EXPECT_THAT(world.core->EndWrite(remove, Wrote::kRows), IsOk());
  EXPECT_THAT(world.Committed(),
              ElementsAre("sales.orders: [p=1] INSERT [p=1] DELETE [p=2] INSERT [p=3] INSERT"));
}

TEST(WriteSet, CountsAnOverwriteThatLeavesTheTableEmpty) {
  CoreWorld world;
  WriteStatement overwrite = world.Write(kOrders, WriteOp::kOverwrite);
  EXPECT_THAT(world.core->EndWrite(overwrite, Wrote::kNothing), IsOk());
  EXPECT_THAT(world.Committed(), ElementsAre("sales.orders: [] OVERWRITE"));
}

TEST(WriteSet, MustBeCompleteAtTheCommit) {
  CoreWorld world;
  WriteStatement insert = world.Write(kOrders, WriteOp::kInsert);
  EXPECT_THAT(world.txn->Commit(), HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_EQ(world.txn->state(), TransactionState::kOpen);
  EXPECT_THAT(world.core->EndWrite(insert, Wrote::kRows), IsOk());
  EXPECT_THAT(world.core->EndWrite(insert, Wrote::kRows),
              HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(world.txn->Commit(), IsOk());
}

TEST(WriteSet, OfAFailedWriterCanOnlyBeAborted) {
  CoreWorld world;
  WriteStatement insert = world.Write(kOrders, WriteOp::kInsert);
  world.core->FailWrite(insert, MakeError(ErrorReason::kStorageUnwritable, "disk full"));
  absl::Status refused = world.txn->Commit();
  EXPECT_THAT(refused, HasReason(ErrorReason::kOperationNotAllowed));
  EXPECT_THAT(refused, testing::HasMessage(::testing::HasSubstr("disk full")));
  EXPECT_THAT(world.server.CallsOf<v1::CommitTransactionRequest>(), IsEmpty());
  EXPECT_THAT(world.txn->Abort(), IsOk());
}

TEST(Lists, AreAskedForOnceAndCarryOwnIdsApart) {
  CoreWorld world;
  SKEP_ASSERT_OK_AND_ASSIGN(WriteIdSnapshot before, world.core->GetValidWriteIds(kOrders));
  EXPECT_EQ(before.ids.high, 11);
  EXPECT_THAT(before.ids.open, ElementsAre(9));
  EXPECT_THAT(before.own, IsEmpty());
  world.Write(kOrders, WriteOp::kInsert);
  SKEP_ASSERT_OK_AND_ASSIGN(WriteIdSnapshot after, world.core->GetValidWriteIds(kOrders));
  EXPECT_EQ(after.ids, before.ids) << "allocating changes nothing else";
  EXPECT_THAT(after.own, ElementsAre(12));
  EXPECT_EQ(world.server.CallsOf<v1::GetValidWriteIdsRequest>().size(), 1u);
}

TEST(Lists, NameAllTablesThatAreHeld) {
  CoreWorld world;
  EXPECT_THAT(world.core->GetValidWriteIds(kOrders), IsOk());
  EXPECT_THAT(world.core->GetValidWriteIds(kItems), IsOk());
  std::vector<v1::GetValidWriteIdsRequest> asked =
      world.server.RequestsOf<v1::GetValidWriteIdsRequest>();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_TRUE(asked[1].names_all());
  ASSERT_EQ(asked[1].tables_size(), 2);
  EXPECT_EQ(asked[1].tables(0).table(), "items");
  EXPECT_EQ(asked[1].tables(1).table(), "orders");
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(world.core->GetValidWriteIds({"sales", "t" + std::to_string(i)}), IsOk());
  }
  v1::GetValidWriteIdsRequest last = world.server.RequestsOf<v1::GetValidWriteIdsRequest>().back();
  EXPECT_FALSE(last.names_all());
  EXPECT_EQ(last.tables_size(), 1);
}

TEST(Lists, AreVoidAfterARefresh) {
  CoreWorld world;
  world.server.On<v1::GetSnapshotRequest>([](const auto& request, auto& answer) {
    answer.set_snapshot_seq(request.refresh() ? 9 : 5);
    answer.mutable_txns()->set_high_watermark(request.refresh() ? 20 : 6);
    return Ok();
  });
  EXPECT_THAT(world.core->GetTable(kOrders), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(TxnSnapshot old, world.core->GetTxnSnapshot());
  EXPECT_EQ(old.ids.high, 6);
  EXPECT_EQ(old.own, TxnId(7));
  const CommitSeq before = world.txn->snapshot();
  EXPECT_THAT(world.txn->RefreshSnapshot(), IsOk());
  EXPECT_EQ(world.server.RequestsOf<v1::GetSnapshotRequest>().back().snapshot_seq(),
            before.value());
  EXPECT_EQ(world.txn->snapshot(), CommitSeq(9));
  EXPECT_THAT(world.core->GetTable(kOrders), IsOk());
  EXPECT_EQ(world.server.CallsOf<v1::GetTableRequest>().size(), 2u);
  EXPECT_EQ(world.server.CallsOf<v1::GetSnapshotRequest>().size(), 2u);
}

TEST(ListPartitions, JoinsPagesInOrder) {
  CoreWorld world;
  world.server.On<v1::ListPartitionsRequest>([](const auto& request, auto& answer) {
    EXPECT_EQ(request.txn_id(), 7);
    if (request.page_token().empty()) {
      answer.add_partitions("p=2");
      answer.set_next_page_token("more");
    } else {
      answer.add_partitions("p=1");
    }
    return Ok();
  });
  SKEP_ASSERT_OK_AND_ASSIGN(std::vector<std::string> partitions,
                            world.core->ListPartitions(kOrders));
  EXPECT_THAT(partitions, ElementsAre("p=1", "p=2"));
}

TEST(DropTable, LocksAndGoesAtTheCommit) {
  CoreWorld world;
  EXPECT_THAT(world.txn->DropTable(kOrders), IsOk());
  EXPECT_EQ(world.server.RequestsOf<v1::AcquireLocksRequest>().at(0).components(0).kind(),
            v1::LOCK_KIND_EXCLUSIVE);
  EXPECT_EQ(world.server.RequestsOf<v1::DropTableRequest>().at(0).txn_id(), 7);
  EXPECT_THAT(world.Committed(), IsEmpty());
}

}  // namespace
}  // namespace skep::client

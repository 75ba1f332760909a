#include "proto/wire/table_wire.h"

#include <gtest/gtest.h>

#include "proto/wire/compaction_wire.h"
#include "proto/wire/enums_wire.h"
#include "proto/wire/lock_wire.h"
#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

namespace skep::wire {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOkAndHolds;
using std::chrono_literals::operator""ms;

std::vector<Column> Columns(std::string_view text) { return *ParseColumns(text); }

TEST(TableWire, ATableComesBackAsItWas) {
  TableRow row;
  row.id = TableId(4);
  row.name = {"sales", "orders"};
  row.kind = TableKind::kInsertOnly;
  row.format = FileFormat::kParquet;
  row.location = "/w/sales.db/orders";
  row.schema.columns =
      Columns("order_id bigint, amount decimal(12,2) COMMENT 'net', tags array<struct<a:int>>");
  row.schema.partition_columns = Columns("order_date date");
  row.schema.bucketing = {{"order_id"}, 4};
  row.properties = {{"NO_AUTO_COMPACTION", "true"}};
  row.create_time = Timestamp(1'790'000'000'123ms);
  row.created_seq = CommitSeq(9);
  row.next_write_id = WriteId(12);
  row.adopted_txn_bound = TxnId(80);
  row.adopted_aborted_txns = {3, 7};
  v1::Table wire;
  ToProto(row, &wire);
  wire.set_partition_count(2);
  wire.set_open_write_id_count(1);
  SKEP_ASSERT_OK_AND_ASSIGN(const TableView view, FromProto(wire));
  EXPECT_EQ(view.row, row);
  EXPECT_EQ(view.partitions, 2);
  EXPECT_EQ(view.open_write_ids, 1);
}

TEST(TableWire, ALockComesBackAsItWas) {
  LockRow row;
  row.lock = LockId(5);
  row.component = 2;
  row.txn = TxnId(17);
  row.resource = {"sales", "orders", "order_date=2026-10-01"};
  row.kind = LockKind::kExclWrite;
  row.state = LockState::kAcquired;
  row.request_time = Timestamp(1'790'000'000'000ms);
  row.acquire_time = Timestamp(1'790'000'000'250ms);
  row.user = "ada";
  row.host = "h";
  row.agent = "q1";
  v1::Lock wire;
  ToProto(row, &wire);
  EXPECT_THAT(FromProto(wire), IsOkAndHolds(row));
}

TEST(TableWire, AWaitingLockHasNoTimeOfAcquisition) {
  LockRow row;
  row.state = LockState::kWaiting;
  v1::Lock wire;
  ToProto(row, &wire);
  EXPECT_FALSE(wire.has_acquire_time());
}

TEST(TableWire, ACompactionComesBackAsItWas) {
  CompactionRow row;
  row.id = CompactionId(3);
  row.name = {"sales", "orders"};
  row.partition = "order_date=2026-10-01";
  row.type = CompactionType::kMinor;
  row.state = CompactionState::kReadyForCleaning;
  row.reason = "11 deltas";
  row.initiator = "h-initiator";
  row.worker = "h-worker-1";
  row.txn = TxnId(20);
  row.highest_write_id = WriteId(11);
  row.published_seq = CommitSeq(31);
  row.enqueue_time = Timestamp(1'790'000'000'000ms);
  row.start_time = Timestamp(1'790'000'001'000ms);
  row.commit_time = Timestamp(1'790'000'002'001ms);
  row.clean_attempts = 2;
  row.next_clean_time = Timestamp(1'790'000'900'000ms);
  v1::Compaction wire;
  ToProto(row, &wire);
  EXPECT_FALSE(wire.has_end_time());
  EXPECT_THAT(FromProto(wire), IsOkAndHolds(row));
}

// Every enumerator of the model has a name on the wire and comes back.
template <class Model>
void EachComesBack(int count) {
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(i);
    const Model model = static_cast<Model>(i);
    EXPECT_THAT(FromProto(ToProto(model), "f"), IsOkAndHolds(model));
  }
}

TEST(EnumsWire, EachComesBack) {
  EachComesBack<TxnType>(7);
  EachComesBack<TxnState>(3);
  EachComesBack<AbortCause>(10);
  EachComesBack<WriteOp>(5);
  EachComesBack<LockKind>(4);
  EachComesBack<LockState>(4);
  EachComesBack<CompactionType>(3);
  EachComesBack<CompactionState>(8);
  EachComesBack<TableKind>(3);
  EachComesBack<FileFormat>(5);
}

TEST(EnumsWire, NumbersOfTomorrowAreRefused) {
  EXPECT_THAT(FromProto(static_cast<v1::LockKind>(77), "kind"),
              HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(FromProto(static_cast<v1::TransactionType>(77), "type"),
              HasReason(ErrorReason::kInvalidRequest));
}

}  // namespace
}  // namespace skep::wire

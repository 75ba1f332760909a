#include "tests/testing/random_effects.h"

#include <array>
#include <chrono>
#include <utility>

namespace skep::testing {
namespace {

// Texts that have broken stores before: quotes, percent signs, line ends, bytes above ASCII, a NUL
// inside.
const std::array<std::string, 8> kTexts = {"",
                                           "alice",
                                           "it's",
                                           "\"quoted\"",
                                           "a%b\\c",
                                           "line\nend",
                                           "sch\xc3\xb6n",
                                           std::string("a\0b", 3)};

HiveType Type(std::string_view text) {
  absl::StatusOr<HiveType> type = ParseHiveType(text);
  return type.ok() ? *std::move(type) : HiveType();
}

}  // namespace

int64_t RandomEffects::Below(int64_t bound) {
  return static_cast<int64_t>(random_.NextUint64() % static_cast<uint64_t>(bound));
}

std::string RandomEffects::Text() { return kTexts[static_cast<size_t>(Below(kTexts.size()))]; }

std::string RandomEffects::Partition() {
  return Coin() ? "" : "d=2026-10-0" + std::to_string(1 + Below(3));
}

Timestamp RandomEffects::Time() {
  return Timestamp(std::chrono::milliseconds(Coin() ? 0 : 1'790'000'000'000 + Below(1'000'000)));
}

TableName RandomEffects::Name() {
  return {"db" + std::to_string(Below(3)), "t" + std::to_string(Below(9))};
}

Properties RandomEffects::SomeProperties() {
  Properties properties;
  for (int64_t i = Below(4); i > 0; --i) properties[Text()] = Text();
  return properties;
}

TableSchema RandomEffects::Schema() {
  static const std::array<HiveType, 6> kTypes = {Type("bigint"),
                                                 Type("decimal(12,2)"),
                                                 Type("varchar(20)"),
                                                 Type("timestamp with local time zone"),
                                                 Type("array<struct<a:int,b:map<string,double>>>"),
                                                 Type("uniontype<int,string>")};
  TableSchema schema;
  for (int64_t i = Below(5); i > 0; --i) {
    schema.columns.push_back(
        {"c" + std::to_string(i), kTypes[static_cast<size_t>(Below(6))], Text()});
  }
  if (Coin()) schema.partition_columns.push_back({"d", Type("date"), ""});
  if (Coin()) schema.bucketing = {{"c1", "c2"}, static_cast<int32_t>(1 + Below(9))};
  return schema;
}

std::vector<int64_t> RandomEffects::Ids() {
  std::vector<int64_t> ids;
  for (int64_t i = Below(4); i > 0; --i) ids.push_back(1 + Below(1'000'000'000'000));
  return ids;
}

TxnRow RandomEffects::Txn() {
  TxnRow row;
  row.id = NextId<TxnId>();
  row.type = NextEnum<TxnType>(7);
  row.opened_seq = CommitSeq(Below(50));
  row.snapshot_seq = CommitSeq(Below(50));
  row.open_time = Time();
  row.user = Text();
  row.host = Text();
  row.agent = Text();
  row.timeout_ms = Below(1'000'000);
  row.from_batch = Coin();
  row.keep_all_pinned = Coin();
  row.abort_only = Coin();
  return row;
}

TableRow RandomEffects::Table() {
  TableRow row;
  row.id = NextId<TableId>();
  row.name = Name();
  row.kind = NextEnum<TableKind>(3);
  row.format = NextEnum<FileFormat>(5);
  row.location = "/w/" + Text();
  row.schema = Schema();
  row.properties = SomeProperties();
  row.create_time = Time();
  row.created_seq = CommitSeq(Below(50));
  row.next_write_id = WriteId(1 + Below(50));
  row.cleaned_seq = CommitSeq(Below(50));
  row.adopted_txn_bound = TxnId(Below(50));
  row.adopted_aborted_txns = Ids();
  return row;
}

ComponentRow RandomEffects::Component() {
  ComponentRow row;
  row.txn = NextId<TxnId>();
  row.table = NextId<TableId>();
  row.partition = Partition();
  row.op = NextEnum<WriteOp>(5);
  row.dynamic = Coin();
  return row;
}

WriteMarkRow RandomEffects::WriteMark() {
  WriteMarkRow row;
  row.table = NextId<TableId>();
  row.partition = Partition();
  row.insert_seq = CommitSeq(Below(50));
  row.insert_txn = TxnId(Below(50));
  row.update_seq = CommitSeq(Below(50));
  row.update_txn = TxnId(Below(50));
  row.overwrite_seq = CommitSeq(Below(50));
  row.overwrite_txn = TxnId(Below(50));
  return row;
}

LockRow RandomEffects::Lock() {
  LockRow row;
  row.lock = NextId<LockId>();
  row.component = static_cast<int32_t>(1 + Below(3));
  row.txn = TxnId(Below(7));
  row.resource = {"db", Coin() ? "t" : "", Partition()};
  row.table = TableId(Below(7));
  row.kind = NextEnum<LockKind>(4);
  row.state = NextEnum<LockState>(4);
  if (Coin()) row.op = NextEnum<WriteOp>(5);
  row.dynamic = Coin();
  row.request_time = Time();
  row.acquire_time = Time();
  row.user = Text();
  row.host = Text();
  row.agent = Text();
  return row;
}

CompactionRow RandomEffects::Compaction() {
  CompactionRow row;
  row.id = NextId<CompactionId>();
  row.table = NextId<TableId>();
  row.name = Name();
  row.partition = Partition();
  row.type = NextEnum<CompactionType>(3);
  row.state = NextEnum<CompactionState>(8);
  row.reason = Text();
  row.initiator = Text();
  row.worker = Text();
  row.claim = Below(5);
  row.txn = TxnId(Below(50));
  row.highest_write_id = WriteId(Below(50));
  row.published_seq = CommitSeq(Below(50));
  row.error = Text();
  row.enqueue_time = Time();
  row.start_time = Time();
  row.end_time = Time();
  row.commit_time = Time();
  row.clean_attempts = static_cast<int32_t>(Below(9));
  row.next_clean_time = Time();
  return row;
}

RequestRow RandomEffects::Request() {
  RequestRow row;
  row.slot = Below(8);
  row.request_id = MakeUuid(random_);
  row.kind = static_cast<int32_t>(Below(6));
  row.fingerprint = static_cast<int64_t>(random_.NextUint64());  // all 64 bits, negative ones too
  row.first_id = Below(1'000);
  row.count = Below(1'000);
  row.time = Time();
  return row;
}

Effect RandomEffects::NextPut(int kind) {
  const auto seq = [&] { return CommitSeq(1 + Below(12)); };
  switch (kind) {
    case 0:
      return Put<TxnRow>{Txn()};
    case 1:
      return Put<ResolvedTxnRow>{{seq(), NextId<TxnId>(), seq(), Coin(), Below(3) * 300'000}};
    case 2:
      return Put<AbortedTxnsRow>{{NextId<TxnId>(), TxnId(10), NextEnum<AbortCause>(10)}};
    case 3:
      return Put<TableRow>{Table()};
    case 4:
      return Put<DroppedTableRow>{{NextId<TableId>(), Name(), "/w/" + Text(), seq()}};
    case 5:
      return Put<PartitionRow>{{NextId<TableId>(), Partition(), seq()}};
    case 6:
      return Put<WriteIdRow>{{NextId<TableId>(), NextId<WriteId>(), NextId<TxnId>(), seq()}};
    case 7:
      return Put<ResolvedWriteIdRow>{{seq(), NextId<TableId>(), NextId<WriteId>(), seq(), Coin()}};
    case 8:
      return Put<AbortedWriteIdsRow>{{NextId<TableId>(), NextId<WriteId>(), WriteId(9)}};
    case 9:
      return Put<ComponentRow>{Component()};
    case 10:
      return Put<WriteMarkRow>{WriteMark()};
    case 11:
      return Put<LockRow>{Lock()};
    case 12:
      return Put<CompactionRow>{Compaction()};
    case 13:
      return Put<ReplicaRow>{{Text(), NextId<TxnId>(), NextId<TxnId>()}};
    case 14:
      return Put<TableChangeRow>{{NextId<TableId>(), seq(), seq()}};
    case 15:
      return Put<ViewLockRow>{{Name(), NextId<TxnId>(), Time()}};
    default:
      return Put<RequestRow>{Request()};
  }
}

Effect RandomEffects::NextErase(int kind) {
  switch (kind) {
    case 0:
      return EraseTxn{NextId<TxnId>()};
    case 1:
      return EraseAbortedTxns{NextId<TxnId>()};
    case 2:
      return EraseTable{NextId<TableId>()};
    case 3:
      return EraseDroppedTable{NextId<TableId>()};
    case 4:
      return ErasePartition{NextId<TableId>(), Partition()};
    case 5:
      return EraseWriteId{NextId<TableId>(), NextId<WriteId>()};
    case 6:
      return EraseAbortedWriteIds{NextId<TableId>(), NextId<WriteId>()};
    case 7:
      return EraseComponents{NextId<TxnId>()};
    case 8:
      return EraseComponent{Component()};
    case 9:
      return EraseWriteMark{NextId<TableId>(), Partition()};
    case 10:
      return EraseLock{NextId<LockId>()};
    case 11:
      return EraseCompaction{NextId<CompactionId>()};
    case 12:
      return EraseReplica{Text(), NextId<TxnId>()};
    case 13:
      return EraseViewLock{Name()};
    default:
      return ForgetResolved{CommitSeq(Below(12))};
  }
}

Effects RandomEffects::NextUnit(int size) {
  Effects unit;
  for (int i = 0; i < size; ++i) {
    // Puts twice as often as erases, so that there is something to erase.
    unit.push_back(Below(3) < 2 ? NextPut(static_cast<int>(Below(17)))
                                : NextErase(static_cast<int>(Below(15))));
  }
  ++seq_;
  unit.push_back(Put<CounterRow>{{CommitSeq(seq_),
                                  TxnId(1 + Below(99)),
                                  LockId(1 + Below(99)),
                                  CompactionId(1 + Below(99)),
                                  TableId(1 + Below(99)),
                                  Below(99)}});
  return unit;
}

}  // namespace skep::testing

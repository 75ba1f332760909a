#include "storage/meta/log/record.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/base/text.h"
#include "storage/meta/log/segment.h"
#include "storage/meta/sqlite/migrations.h"
#include "storage/meta/words.h"
#include "storage/model/stored_state.h"
#include "tests/storage/meta/sample_state.h"
#include "tests/testing/random_effects.h"
#include "tests/testing/status_matchers.h"

namespace skep::meta {
namespace {

using skep::testing::HasMessage;
using skep::testing::HasReason;
using skep::testing::IsOk;
using skep::testing::RandomEffects;
using ::testing::HasSubstr;

constexpr uint64_t kSalt = 0x0123456789abcdef;

struct Decoded {
  RecordHeader header;
  Effects effects;
};

std::string Encode(const Effects& unit, CommitSeq before = CommitSeq(0)) {
  RecordWriter writer;
  EXPECT_THAT(writer.Encode(unit), IsOk());
  return std::string(writer.Seal(kSalt, before));
}

absl::StatusOr<Decoded> Decode(std::string_view bytes) {
  const auto header = ReadRecordHeader(bytes, kSalt);
  if (!header) return absl::NotFoundError("no header");
  const auto body = BodyOf(*header, bytes);
  if (!body) return absl::NotFoundError("no body");
  Decoded decoded{*header, {}};
  const absl::Status status = DecodeBody(*header, *body, decoded.effects);
  if (!status.ok()) return status;
  return decoded;
}

// All kinds of erases, each of its own key.
Effects EraseUnit() {
  ComponentRow component;
  component.txn = TxnId(9);
  component.table = TableId(8);
  component.partition = "p=1";
  component.op = WriteOp::kDelete;
  return {EraseTxn{TxnId(1)},
          EraseAbortedTxns{TxnId(2)},
          EraseTable{TableId(3)},
          EraseDroppedTable{TableId(4)},
          ErasePartition{TableId(5), "p=2"},
          EraseWriteId{TableId(6), WriteId(7)},
          EraseAbortedWriteIds{TableId(8), WriteId(9)},
          EraseComponents{TxnId(10)},
          EraseComponent{component},
          EraseWriteMark{TableId(11), "p=3"},
          EraseLock{LockId(12)},
          EraseCompaction{CompactionId(13)},
          ForgetResolved{CommitSeq(300)},
          EraseReplica{"copy of 'east'", TxnId(1017)},
          EraseViewLock{{"sales", "by_day"}},
          Put<CounterRow>{{CommitSeq(35), TxnId(18), LockId(9), CompactionId(7), TableId(4), 41}}};
}

// A row of each type.
Effects PutUnit() {
  const auto since = Timestamp(std::chrono::milliseconds(1'790'812'800'011));
  Effects unit = SampleUnit();
  unit.insert(unit.end() - 1,
              {SampleReplica(), Put<ViewLockRow>{{{"sales", "by_day"}, TxnId(17), since}}});
  return unit;
}

TEST(Record, HoldsEveryEffect) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomEffects random(seed);
  StoredState expected;
  StoredState read;
  RecordWriter writer;
  for (int i = 1; i <= 400; ++i) {
    const Effects unit = random.NextUnit(i % 25);
    ASSERT_THAT(writer.Encode(unit), IsOk());
    const std::string bytes(writer.Seal(kSalt, CommitSeq(i - 1)));
    EXPECT_EQ(bytes.size() % kRecordAlignment, 0u);
    const absl::StatusOr<Decoded> decoded = Decode(bytes);
    ASSERT_THAT(decoded, IsOk());
    EXPECT_EQ(decoded->header.seq, CommitSeq(i));
    EXPECT_EQ(decoded->header.before, CommitSeq(i - 1));
    ASSERT_EQ(decoded->effects.size(), unit.size());
    // Erases have no equality: the same bytes say that nothing was lost.
    EXPECT_EQ(Encode(decoded->effects, CommitSeq(i - 1)), bytes);
    ApplyEffects(expected, unit);
    ApplyEffects(read, decoded->effects);
    ASSERT_EQ(read, expected);
  }
}

// The bytes as they are on disks. A change here is a new kLogFormat or kRecordSchema: what older
// programs left must be refused or read, never misread.
TEST(Record, HasTheBytesOfItsFormat) {
  EXPECT_EQ(BytesToHex(Encode(EraseUnit(), CommitSeq(34))),
            "534b525522e5c41f52000000cbf11f19100000000000000022000000000000002300000000000000"
            "2102220423062408250a03703d32260c0e271012281429121003703d31022a1603703d332b182c1a"
            "2dd8042e0e636f7079206f6620276561737427f20f2f0573616c65730662795f646179014624120e"
            "0852000000000000");
  EXPECT_EQ(BytesToHex(Encode(PutUnit(), CommitSeq(33))),
            "534b5255c2e6a36189020000e346320c120000000000000021000000000000002200000000000000"
            "0222033e40829096cc9e6805616c69636506686f73742d31106c6f6164657220276e696768746c79"
            "27c0cf24010101033a1e3801000410140205060573616c6573066f726465727301011a2f77617265"
            "686f7573652f73616c65732e64622f6f726465727302086f726465725f696406626967696e740774"
            "6865206b657906616d6f756e740d646563696d616c2831322c322900010a6f726465725f64617465"
            "046461746500000002124e4f5f4155544f5f434f4d50414354494f4e0474727565046e6f74650d69"
            "742773202271756f74656422849096cc9e680a120c0802040606040573616c6573036f6c64172f77"
            "617265686f7573652f73616c65732e64622f6f6c64080706156f726465725f646174653d32303236"
            "2d31302d30310e0806102242093a060c38010a06080a0b2206156f726465725f646174653d323032"
            "362d31302d303101010c06156f726465725f646174653d323032362d31302d30312a162c182e1a11"
            "0644440d1004220573616c6573066f7264657273156f726465725f646174653d323032362d31302d"
            "30310602000201869096cc9e68889096cc9e6805616c69636506686f73742d31057368656c6c0e0c"
            "060573616c6573066f7264657273156f726465725f646174653d323032362d31302d303101020931"
            "322064656c7461730d686f73742d312d7468726561640f686f73742d312d776f726b65722d300420"
            "0e3c0f6f6e63653a206469736b2066756c6c8a9096cc9e688c9096cc9e688e9096cc9e68909096cc"
            "9e6806929096cc9e680f50f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff049593d89fee472202949096cc"
            "9e68100e636f7079206f6620276561737427f20f22120573616c65730662795f64617922969096cc"
            "9e68014424120e085200000000000000");
}

template <class Enum>
void ExpectWords(const std::vector<std::string>& words) {
  ASSERT_EQ(words.size(), static_cast<size_t>(Words<Enum>::kCount));
  for (size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(Words<Enum>::Name(static_cast<Enum>(i)), words[i]);
  }
}

// Records hold the numbers: the order is part of the format.
TEST(Record, NumbersWordsAsTheFormatSays) {
  ExpectWords<TxnType>({"DEFAULT",
                        "REPL_CREATED",
                        "READ_ONLY",
                        "COMPACTION",
                        "MATERIALIZED_VIEW_REBUILD",
                        "SOFT_DELETE",
                        "REBALANCE_COMPACTION"});
  ExpectWords<AbortCause>({"none",
                           "user",
                           "timeout",
                           "conflict",
                           "deadlock",
                           "operator",
                           "shutdown",
                           "replication",
                           "restore",
                           "compaction"});
  ExpectWords<WriteOp>({"INSERT", "UPDATE", "DELETE", "OVERWRITE", "DROP"});
  ExpectWords<LockKind>({"SHARED_READ", "SHARED_WRITE", "EXCL_WRITE", "EXCLUSIVE"});
  ExpectWords<LockState>({"ACQUIRED", "WAITING", "NOT_ACQUIRED", "ABORTED"});
  ExpectWords<TableKind>({"FULL_ACID", "INSERT_ONLY", "EXTERNAL"});
  ExpectWords<FileFormat>({"orc", "parquet", "avro", "text", "other"});
  ExpectWords<CompactionType>({"MAJOR", "MINOR", "REBALANCE"});
  ExpectWords<CompactionState>({"INITIATED",
                                "WORKING",
                                "READY_FOR_CLEANING",
                                "SUCCEEDED",
                                "FAILED",
                                "NOT_INITIATED",
                                "REFUSED",
                                "CANCELLED"});
}

TEST(Record, CarriesTheSchemaOfTheTables) {
  EXPECT_EQ(static_cast<int>(kRecordSchema), MigrationSteps().back().version);
}

TEST(Record, IsNotMistakenForOneOfAnotherLifeOfTheFile) {
  const std::string bytes = Encode(SampleUnit());
  EXPECT_TRUE(ReadRecordHeader(bytes, kSalt));
  EXPECT_FALSE(ReadRecordHeader(bytes, kSalt + 1));
}

TEST(Record, RefusesWhatTheTablesCouldNotHold) {
  RecordWriter writer;
  TableRow table;
  table.id = TableId(1);
  table.properties = {{"key", "\xff"}};
  const Put<CounterRow> counters{{CommitSeq(1), {}, {}, {}, {}, 0}};
  EXPECT_THAT(writer.Encode({Put<TableRow>{table}, counters}), HasReason(ErrorReason::kInternal));
  EXPECT_THAT(writer.Encode({EraseTxn{TxnId(1)}}), HasMessage(HasSubstr("no counters")));
  EXPECT_THAT(writer.Encode({counters}), IsOk());
}

TEST(Record, StopsAtATagItDoesNotKnow) {
  std::string body = Encode(EraseUnit()).substr(kRecordHeaderSize);
  RecordHeader header;
  header.seq = CommitSeq(7);
  header.effects = 1;
  Effects effects;
  for (const char tag : {'\0', '\x13', '\x20', '\x30', '\x40', '\xff'}) {
    body[0] = tag;
    const absl::Status status = DecodeBody(header, body, effects);
    EXPECT_THAT(status, HasReason(ErrorReason::kCorruptStore));
    EXPECT_THAT(status, HasMessage(HasSubstr("start the program that wrote it")));
    EXPECT_EQ(MetadataOf(status)["seq"], "7");
  }
}

// Behind a checksum that is right by accident or on purpose: an error or a unit, never a crash, and
// no more memory than the bytes account for (the sanitizers watch).
TEST(Record, ReadsAnyBodyOrSaysNo) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  int refused = 0;
  for (const Effects& unit : {PutUnit(), EraseUnit()}) {
    const std::string record = Encode(unit);
    const auto header = ReadRecordHeader(record, kSalt);
    const std::string body(*BodyOf(*header, record));
    const auto read = [&](std::string_view bytes) {
      Effects effects;
      if (!DecodeBody(*header, bytes, effects).ok()) ++refused;
    };
    for (size_t length = 0; length < body.size(); ++length) {
      Effects effects;
      EXPECT_FALSE(DecodeBody(*header, body.substr(0, length), effects).ok()) << length;
    }
    for (size_t at = 0; at < body.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        std::string changed = body;
        changed[at] = static_cast<char>(value);
        read(changed);
      }
    }
    for (int round = 0; round < 20'000; ++round) {
      std::string changed = body;
      for (uint64_t left = 1 + random() % 8; left > 0; --left) {
        changed[random() % changed.size()] = static_cast<char>(random());
      }
      read(changed);
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace skep::meta

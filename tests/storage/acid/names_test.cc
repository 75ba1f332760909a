#include "storage/acid/names.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/status_matchers.h"

namespace skep::acid {
namespace {

using testing::HasReason;
using testing::IsOk;

struct GoodName {
  std::string name;
  DirKind kind;
  int64_t min;
  int64_t max;
  std::optional<int32_t> statement;
  int64_t visibility = 0;
};

const std::vector<GoodName>& GoodNames() {
  static const std::vector<GoodName> names = {
      {"delta_0000005_0000005_0002", DirKind::kDelta, 5, 5, 2},
      {"delta_0000005_0000014", DirKind::kDelta, 5, 14, std::nullopt},
      {"delta_0000001_0000014_v0000123", DirKind::kDelta, 1, 14, std::nullopt, 123},
      {"delete_delta_0000005_0000005_0002", DirKind::kDeleteDelta, 5, 5, 2},
      {"delete_delta_0000001_0000014_v0000123", DirKind::kDeleteDelta, 1, 14, std::nullopt, 123},
      {"base_0000007", DirKind::kBase, 7, 7, std::nullopt},
      {"base_0000014_v0000123", DirKind::kBase, 14, 14, std::nullopt, 123},
      // N-2: both suffixes parse on their own.
      {"delta_0000005_0000005_0002_v0000009", DirKind::kDelta, 5, 5, 2, 9},
      // N-3: padding means nothing.
      {"delta_26_31", DirKind::kDelta, 26, 31, std::nullopt},
      {"base_6", DirKind::kBase, 6, 6, std::nullopt},
      {"delta_000000000000000000000000026_31_00000000000000000003", DirKind::kDelta, 26, 31, 3},
      {"delta_10000001_10000001_0000", DirKind::kDelta, 10000001, 10000001, 0},
      // N-5: no visibility transaction.
      {"base_0000005_v0", DirKind::kBase, 5, 5, std::nullopt},
      {"delta_0000005_0000006_v0000000", DirKind::kDelta, 5, 6, std::nullopt},
      // I-4, N-9.
      {"base_0000000", DirKind::kBase, 0, 0, std::nullopt},
      {"base_-9223372036854775808", DirKind::kBase, INT64_MIN, INT64_MIN, std::nullopt},
      {"base_-9223372036854775808_v0000009", DirKind::kBase, INT64_MIN, INT64_MIN, std::nullopt, 9},
      // The largest numbers.
      {"base_9223372036854775807_v9223372036854775807",
       DirKind::kBase,
       INT64_MAX,
       INT64_MAX,
       std::nullopt,
       INT64_MAX},
      {"delta_0_9223372036854775807", DirKind::kDelta, 0, INT64_MAX, std::nullopt},
      {"delta_1_1_2147483647", DirKind::kDelta, 1, 1, INT32_MAX},
  };
  return names;
}

TEST(ParseDirName, ReadsEveryFormOfTheGrammar) {
  for (const GoodName& good : GoodNames()) {
    SCOPED_TRACE(good.name);
    SKEP_ASSERT_OK_AND_ASSIGN(const std::optional<AcidDirName> parsed, ParseDirName(good.name));
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(*parsed,
              (AcidDirName{.kind = good.kind,
                           .min_write_id = good.min,
                           .max_write_id = good.max,
                           .statement = good.statement,
                           .visibility = TxnId(good.visibility),
                           .name = good.name}));
  }
}

TEST(ParseDirName, RefusesWhatBeginsLikeAnAcidDirectoryAndIsNone) {
  for (const std::string name : {
           "base_",
           "base_x",
           "base_5_",
           "base_5_6",
           "base_5_v",
           "base_5_vx",
           "base_5_v7_v8",
           "base_v7",
           "base_5_v-7",
           "base_+5",
           "base_ 5",
           "base_5 ",
           "base_-",
           "base_--5",
           "base_-+5",
           "base_0x10",
           "base_5.tmp",
           "base_9223372036854775808",   // the first overflow
           "base_-9223372036854775809",  // likewise
           "base_5_v9223372036854775808",
           "delta_",
           "delta_5",
           "delta_5_",
           "delta__5",
           "delta_5_x",
           "delta_5_6_",
           "delta_5_6_x",
           "delta_5_6_7_8",
           "delta_5_6_v",
           "delta_5_6_v7_8",
           "delta_5_v7",
           "delta_-5_6",
           "delta_5_-6",
           "delta_5_9223372036854775808",
           "delta_5_6_2147483648",
           "delta_5_6_7_v",
           "delta_5_6_V7",
           "delta_6_5",  // N-6
           "delete_delta_",
           "delete_delta_5",
           "delete_delta_6_5",
           "delete_delta_5_6_x",
           "delete_delta_delta_5_6",
       }) {
    SCOPED_TRACE(name);
    const auto parsed = ParseDirName(name);
    EXPECT_THAT(parsed, HasReason(ErrorReason::kMalformedDirectory));
    EXPECT_EQ(MetadataOf(parsed.status()).at("path"), name);
  }
}

TEST(ParseDirName, LeavesOtherNamesAlone) {
  for (const std::string name : {
           "",
           "base",
           "delta",
           "deltas_5_6",
           "BASE_5",
           "Delta_5_5",
           "delete_5_5",
           "delete_delta",
           "bucket_00000",
           "000000_0",
           "HIVE_UNION_SUBDIR_1",
           "_tmp.base_0000007",
           ".delta_5_5",
           "_orc_acid_version",
           "xdelta_5_5",
           "base-5",
           // N-2: a partition directory whatever its prefix.
           "base_x=5",
           "delta_5_5=7",
           "delete_delta_5_5=",
           "base_7=base_7",
       }) {
    SCOPED_TRACE(name);
    SKEP_ASSERT_OK_AND_ASSIGN(const std::optional<AcidDirName> parsed, ParseDirName(name));
    EXPECT_FALSE(parsed.has_value());
  }
}

TEST(ParseDirName, ShowsAForgedNameSafely) {
  const auto parsed = ParseDirName("base_\n\x1b[31m");
  ASSERT_THAT(parsed, HasReason(ErrorReason::kMalformedDirectory));
  EXPECT_EQ(MessageOf(parsed.status()).find('\n'), std::string::npos);
  EXPECT_EQ(MessageOf(parsed.status()).find('\x1b'), std::string::npos);
}

TEST(DirName, IsBuiltAsHiveWritesIt) {
  EXPECT_EQ(BaseDirName(WriteId(7)), "base_0000007");
  EXPECT_EQ(BaseDirName(WriteId(14), TxnId(123)), "base_0000014_v0000123");
  EXPECT_EQ(BaseDirName(WriteId(kOldestBase), TxnId(9)), "base_-9223372036854775808_v0000009");
  EXPECT_EQ(DeltaDirName(DirKind::kDelta, WriteId(5), WriteId(5), 2), "delta_0000005_0000005_0002");
  EXPECT_EQ(DeltaDirName(DirKind::kDeleteDelta, WriteId(5), WriteId(5), 0),
            "delete_delta_0000005_0000005_0000");
  EXPECT_EQ(DeltaDirName(DirKind::kDelta, WriteId(5), WriteId(14), std::nullopt),
            "delta_0000005_0000014");
  EXPECT_EQ(DeltaDirName(DirKind::kDeleteDelta, WriteId(1), WriteId(14), std::nullopt, TxnId(123)),
            "delete_delta_0000001_0000014_v0000123");
  // Numbers grow out of their padding.
  EXPECT_EQ(DeltaDirName(DirKind::kDelta, WriteId(10000001), WriteId(10000001), 12345),
            "delta_10000001_10000001_12345");
  EXPECT_EQ(BaseDirName(WriteId(INT64_MAX), TxnId(INT64_MAX)),
            "base_9223372036854775807_v9223372036854775807");
}

TEST(DirName, SurvivesBuildingAndParsing) {
  for (const GoodName& good : GoodNames()) {
    SCOPED_TRACE(good.name);
    const std::string built = good.kind == DirKind::kBase
                                  ? BaseDirName(WriteId(good.max), TxnId(good.visibility))
                                  : DeltaDirName(good.kind,
                                                 WriteId(good.min),
                                                 WriteId(good.max),
                                                 good.statement,
                                                 TxnId(good.visibility));
    SKEP_ASSERT_OK_AND_ASSIGN(const std::optional<AcidDirName> parsed, ParseDirName(built));
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(parsed->kind, good.kind);
    EXPECT_EQ(parsed->min_write_id, good.min);
    EXPECT_EQ(parsed->max_write_id, good.max);
    EXPECT_EQ(parsed->statement, good.statement);
    EXPECT_EQ(parsed->visibility, TxnId(good.visibility));
  }
}

struct FileCase {
  std::string name;
  FileKind kind;
  int64_t bucket = -1;
  std::optional<int64_t> attempt;
  std::optional<int64_t> copy;
};

TEST(ParseFileName, TellsDataFilesFromOthers) {
  const std::vector<FileCase> cases = {
      {"bucket_00003", FileKind::kBucket, 3},
      {"bucket_3", FileKind::kBucket, 3},
      {"bucket_00003_0", FileKind::kBucket, 3, 0},
      {"bucket_04095_12", FileKind::kBucket, 4095, 12},
      {"bucket_100000", FileKind::kBucket, 100000},
      {"bucket_00003_flush_length", FileKind::kFlushLength, 3},
      {"bucket_00003_0_flush_length", FileKind::kFlushLength, 3, 0},
      {"000003_0", FileKind::kOriginal, 3, 0},
      {"00000_0", FileKind::kOriginal, 0, 0},
      {"000003_0_copy_2", FileKind::kOriginal, 3, 0, 2},
      {"000003_1_copy_10", FileKind::kOriginal, 3, 1, 10},
      {"bucket_", FileKind::kOther},
      {"bucket_x", FileKind::kOther},
      {"bucket_00003_", FileKind::kOther},
      {"bucket_00003_x", FileKind::kOther},
      {"bucket_00003_0_1", FileKind::kOther},
      {"bucket_-1", FileKind::kOther},
      {"bucket_9223372036854775808", FileKind::kOther},
      {"000003", FileKind::kOther},
      {"000003_", FileKind::kOther},
      {"000003_0.snappy", FileKind::kOther},
      {"000003_0_copy", FileKind::kOther},
      {"000003_0_copy_", FileKind::kOther},
      {"000003_0_copie_2", FileKind::kOther},
      {"000003_0_1", FileKind::kOther},
      {"part-00000", FileKind::kOther},
      {"_orc_acid_version", FileKind::kOther},
      {"", FileKind::kOther},
  };
  for (const FileCase& c : cases) {
    SCOPED_TRACE(c.name);
    const DataFileName file = ParseFileName(c.name);
    EXPECT_EQ(file.kind, c.kind);
    EXPECT_EQ(file.bucket, c.bucket);
    EXPECT_EQ(file.attempt, c.attempt);
    EXPECT_EQ(file.copy, c.copy);
    EXPECT_EQ(file.name, c.name);
  }
}

TEST(FileName, IsBuiltWithoutAttempt) {
  EXPECT_EQ(BucketFileName(3), "bucket_00003");
  EXPECT_EQ(BucketFileName(123456), "bucket_123456");
  EXPECT_EQ(FlushLengthFileName("bucket_00003"), "bucket_00003_flush_length");
}

TEST(HiddenNames, BeginWithUnderscoreOrDot) {
  for (const std::string name :
       {"_orc_acid_version", "_metadata_acid", ".skep-tmp-7", "_tmp_x", "."}) {
    EXPECT_TRUE(IsHiddenName(name)) << name;
  }
  for (const std::string name : {"", "bucket_00000_flush_length", "base_5", "a._"}) {
    EXPECT_FALSE(IsHiddenName(name)) << name;
  }
}

TEST(UnionDirName, IsTheOneOrdinarySubDirectoryThatIsKnown) {
  EXPECT_TRUE(IsUnionDirName("HIVE_UNION_SUBDIR_1"));
  EXPECT_TRUE(IsUnionDirName("HIVE_UNION_SUBDIR_15"));
  for (const std::string name :
       {"HIVE_UNION_SUBDIR_", "HIVE_UNION_SUBDIR_x", "hive_union_subdir_1", "p=1"}) {
    EXPECT_FALSE(IsUnionDirName(name)) << name;
  }
}

TEST(CompactorTempDirName, IsHiddenAndNamesItsTransaction) {
  EXPECT_EQ(CompactorTempDirName(TxnId(17)), ".skep-tmp-17");
  EXPECT_TRUE(IsHiddenName(CompactorTempDirName(TxnId(17))));
  EXPECT_EQ(ParseCompactorTempDirName(".skep-tmp-17"), TxnId(17));
  for (const std::string name : {".skep-tmp-",
                                 ".skep-tmp-x",
                                 ".skep-tmp--1",
                                 ".skep-tmp-9223372036854775808",
                                 "skep-tmp-1"}) {
    EXPECT_EQ(ParseCompactorTempDirName(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace skep::acid

#include "storage/table/writer.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/format/orc/tail.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"
#include "tests/storage/table/acid_files.h"
#include "tests/storage/table/recording_fs.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/listings.h"
#include "tests/testing/status_matchers.h"

namespace skep::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

std::shared_ptr<arrow::RecordBatch> Ids(const std::vector<int32_t>& ids) {
  arrow::Int32Builder id;
  EXPECT_TRUE(id.AppendValues(ids).ok());
  return arrow::RecordBatch::Make(
      format::ArrowSchemaOf(IdColumn()), static_cast<int64_t>(ids.size()), {*id.Finish()});
}

std::shared_ptr<arrow::RecordBatch> IdsWithPartition(
    const std::vector<int32_t>& ids, const std::vector<std::optional<std::string>>& values) {
  std::vector<Column> columns = IdColumn();
  columns.push_back({.name = "p", .type = HiveType{.kind = TypeKind::kString}, .comment = ""});
  arrow::StringBuilder p;
  for (const auto& value : values) EXPECT_TRUE((value ? p.Append(*value) : p.AppendNull()).ok());
  return arrow::RecordBatch::Make(format::ArrowSchemaOf(columns),
                                  static_cast<int64_t>(ids.size()),
                                  {Ids(ids)->column(0), *p.Finish()});
}

table::WriteTarget Target(TestTable& table, int64_t write_id, int32_t statement = 0) {
  table::WriteTarget target;
  target.name = {"default", "t"};
  target.location = table.dir();
  target.schema.columns = IdColumn();
  target.write_id = WriteId(write_id);
  target.statement_id = statement;
  return target;
}

table::WriteTarget PartitionedTarget(TestTable& table, int64_t write_id) {
  table::WriteTarget target = Target(table, write_id);
  target.schema.partition_columns = {
      {.name = "p", .type = HiveType{.kind = TypeKind::kString}, .comment = ""}};
  return target;
}

std::vector<std::string> Tree(TestTable& table) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(table.dir())) {
    paths.push_back(entry.path().string().substr(table.dir().size() + 1));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// P-7: no row of a bucketed table is put into the one bucket that a writer has.
TEST(StatementWriter, OfABucketedTableTakesDeletesOnly) {
  TestTable table;
  table::WriteTarget target = Target(table, 2);
  target.schema.bucketing = {{target.schema.columns[0].name}, 4};
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto insert, table::StatementWriter::Open(table.fs(), target));
    EXPECT_THAT(insert->Insert(Ids({1})), HasReason(ErrorReason::kNotSupported));
  }
  SKEP_ASSERT_OK_AND_ASSIGN(const auto remove, table::StatementWriter::Open(table.fs(), target));
  ASSERT_THAT(remove->Delete("", {{1, 1}, {536870912, 536870912 + (3 << 16)}, {0, 0}}), IsOk());
  ASSERT_THAT(remove->Close(), IsOk());
  EXPECT_THAT(Tree(table),
              ElementsAre("delete_delta_0000002_0000002_0000",
                          "delete_delta_0000002_0000002_0000/_orc_acid_version",
                          "delete_delta_0000002_0000002_0000/bucket_00000",
                          "delete_delta_0000002_0000002_0000/bucket_00003"));
}

TEST(StatementWriter, WritesTheWorkedExampleAsHive3Does) {
  TestTable table;
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto insert,
                              table::StatementWriter::Open(table.fs(), Target(table, 1)));
    ASSERT_THAT(insert->Insert(Ids({1, 2})), IsOk());
    SKEP_ASSERT_OK_AND_ASSIGN(const table::WriteSummary summary, insert->Close());
    EXPECT_EQ(summary.inserted, 2);
    EXPECT_EQ(summary.files, 1);
    EXPECT_THAT(summary.partitions, ElementsAre(""));
  }
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto update,
                              table::StatementWriter::Open(table.fs(), Target(table, 2)));
    ASSERT_THAT(update->Update("", {{1}, {536870912}, {0}}, Ids({100})), IsOk());
    SKEP_ASSERT_OK_AND_ASSIGN(const table::WriteSummary summary, update->Close());
    EXPECT_EQ(summary.inserted, 1);
    EXPECT_EQ(summary.deleted, 1);
  }
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto remove,
                              table::StatementWriter::Open(table.fs(), Target(table, 3)));
    ASSERT_THAT(remove->Delete("", {{1}, {536870912}, {1}}), IsOk());
    ASSERT_THAT(remove->Close(), IsOk());
  }

  EXPECT_THAT(Tree(table),
              ElementsAre("delete_delta_0000002_0000002_0000",
                          "delete_delta_0000002_0000002_0000/_orc_acid_version",
                          "delete_delta_0000002_0000002_0000/bucket_00000",
                          "delete_delta_0000003_0000003_0000",
                          "delete_delta_0000003_0000003_0000/_orc_acid_version",
                          "delete_delta_0000003_0000003_0000/bucket_00000",
                          "delta_0000001_0000001_0000",
                          "delta_0000001_0000001_0000/_orc_acid_version",
                          "delta_0000001_0000001_0000/bucket_00000",
                          "delta_0000002_0000002_0000",
                          "delta_0000002_0000002_0000/_orc_acid_version",
                          "delta_0000002_0000002_0000/bucket_00000"));
  EXPECT_EQ(table.Bytes("delta_0000001_0000001_0000/_orc_acid_version"), "2");
  struct Meta {
    std::string dir;
    std::string stats;
    std::string key_index;
  };
  for (const Meta& meta : {Meta{"delta_0000001_0000001_0000", "2,0,0", "1,536870912,1;"},
                           Meta{"delete_delta_0000002_0000002_0000", "0,0,1", "1,536870912,0;"},
                           Meta{"delta_0000002_0000002_0000", "1,0,0", "2,536870912,0;"},
                           Meta{"delete_delta_0000003_0000003_0000", "0,0,1", "1,536870912,1;"}}) {
    SCOPED_TRACE(meta.dir);
    SKEP_ASSERT_OK_AND_ASSIGN(const auto file,
                              table.fs().OpenForRead(table.Path(meta.dir + "/bucket_00000")));
    SKEP_ASSERT_OK_AND_ASSIGN(const orc::Tail tail, orc::ReadTail(*file, file->size()));
    EXPECT_EQ(tail.user_metadata.at("hive.acid.version"), "2");
    EXPECT_EQ(tail.user_metadata.at("hive.acid.stats"), meta.stats);
    EXPECT_EQ(tail.user_metadata.at("hive.acid.key.index"), meta.key_index);
  }
  EXPECT_THAT(table.Rows("1:::"), IsOkAndHolds(ElementsAre("1/536870912/0=1", "1/536870912/1=2")));
  EXPECT_THAT(table.Rows("2:::"),
              IsOkAndHolds(ElementsAre("1/536870912/1=2", "2/536870912/0=100")));
  EXPECT_THAT(table.Rows("3:::"), IsOkAndHolds(ElementsAre("2/536870912/0=100")));
  EXPECT_THAT(table.Rows("3:2:2:"), IsOkAndHolds(ElementsAre("1/536870912/0=1")));
}

TEST(StatementWriter, NumbersRowsThroughAllBatchesAndNamesTheStatement) {
  TestTable table;
  SKEP_ASSERT_OK_AND_ASSIGN(const auto writer,
                            table::StatementWriter::Open(table.fs(), Target(table, 6, 3)));
  ASSERT_THAT(writer->Insert(Ids({7})), IsOk());
  ASSERT_THAT(writer->Insert(Ids({})), IsOk());
  ASSERT_THAT(writer->Insert(Ids({8, 9})), IsOk());
  ASSERT_THAT(writer->Close(), IsOk());
  EXPECT_THAT(table.Rows("6:::"),
              IsOkAndHolds(ElementsAre("6/536870915/0=7", "6/536870915/1=8", "6/536870915/2=9")));
}

TEST(StatementWriter, LeavesNothingWithoutRows) {
  TestTable table;
  SKEP_ASSERT_OK_AND_ASSIGN(const auto writer,
                            table::StatementWriter::Open(table.fs(), Target(table, 1)));
  ASSERT_THAT(writer->Insert(Ids({})), IsOk());
  ASSERT_THAT(writer->Delete("", {}), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const auto summary, writer->Close());
  EXPECT_EQ(summary.files, 0);
  EXPECT_THAT(summary.partitions, IsEmpty());
  EXPECT_THAT(Tree(table), IsEmpty());
}

TEST(StatementWriter, SortsDeletesIntoTheFilesOfTheirVictims) {
  // W-4, W-6: in any order in, one file per victim's bucket, ascending.
  TestTable table;
  table.AcidFile("delta_0000001_0000001_0000/bucket_00000", {Insert(1, 0, 1), Insert(1, 1, 2)});
  table.AcidFile("delta_0000001_0000001_0000/bucket_00001",
                 {Insert(1, 0, 3, 1), Insert(1, 1, 4, 1)});
  table.AcidFile("delta_0000002_0000002_0001/bucket_00001", {Insert(2, 0, 5, 1, 1)});
  SKEP_ASSERT_OK_AND_ASSIGN(const auto writer,
                            table::StatementWriter::Open(table.fs(), Target(table, 3)));
  const int32_t other = acid::EncodeBucket(1, 1);
  ASSERT_THAT(writer->Delete("", {{2, 1, 1}, {other, 536936448, 536870912}, {0, 1, 1}}), IsOk());
  ASSERT_THAT(writer->Delete("", {{1}, {536936448}, {0}}), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const auto summary, writer->Close());
  EXPECT_EQ(summary.deleted, 4);
  EXPECT_EQ(summary.files, 2);
  EXPECT_THAT(table.Rows("3:::"), IsOkAndHolds(ElementsAre("1/536870912/0=1")));
}

TEST(StatementWriter, RefusesVictimsThatCannotBeOrComeTwice) {
  TestTable table;
  const auto close_after = [&](const table::RowIds& victims) -> absl::Status {
    auto writer = table::StatementWriter::Open(table.fs(), Target(table, 3));
    if (!writer.ok()) return writer.status();
    const absl::Status deleted = (*writer)->Delete("", victims);
    return deleted.ok() ? (*writer)->Close().status() : deleted;
  };
  EXPECT_THAT(close_after({{1, 1}, {536870912, 536870912}, {0, 0}}),
              HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(close_after({{1}, {0x60000000}, {0}}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(close_after({{1}, {536870912}, {-1}}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(close_after({{-1}, {536870912}, {0}}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(close_after({{1, 2}, {536870912}, {0}}), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(Tree(table), IsEmpty());
}

TEST(StatementWriter, SendsRowsToTheirPartitions) {
  TestTable table;
  std::vector<std::vector<std::string>> declared;
  table::WriteTarget target = PartitionedTarget(table, 1);
  target.declare_partitions = [&](const std::vector<std::string>& partitions) {
    for (const std::string& partition : partitions) {
      EXPECT_THAT(Tree(table), Not(Contains(partition))) << "declared after it was made";
    }
    declared.push_back(partitions);
    return absl::OkStatus();
  };
  SKEP_ASSERT_OK_AND_ASSIGN(const auto writer, table::StatementWriter::Open(table.fs(), target));
  ASSERT_THAT(writer->Insert(IdsWithPartition({1, 2, 3}, {"b", "a", "b"})), IsOk());
  ASSERT_THAT(writer->Insert(IdsWithPartition({4, 5, 6}, {"a", std::nullopt, "x/y"})), IsOk());
  ASSERT_THAT(writer->InsertInto("p=c", Ids({7})), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const auto summary, writer->Close());

  EXPECT_THAT(declared,
              ElementsAre(ElementsAre("p=a", "p=b"),
                          ElementsAre("p=__HIVE_DEFAULT_PARTITION__", "p=x%2Fy"),
                          ElementsAre("p=c")));
  EXPECT_THAT(summary.partitions,
              ElementsAre("p=__HIVE_DEFAULT_PARTITION__", "p=a", "p=b", "p=c", "p=x%2Fy"));
  const auto rows = [&](const std::string& partition) {
    auto scan =
        table::Scan::Open(table.fs(), table.Path(partition), WriteIds("1:::"), AllVisible(), {});
    EXPECT_TRUE(scan.ok()) << scan.status().ToString();
    return *AllRows(**scan);
  };
  EXPECT_THAT(rows("p=a"), ElementsAre("1/536870912/0=2", "1/536870912/1=4"));
  EXPECT_THAT(rows("p=b"), ElementsAre("1/536870912/0=1", "1/536870912/1=3"));
  EXPECT_THAT(rows("p=__HIVE_DEFAULT_PARTITION__"), ElementsAre("1/536870912/0=5"));
  EXPECT_THAT(rows("p=x%2Fy"), ElementsAre("1/536870912/0=6"));
  EXPECT_THAT(rows("p=c"), ElementsAre("1/536870912/0=7"));
}

TEST(StatementWriter, RefusesRowsAndPartitionsThatDoNotFit) {
  TestTable table;
  const auto insert = [&](table::WriteTarget target,
                          const std::shared_ptr<arrow::RecordBatch>& rows) -> absl::Status {
    auto writer = table::StatementWriter::Open(table.fs(), std::move(target));
    return writer.ok() ? (*writer)->Insert(rows) : writer.status();
  };
  const auto insert_into = [&](table::WriteTarget target,
                               const std::string& partition) -> absl::Status {
    auto writer = table::StatementWriter::Open(table.fs(), std::move(target));
    return writer.ok() ? (*writer)->InsertInto(partition, Ids({1})) : writer.status();
  };
  EXPECT_THAT(insert(PartitionedTarget(table, 1), Ids({1})),
              HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(insert(Target(table, 1), IdsWithPartition({1}, {"a"})),
              HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(insert(PartitionedTarget(table, 1), IdsWithPartition({1}, {"\xff"})),
              HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(insert(PartitionedTarget(table, 1), IdsWithPartition({1}, {std::string(300, 'x')})),
              HasReason(ErrorReason::kInvalidRequest));
  for (const std::string partition : {"", "p", "q=1", "p=1/q=2", "p=a/../b", "P=1", "p=a:b"}) {
    SCOPED_TRACE(partition);
    EXPECT_THAT(insert_into(PartitionedTarget(table, 1), partition),
                HasReason(ErrorReason::kInvalidRequest));
  }
  EXPECT_THAT(insert_into(Target(table, 1), "p=1"), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(Tree(table), IsEmpty());
}

TEST(StatementWriter, RefusesTablesAndStatementsThatItCannotWrite) {
  struct Case {
    std::string name;
    table::WriteTarget target;
    ErrorReason reason;
    std::string message;
  };
  TestTable table;
  std::vector<Case> cases;
  cases.push_back({"insert-only", Target(table, 1), ErrorReason::kNotSupported, "insert-only"});
  cases.back().target.kind = TableKind::kInsertOnly;
  cases.push_back({"text", Target(table, 1), ErrorReason::kNotSupported, "later release"});
  cases.back().target.format = FileFormat::kText;
  cases.push_back({"external", Target(table, 1), ErrorReason::kOperationNotAllowed, "external"});
  cases.back().target.kind = TableKind::kExternal;
  cases.push_back(
      {"4097th statement", Target(table, 1, 4096), ErrorReason::kOperationNotAllowed, "4096"});
  cases.push_back({"no write id", Target(table, 0), ErrorReason::kInvalidRequest, "write id"});
  cases.push_back({"unknown codec", Target(table, 1), ErrorReason::kInvalidRequest, "brotli"});
  cases.back().target.properties["orc.compress"] = "brotli";
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto writer = table::StatementWriter::Open(table.fs(), c.target);
    EXPECT_THAT(writer, HasReason(c.reason));
    EXPECT_THAT(writer, HasMessage(HasSubstr(c.message)));
  }
  EXPECT_THAT(table::StatementWriter::Open(table.fs(), Target(table, 1, 4095)), IsOk());
}

TEST(StatementWriter, RefusesAStatementIdThatWasUsed) {
  // W-2.
  TestTable table;
  for (const bool first : {true, false}) {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto writer,
                              table::StatementWriter::Open(table.fs(), Target(table, 1)));
    const absl::Status inserted = writer->Insert(Ids({1}));
    if (first) {
      ASSERT_THAT(inserted, IsOk());
      ASSERT_THAT(writer->Close(), IsOk());
    } else {
      EXPECT_THAT(inserted, HasReason(ErrorReason::kAlreadyExists));
    }
  }
  // The refused one has not removed what it did not make.
  EXPECT_THAT(table.Rows("1:::"), IsOkAndHolds(SizeIs(1)));
}

TEST(StatementWriter, MakesEachStepDurableBeforeTheNext) {
  // W-14: data file, its directory, version file, the directories above. A name counts from the
  // sync of its directory that follows.
  TestTable table;
  RecordingFs recording(table.fs(), table.dir());
  SKEP_ASSERT_OK_AND_ASSIGN(const auto writer,
                            table::StatementWriter::Open(recording, PartitionedTarget(table, 1)));
  ASSERT_THAT(writer->Insert(IdsWithPartition({1}, {"a"})), IsOk());
  ASSERT_THAT(writer->Close(), IsOk());

  const std::vector<std::string>& calls = recording.calls();
  const std::string dir = "p=a/delta_0000001_0000001_0000";
  const auto first = [&](const std::string& call) {
    return std::find(calls.begin(), calls.end(), call) - calls.begin();
  };
  const auto last = [&](const std::string& call) {
    return calls.rend() - std::find(calls.rbegin(), calls.rend(), call) - 1;
  };
  const auto renamed = std::find_if(calls.begin(), calls.end(), [&](const std::string& call) {
    return call.starts_with("rename " + dir + "/.") &&
           call.ends_with(" -> " + dir + "/bucket_00000");
  });
  const std::string all = ::testing::PrintToString(calls);
  ASSERT_NE(renamed, calls.end()) << all;
  const std::string temporary = renamed->substr(7, renamed->find(" -> ") - 7);
  const auto data_closed = std::max(last("close " + temporary), last("sync " + temporary));
  const auto data_named = renamed - calls.begin();
  const auto directory_synced =
      std::find(calls.begin() + data_named, calls.end(), "syncdir " + dir) - calls.begin();
  const auto version_created = first("create " + dir + "/_orc_acid_version");
  const auto version_closed = last("close " + dir + "/_orc_acid_version");
  EXPECT_LT(first("mkdir " + dir), data_closed) << all;
  EXPECT_LT(data_closed, data_named) << all;
  EXPECT_LT(data_named, directory_synced) << all;
  EXPECT_LT(directory_synced, version_created) << all;
  EXPECT_LT(version_created, version_closed) << all;
  EXPECT_LT(version_closed, last("syncdir " + dir)) << all;
  EXPECT_LT(last("syncdir " + dir), last("syncdir p=a")) << all;
  EXPECT_LT(last("syncdir p=a"), last("syncdir .")) << all;
  EXPECT_EQ(last("syncdir ."), static_cast<int64_t>(calls.size()) - 1) << all;
}

TEST(StatementWriter, SurvivesACrashAfterClose) {
  TestTable table;
  TempDir attic;
  FaultFs faults(table.fs(), attic.path());
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto writer,
                              table::StatementWriter::Open(faults, Target(table, 1)));
    ASSERT_THAT(writer->Update("", {{1}, {536870912}, {5}}, Ids({100})), IsOk());
    ASSERT_THAT(writer->Close(), IsOk());
    faults.Crash();
  }
  faults.Restart();
  EXPECT_THAT(table.Rows("1:::"), IsOkAndHolds(ElementsAre("1/536870912/0=100")));
  EXPECT_THAT(Tree(table), SizeIs(6));
}

TEST(StatementWriter, ReportsEveryFailureAndRemovesWhatItWrote) {
  TestTable table;
  TempDir attic;
  FaultFs faults(table.fs(), attic.path());
  bool finished = false;
  int nth = 0;
  while (!finished && ++nth < 1000) {
    SCOPED_TRACE(nth);
    faults.FailAnyCall(nth, MakeError(ErrorReason::kStorageUnwritable, "No space left on device"));
    absl::Status status;
    {
      auto writer = table::StatementWriter::Open(faults, PartitionedTarget(table, 1));
      status = writer.status();
      if (status.ok()) status = (*writer)->Insert(IdsWithPartition({1, 2}, {"a", "b"}));
      if (status.ok()) status = (*writer)->Delete("p=a", {{1}, {536870912}, {0}});
      if (status.ok()) status = (*writer)->Close().status();
    }
    finished = !faults.Fired();
    faults.Heal();
    if (finished) {
      EXPECT_THAT(status, IsOk());
    } else {
      EXPECT_THAT(status, HasReason(ErrorReason::kStorageUnwritable));
      for (const std::string& path : Tree(table)) EXPECT_THAT(path, ::testing::AnyOf("p=a", "p=b"));
    }
  }
  EXPECT_TRUE(finished);
  EXPECT_GT(nth, 20);
}

TEST(StatementWriter, RemovesItsDirectoriesWhenItIsDropped) {
  TestTable table;
  table.AcidFile("delta_0000001_0000001_0000/bucket_00000", {Insert(1, 0, 1)});
  {
    SKEP_ASSERT_OK_AND_ASSIGN(const auto writer,
                              table::StatementWriter::Open(table.fs(), Target(table, 2)));
    ASSERT_THAT(writer->Insert(Ids({1})), IsOk());
  }
  EXPECT_THAT(Tree(table),
              UnorderedElementsAre("delta_0000001_0000001_0000",
                                   "delta_0000001_0000001_0000/bucket_00000"));
}

TEST(StatementWriter, TakesOrcOptionsFromTheTable) {
  TestTable table;
  table::WriteTarget target = Target(table, 1);
  target.properties["orc.compress"] = "ZSTD";
  SKEP_ASSERT_OK_AND_ASSIGN(const auto writer, table::StatementWriter::Open(table.fs(), target));
  ASSERT_THAT(writer->Insert(Ids({1})), IsOk());
  ASSERT_THAT(writer->Close(), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto file,
      table.fs().OpenForRead(table.Path("delta_0000001_0000001_0000/bucket_00000")));
  SKEP_ASSERT_OK_AND_ASSIGN(const orc::Tail tail, orc::ReadTail(*file, file->size()));
  EXPECT_EQ(tail.compression, orc::Compression::kZstd);
}

}  // namespace
}  // namespace skep::testing

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "storage/table/sources.h"
#include "tests/storage/table/acid_files.h"
#include "tests/testing/status_matchers.h"

namespace skep::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kDelta[] = "delta_0000002_0000002_0000";
constexpr char kDeleteDelta[] = "delete_delta_0000002_0000002_0000";

table::SourceFile FileIn(TestTable& table, const std::string& dir, int32_t bucket = 0) {
  auto parsed = acid::ParseDirName(dir);
  EXPECT_TRUE(parsed.ok());
  return {.path = table.Path(dir + "/bucket_00000"), .dir = **parsed, .bucket = bucket};
}

absl::Status ReadAll(TestTable& table, const table::SourceFile& file) {
  auto source = table::OpenSource(table.fs(), file, {}, {});
  if (!source.ok()) return source.status();
  while (true) {
    auto batch = (*source)->Next();
    if (!batch.ok()) return batch.status();
    if (*batch == nullptr) return absl::OkStatus();
  }
}

Event With(Event event, int32_t operation) {
  event.operation = operation;
  return event;
}

TEST(OpenSource, RefusesEventsThatDoNotBelong) {
  struct Case {
    std::string name;
    std::string dir;
    std::vector<Event> events;
    ErrorReason reason;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"wrong bucket",
       kDelta,
       {Insert(2, 0, 1), Insert(2, 0, 2, /*bucket=*/1)},
       ErrorReason::kCorruptFile,
       "row 1 is of bucket 1"},
      {"step back in row id",
       kDelta,
       {Insert(2, 1, 1), Insert(2, 0, 2)},
       ErrorReason::kCorruptFile,
       "(2,536870912,0) follows (2,536870912,1)"},
      {"step back in write id",
       kDelta,
       {Insert(2, 0, 1), Insert(1, 7, 2)},
       ErrorReason::kCorruptFile,
       "row 1"},
      {"the same row id twice",
       kDelta,
       {Insert(2, 0, 1), Insert(2, 0, 2)},
       ErrorReason::kCorruptFile,
       "row 1"},
      {"older delete first",
       kDeleteDelta,
       {Delete(1, 0, 2), Delete(1, 0, 3)},
       ErrorReason::kCorruptFile,
       "row 1"},
      {"update event",
       kDelta,
       {With(Insert(2, 0, 1), 1)},
       ErrorReason::kLegacyLayout,
       "operation 1"},
      {"delete in a delta",
       kDelta,
       {With(Insert(2, 0, 1), 2)},
       ErrorReason::kLegacyLayout,
       "operation 2"},
      {"insert in a delete delta",
       kDeleteDelta,
       {With(Delete(1, 0, 2), 0)},
       ErrorReason::kCorruptFile,
       "insert event"},
      {"unknown operation",
       kDeleteDelta,
       {With(Delete(1, 0, 2), 3)},
       ErrorReason::kCorruptFile,
       "operation 3"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    TestTable table;
    table.AcidFile(c.dir + "/bucket_00000", c.events);
    const absl::Status status = ReadAll(table, FileIn(table, c.dir));
    EXPECT_THAT(status, HasReason(c.reason));
    EXPECT_THAT(status, HasMessage(HasSubstr("bucket_00000")));
    EXPECT_THAT(status, HasMessage(HasSubstr(c.message)));
  }
}

TEST(OpenSource, TakesDeletesOfOneRowNewestFirst) {
  // RW-8: ties in compacted delete deltas.
  TestTable table;
  table.AcidFile(std::string(kDeleteDelta) + "/bucket_00000",
                 {Delete(1, 0, 4), Delete(1, 0, 2), Delete(1, 1, 2)});
  EXPECT_THAT(ReadAll(table, FileIn(table, kDeleteDelta)), IsOk());
}

TEST(OpenSource, GivesIdentitiesToPlainRows) {
  TestTable table;
  table.PlainFile("000001_0_copy_1", {7, 8, 9});
  const table::SourceFile file{.path = table.Path("000001_0_copy_1"),
                               .bucket = 1,
                               .synthetic = table::SourceFile::Synthetic{
                                   .write_id = 0, .bucket_property = 536936448, .first_row_id = 4}};
  SKEP_ASSERT_OK_AND_ASSIGN(const auto source, table::OpenSource(table.fs(), file, {}, {}));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto batch, source->Next());
  ASSERT_NE(batch, nullptr);
  EXPECT_THAT(batch->row_id, ElementsAre(4, 5, 6));
  EXPECT_THAT(batch->bucket, ElementsAre(536936448, 536936448, 536936448));
  EXPECT_THAT(batch->original_write_id, ElementsAre(0, 0, 0));
  EXPECT_THAT(batch->current_write_id, ElementsAre(0, 0, 0));
  EXPECT_THAT(batch->operation, ElementsAre(0, 0, 0));
}

TEST(OpenSource, AFileThatIsGoneIsNotAnEmptyOne) {
  // D-14.
  TestTable table;
  table.Directory(kDelta);
  const auto source = table::OpenSource(table.fs(), FileIn(table, kDelta), {}, {});
  EXPECT_THAT(source, HasReason(ErrorReason::kNotEnoughHistory));
  EXPECT_THAT(source, HasMessage(HasSubstr("bucket_00000")));
}

TEST(OpenSource, RefusesAFileThatChangedItsFormat) {
  TestTable table;
  table.PlainFile(std::string(kDelta) + "/bucket_00000", {1});
  EXPECT_THAT(table::OpenSource(table.fs(), FileIn(table, kDelta), {}, {}),
              HasReason(ErrorReason::kCorruptFile));
}

}  // namespace
}  // namespace skep::testing

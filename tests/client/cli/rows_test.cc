// `dump` and `read` on tables that Hive wrote, compared with what Hive reads from them.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "client/cli/exit_codes.h"
#include "client/ddl/create_table.h"
#include "tests/client/cli/world.h"
#include "tests/testing/status_matchers.h"

namespace skep::cli {
namespace {

using client::Ok;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

std::string Case(const std::string& name) {
  const char* given = std::getenv("SKEP_FIXTURES");
  std::filesystem::path root = given == nullptr ? "../shared/fixtures" : given;
  return std::filesystem::absolute(root / "hive-written" / name).string();
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<nlohmann::json> Lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

// Hive's own answer in the form of dump: identity, directory of the partition, row.
std::vector<nlohmann::json> Expected(const std::string& fixture) {
  std::vector<nlohmann::json> rows;
  for (const nlohmann::json& line : Lines(ReadText(fixture + "/expected.jsonl"))) {
    nlohmann::json row = {{"writeid", line["row_id"]["writeid"]},
                          {"bucket", line["row_id"]["bucketid"]},
                          {"rowid", line["row_id"]["rowid"]},
                          {"row", line["row"]}};
    std::string partition;
    const std::string file = line["file"];
    for (size_t begin = 0, end; (end = file.find('/', begin)) != std::string::npos;
         begin = end + 1) {
      if (file.substr(begin, end - begin).find('=') == std::string::npos) break;
      partition = file.substr(0, end);
    }
    if (!partition.empty()) row["partition"] = partition;
    rows.push_back(row);
  }
  return rows;
}

// A server that knows the fixture as a table, everything in it committed.
struct RowsWorld : ToolWorld {
  explicit RowsWorld(const std::string& name) : fixture(Case(name)) {
    if (!std::filesystem::is_directory(fixture)) return;
    there = true;
    absl::StatusOr<ddl::CreateTable> ddl = ddl::ParseCreateTable(ReadText(fixture + "/ddl.sql"));
    EXPECT_THAT(ddl, testing::IsOk());
    table.clear_columns();
    table.set_location(fixture + "/table");
    for (const Column& column : ddl->columns) AddColumn(column, table.add_columns());
    for (const Column& column : ddl->partition_columns)
      AddColumn(column, table.add_partition_columns());
    server.On<v1::GetValidWriteIdsRequest>([](const auto& request, auto& answer) {
      v1::WriteIdList* list = answer.add_lists();
      *list->mutable_table() = request.tables(0);
      list->set_high_watermark(1000);
      return Ok();
    });
    server.On<v1::GetSnapshotRequest>([](const auto&, auto& answer) {
      answer.mutable_txns()->set_high_watermark(1000);
      return Ok();
    });
    server.On<v1::ListPartitionsRequest>([this](const auto&, auto& answer) {
      std::set<std::string> partitions;
      for (const nlohmann::json& row : Expected(fixture)) partitions.insert(row["partition"]);
      for (const std::string& partition : partitions) answer.add_partitions(partition);
      return Ok();
    });
  }
  static void AddColumn(const Column& from, v1::Column* to) {
    to->set_name(from.name);
    to->set_type(from.type.ToString());
  }
  std::string fixture;
  bool there = false;
};

#define SKEP_NEEDS_FIXTURE(world) \
  if (!(world).there) GTEST_SKIP() << "no fixture at " << (world).fixture

TEST(Dump, PrintsWhatHiveReads) {
  for (const char* name : {"4.1.0/a-unbucketed", "3.1.3/a-unbucketed", "4.1.0/b-part-int-date"}) {
    SCOPED_TRACE(name);
    RowsWorld world(name);
    SKEP_NEEDS_FIXTURE(world);
    EXPECT_EQ(
        world.Run(
            {"dump", world.fixture + "/table", "--ddl", world.fixture + "/ddl.sql", "-o", "jsonl"}),
        kDone)
        << world.err;
    std::vector<nlohmann::json> lines = Lines(world.out);
    EXPECT_FALSE(lines.empty());
    EXPECT_THAT(lines, UnorderedElementsAreArray(Expected(world.fixture)));
    EXPECT_TRUE(world.server.seen.empty()) << "dump needs no server";
  }
}

TEST(Dump, StopsAtTheLimitAndTellsWhatItChose) {
  RowsWorld world("4.1.0/a-unbucketed");
  SKEP_NEEDS_FIXTURE(world);
  EXPECT_EQ(world.Run({"dump", world.fixture + "/table", "--limit", "2"}), kDone);
  EXPECT_EQ(Lines(world.out).size(), 2u);
  EXPECT_EQ(world.Run({"dump", world.fixture + "/table", "--stats"}), kDone);
  EXPECT_THAT(world.err, HasSubstr("delta_"));
  EXPECT_THAT(world.err, HasSubstr(" in all\n"));
  EXPECT_EQ(world.Run({"dump", world.fixture + "/table", "--stats", "--limit", "2"}), kDone);
  EXPECT_THAT(world.err, HasSubstr("delta_"));
  EXPECT_THAT(world.err, HasSubstr("2 rows printed: the limit"));
  EXPECT_EQ(world.Run({"dump", world.fixture + "/table", "--json"}), kUsage);
  EXPECT_EQ(world.Run({"dump", world.fixture + "/nothing-here"}), kNotFound);
  EXPECT_EQ(world.Run({"dump", world.fixture + "/table", "--write-ids", "d.t:5:3:9:"}), kFailed);
  EXPECT_THAT(world.err, HasSubstr("INVALID_REQUEST"));
}

TEST(Read, PrintsWhatDumpPrints) {
  for (const char* name : {"4.1.0/a-unbucketed", "4.1.0/b-part-int-date"}) {
    SCOPED_TRACE(name);
    RowsWorld world(name);
    SKEP_NEEDS_FIXTURE(world);
    EXPECT_EQ(world.Run({"read", "d.t", "--row-ids", "-o", "jsonl"}), kDone) << world.err;
    EXPECT_THAT(Lines(world.out), UnorderedElementsAreArray(Expected(world.fixture)));
    EXPECT_EQ(world.server.RequestsOf<v1::OpenTransactionsRequest>().at(0).type(),
              v1::TRANSACTION_TYPE_READ_ONLY);
    EXPECT_EQ(world.server.CallsOf<v1::CommitTransactionRequest>().size(), 1u)
        << "it is not left open";
  }
}

TEST(Read, FiltersChoosesAndStops) {
  RowsWorld world("4.1.0/b-part-int-date");
  SKEP_NEEDS_FIXTURE(world);
  EXPECT_EQ(world.Run({"read", "d.t", "--where", "id = 3", "--columns", "name,d,y"}), kDone)
      << world.err;
  EXPECT_EQ(world.out,
            "name  d           y\n"
            "n3    2024-02-28  2020\n");
  EXPECT_EQ(world.err, "1 row\n");
  EXPECT_EQ(
      world.Run({"read", "d.t/y=2020/d=2024-02-28", "--where", "id BETWEEN 1 AND 3", "-o", "csv"}),
      kDone);
  EXPECT_THAT(world.out, HasSubstr("id,name,y,d\n"));
  EXPECT_THAT(world.out, HasSubstr("3,n3,2020,2024-02-28\n"));
  EXPECT_EQ(
      world.Run(
          {"read", "d.t", "--where", "id = 21", "-o", "csv", "--columns", "id,d", "--no-headers"}),
      kDone);
  EXPECT_EQ(world.out, "21,\n") << "NULL is the empty cell";
  EXPECT_EQ(
      world.Run({"read", "d.t", "--where", "id = 21", "--columns", "id,d", "--no-headers", "-q"}),
      kDone);
  EXPECT_EQ(world.out, "21  NULL\n");
  EXPECT_EQ(world.Run({"read", "d.t", "--limit", "2", "-o", "json"}), kDone);
  EXPECT_EQ(nlohmann::json::parse(world.out).size(), 2u);
  EXPECT_EQ(world.Run({"read", "d.t", "--where", "id < 0", "-o", "json"}), kDone);
  EXPECT_EQ(nlohmann::json::parse(world.out).size(), 0u);
}

TEST(Read, RefusesWhatTheTableLacks) {
  RowsWorld world("4.1.0/a-unbucketed");
  SKEP_NEEDS_FIXTURE(world);
  EXPECT_EQ(world.Run({"read", "d.t", "--columns", "nmae"}), kFailed);
  EXPECT_THAT(world.err, HasSubstr("cannot read: INVALID_REQUEST"));
  EXPECT_EQ(world.server.CallsOf<v1::AbortTransactionsRequest>().size(), 1u)
      << "it is not left open";
  EXPECT_EQ(world.Run({"read", "d.t", "--where", "nmae = 1"}), kFailed);
  EXPECT_EQ(world.Run({"read", "d.t", "--where", "id ="}), kUsage);
  EXPECT_EQ(world.Run({"read", "d.t", "-o", "hive"}), kUsage);
}

}  // namespace
}  // namespace skep::cli

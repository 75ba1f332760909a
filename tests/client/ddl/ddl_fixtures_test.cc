// Every SHOW CREATE TABLE that Hive printed for the fixtures, compared with the rows Hive read from
// them.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "client/ddl/create_table.h"
#include "tests/testing/status_matchers.h"

namespace skep::ddl {
namespace {

namespace stdfs = std::filesystem;

stdfs::path FixtureRoot() {
  const char* given = std::getenv("SKEP_FIXTURES");
  return stdfs::path(given == nullptr ? "../shared/fixtures" : given) / "hive-written";
}

std::string ReadText(const stdfs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> KeysOfFirstRow(const stdfs::path& jsonl) {
  std::ifstream in(jsonl);
  std::string line;
  std::vector<std::string> keys;
  if (!std::getline(in, line)) return keys;
  const auto object = nlohmann::ordered_json::parse(line, nullptr, false);
  for (const auto& item : object["row"].items()) keys.push_back(item.key());
  return keys;
}

size_t PartitionDepth(const stdfs::path& table_dir) {
  size_t depth = 0;
  if (!stdfs::is_directory(table_dir)) return depth;
  for (const auto& entry : stdfs::recursive_directory_iterator(table_dir)) {
    if (!entry.is_directory()) continue;
    std::string relative = stdfs::relative(entry.path(), table_dir).string();
    if (entry.path().filename().string().find('=') == std::string::npos) continue;
    depth =
        std::max(depth, static_cast<size_t>(std::count(relative.begin(), relative.end(), '/')) + 1);
  }
  return depth;
}

TEST(DdlFixtures, AreReadAsHiveMeansThem) {
  if (!stdfs::is_directory(FixtureRoot())) GTEST_SKIP() << "no fixtures at " << FixtureRoot();
  size_t seen = 0;
  size_t compared = 0;
  for (const auto& entry : stdfs::recursive_directory_iterator(FixtureRoot())) {
    if (entry.path().filename() != "ddl.sql") continue;
    SCOPED_TRACE(entry.path().string());
    ++seen;
    absl::StatusOr<CreateTable> table = ParseCreateTable(ReadText(entry.path()));
    ASSERT_THAT(table, testing::IsOk());
    EXPECT_TRUE(table->transactional());
    EXPECT_FALSE(table->external);
    EXPECT_EQ(table->location, "/warehouse/" + table->table);
    const bool insert_only = table->properties.at("transactional_properties") == "insert_only";
    EXPECT_EQ(table->kind(), insert_only ? TableKind::kInsertOnly : TableKind::kFullAcid);
    EXPECT_EQ(table->partition_columns.size(),
              PartitionDepth(entry.path().parent_path() / "table"));

    std::vector<std::string> names;
    for (const Column& column : table->columns) names.push_back(column.name);
    for (const Column& column : table->partition_columns) names.push_back(column.name);
    std::vector<std::string> keys = KeysOfFirstRow(entry.path().parent_path() / "expected.jsonl");
    if (keys.empty()) continue;
    ++compared;
    EXPECT_EQ(names, keys);
  }
  EXPECT_EQ(seen, 166u);
  EXPECT_GT(compared, 100u);
}

}  // namespace
}  // namespace skep::ddl

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "storage/format/orc/reader.h"

// Skips visibly where the fixtures are absent.
#define SKEP_REQUIRE_FIXTURES()        \
  if (!::skep::testing::HasFixtures()) \
  GTEST_SKIP() << "no fixtures at " << ::skep::testing::FixtureRoot()

namespace skep::testing {

std::string FixtureRoot();  // $SKEP_FIXTURES, or ../shared/fixtures
bool HasFixtures();
std::string Fixture(const std::string& relative);

// One JSON value per line of a plain or gzipped file.
std::vector<nlohmann::json> ReadJsonLines(const std::string& path);
std::string ReadFile(const std::string& path);
// Regular files below `dir`, sorted; hidden ones and those that begin with '_' left out.
std::vector<std::string> FilesBelow(const std::string& dir);

absl::StatusOr<std::unique_ptr<orc::Reader>> OpenOrc(const std::string& path,
                                                     const orc::ReaderOptions& options = {});

struct FileRow {
  int32_t operation = 0;
  int64_t original = 0;
  int32_t bucket = 0;
  int64_t row_id = 0;
  int64_t current = 0;
  bool row_is_null = false;
  nlohmann::json row;
};

// All rows of one file through AppendJson; at most `limit`.
absl::StatusOr<std::vector<FileRow>> ReadRows(orc::Reader& reader,
                                              const orc::ReadOptions& options = {},
                                              size_t limit = SIZE_MAX);

// `expected` as the fixtures' READMEs write values (binary as bytes or "base64:", maps as objects
// or lists of key and value, unions as {"tag", "value"} or {"0": value}, decimals as numbers or
// text), `actual` as AppendJson writes them. The text of the first difference, empty if there is
// none.
std::string Difference(const nlohmann::json& expected,
                       const nlohmann::json& actual,
                       const HiveType& type);

}  // namespace skep::testing

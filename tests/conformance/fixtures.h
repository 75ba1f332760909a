#pragma once

// The real table files that tests read, and what must be seen in them.

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <absl/status/statusor.h>
#include <nlohmann/json.hpp>

#include "storage/model/hive_type.h"

namespace skep::testing {

// The folder named by SKEP_FIXTURES, else ../shared/fixtures below the source root; nullopt where
// it is absent.
std::optional<std::string> FixtureRoot();

std::string ReadFile(const std::string& path);  // whole; .gz is unpacked
std::vector<nlohmann::json> ReadJsonLines(const std::string& path);

// (partition path, write id, bucket property, row id)
using RowKey = std::tuple<std::string, int64_t, int64_t, int64_t>;
using RowMap = std::map<RowKey, nlohmann::json>;

// Objects as dump prints them, and as acid-expected holds them. A key that comes twice fails the
// test.
RowMap RowsOfDump(const std::vector<std::string>& lines);
RowMap RowsOfExpected(const std::vector<nlohmann::json>& objects);
// Hive's own answer: {"row_id":…, "file":…, "row":…}; the partition is taken from the file's path.
RowMap RowsOfHive(const std::vector<nlohmann::json>& objects);

// Differences between the rows, at most a few, for people; empty where there are none. Values are
// compared as values of `types` (decimals and timestamps by value, floats by number); columns
// without a type as JSON.
std::string Difference(const RowMap& expected,
                       const RowMap& got,
                       const std::map<std::string, HiveType>& types);

// One line of the result table, which is printed and written to the build directory at the end.
void RecordResult(const std::string& name,
                  const std::string& snapshot,
                  const std::string& rows,
                  const std::string& result);

}  // namespace skep::testing

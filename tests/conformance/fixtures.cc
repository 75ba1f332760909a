#include "tests/conformance/fixtures.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "storage/base/text.h"

namespace skep::testing {
namespace {

using nlohmann::json;

constexpr size_t kShownDifferences = 5;

struct Result {
  std::string name;
  std::string snapshot;
  std::string rows;
  std::string result;
};

// Prints and writes the table after the last test.
class ResultTable : public ::testing::Environment {
 public:
  void Add(Result result) { results_.push_back(std::move(result)); }

  void TearDown() override {
    if (results_.empty()) return;
    size_t name = 0;
    size_t snapshot = 0;
    for (const Result& r : results_) {
      name = std::max(name, r.name.size());
      snapshot = std::max(snapshot, r.snapshot.size());
    }
    std::ofstream file(SKEP_RESULT_FILE);
    for (const Result& r : results_) {
      const std::string line = fmt::format(
          "{:<{}}  {:<{}}  {:>6}  {}\n", r.name, name, r.snapshot, snapshot, r.rows, r.result);
      file << line;
      std::cout << line;
    }
    std::cout << results_.size() << " readings, also in " << SKEP_RESULT_FILE << "\n";
  }

 private:
  std::vector<Result> results_;
};

// Owned by GoogleTest, as every global environment.
ResultTable* const results =
    static_cast<ResultTable*>(::testing::AddGlobalTestEnvironment(new ResultTable));

// "1.50" and "1.5" are one decimal.
std::string WithoutTrailingZeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

bool SameNumber(const json& a, const json& b, TypeKind kind) {
  if (!a.is_number() || !b.is_number()) return a == b;  // "NaN", "Infinity"
  if (kind == TypeKind::kFloat) return a.get<float>() == b.get<float>();
  // Some expectations were printed with 14 significant digits.
  const double x = a.get<double>();
  const double y = b.get<double>();
  return std::abs(x - y) <= 1e-13 * std::max(std::abs(x), std::abs(y));
}

bool SameValue(const json& expected, const json& got, const HiveType& type);

bool SameFields(const json& expected, const json& got, const HiveType& type) {
  if (!expected.is_object() || !got.is_object() || expected.size() != got.size()) return false;
  for (size_t i = 0; i < type.children.size(); ++i) {
    const std::string& name = type.field_names[i];
    if (!expected.contains(name) || !got.contains(name)) return false;
    if (!SameValue(expected[name], got[name], type.children[i])) return false;
  }
  return true;
}

bool SameMap(const json& expected, const json& got, const HiveType& value) {
  if (!expected.is_object() || !got.is_object() || expected.size() != got.size()) return false;
  for (const auto& [key, item] : expected.items()) {
    if (!got.contains(key) || !SameValue(item, got[key], value)) return false;
  }
  return true;
}

// The first answers of Hive 3.1.3 show binary as text.
bool SameBinary(const json& expected, const json& got) {
  return expected == got ||
         (expected.is_string() && got == "base64:" + Base64Encode(expected.get<std::string>()));
}

bool SameValue(const json& expected, const json& got, const HiveType& type) {
  if (expected.is_null() || got.is_null()) return expected.is_null() && got.is_null();
  switch (type.kind) {
    case TypeKind::kDecimal:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      return expected.is_string() && got.is_string() &&
             WithoutTrailingZeros(expected) == WithoutTrailingZeros(got);
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return SameNumber(expected, got, type.kind);
    case TypeKind::kBinary:
      return SameBinary(expected, got);
    case TypeKind::kStruct:
      return SameFields(expected, got, type);
    case TypeKind::kMap:
      return SameMap(expected, got, type.children[1]);
    case TypeKind::kList: {
      if (!expected.is_array() || !got.is_array() || expected.size() != got.size()) return false;
      for (size_t i = 0; i < expected.size(); ++i) {
        if (!SameValue(expected[i], got[i], type.children[0])) return false;
      }
      return true;
    }
    default:
      return expected == got;
  }
}

bool SameRow(const json& expected, const json& got, const std::map<std::string, HiveType>& types) {
  if (expected.size() != got.size()) return false;
  for (const auto& [name, value] : expected.items()) {
    if (!got.contains(name)) return false;
    const auto type = types.find(name);
    const bool same =
        type == types.end() ? value == got[name] : SameValue(value, got[name], type->second);
    if (!same) return false;
  }
  return true;
}

std::string Show(const RowKey& key) {
  const auto& [partition, write_id, bucket, row_id] = key;
  return fmt::format(
      "{}({},{},{})", partition.empty() ? "" : partition + " ", write_id, bucket, row_id);
}

void Put(RowMap* rows, RowKey key, json row) {
  const std::string shown = Show(key);
  EXPECT_TRUE(rows->emplace(std::move(key), std::move(row)).second) << shown << " comes twice";
}

std::string Unpack(const std::string& path) {
  std::string bytes;
  gzFile file = gzopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  if (file == nullptr) return bytes;
  char buffer[65536];
  int got = 0;
  while ((got = gzread(file, buffer, sizeof(buffer))) > 0)
    bytes.append(buffer, static_cast<size_t>(got));
  EXPECT_EQ(got, 0) << path;
  gzclose(file);
  return bytes;
}

}  // namespace

std::optional<std::string> FixtureRoot() {
  const char* named = std::getenv("SKEP_FIXTURES");
  const std::string root = named != nullptr ? named : "../shared/fixtures";
  std::error_code error;
  const auto absolute = std::filesystem::canonical(root, error);
  if (error) return std::nullopt;
  return absolute.string();
}

std::string ReadFile(const std::string& path) {
  if (path.ends_with(".gz")) return Unpack(path);
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<json> ReadJsonLines(const std::string& path) {
  std::vector<json> objects;
  const std::string text = ReadFile(path);
  for (const std::string_view line : SplitText(text, '\n')) {
    if (line.empty()) continue;
    objects.push_back(json::parse(line, nullptr, /*allow_exceptions=*/false));
    EXPECT_FALSE(objects.back().is_discarded()) << path << ": " << line;
  }
  return objects;
}

RowMap RowsOfDump(const std::vector<std::string>& lines) {
  RowMap rows;
  for (const std::string& line : lines) {
    const json object = json::parse(line, nullptr, /*allow_exceptions=*/false);
    EXPECT_FALSE(object.is_discarded()) << line;
    if (object.is_discarded()) continue;
    Put(&rows,
        {object.value("partition", ""), object["writeid"], object["bucket"], object["rowid"]},
        object["row"]);
  }
  return rows;
}

RowMap RowsOfExpected(const std::vector<json>& objects) {
  RowMap rows;
  for (const json& object : objects) {
    Put(&rows, {"", object["writeid"], object["bucket"], object["rowid"]}, object["row"]);
  }
  return rows;
}

RowMap RowsOfHive(const std::vector<json>& objects) {
  RowMap rows;
  for (const json& object : objects) {
    std::string partition;
    const std::string file = object["file"];
    for (const std::string_view part : SplitText(file, '/')) {
      if (part.find('=') == std::string_view::npos) break;
      if (!partition.empty()) partition += "/";
      partition += part;
    }
    const json& id = object["row_id"];
    Put(&rows, {partition, id["writeid"], id["bucketid"], id["rowid"]}, object["row"]);
  }
  return rows;
}

std::string Difference(const RowMap& expected,
                       const RowMap& got,
                       const std::map<std::string, HiveType>& types) {
  std::vector<std::string> lines;
  for (const auto& [key, row] : expected) {
    const auto found = got.find(key);
    if (found == got.end()) {
      lines.push_back(Show(key) + " is missing: " + row.dump());
    } else if (!SameRow(row, found->second, types)) {
      lines.push_back(Show(key) + " should be " + row.dump() + "\n    and is " +
                      found->second.dump());
    }
  }
  for (const auto& [key, row] : got) {
    if (!expected.contains(key)) lines.push_back(Show(key) + " is too much: " + row.dump());
  }
  std::string text;
  for (size_t i = 0; i < lines.size() && i < kShownDifferences; ++i) text += "  " + lines[i] + "\n";
  if (lines.size() > kShownDifferences) text += fmt::format("  … {} in all\n", lines.size());
  return text;
}

void RecordResult(const std::string& name,
                  const std::string& snapshot,
                  const std::string& rows,
                  const std::string& result) {
  results->Add({name, snapshot, rows, result});
}

}  // namespace skep::testing

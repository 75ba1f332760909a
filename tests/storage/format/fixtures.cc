#include "tests/storage/format/fixtures.h"

#include <stdlib.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/vocabulary.h"
#include "storage/fs/posix_file_system.h"

namespace skep::testing {

using nlohmann::json;

std::string FixtureRoot() {
  const char* root = ::getenv("SKEP_FIXTURES");
  return root != nullptr && *root != '\0' ? root : "../shared/fixtures";
}

bool HasFixtures() { return std::filesystem::exists(FixtureRoot() + "/orc-tails.jsonl"); }

std::string Fixture(const std::string& relative) {
  return std::filesystem::absolute(FixtureRoot() + "/" + relative).lexically_normal().string();
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<json> ReadJsonLines(const std::string& path) {
  std::string text;
  if (gzFile file = gzopen(path.c_str(), "rb"); file != nullptr) {  // reads plain files, too
    std::vector<char> buffer(1 << 20);
    for (int n = 0; (n = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0;) {
      text.append(buffer.data(), static_cast<size_t>(n));
    }
    gzclose(file);
  }
  std::vector<json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(json::parse(line));
  }
  return lines;
}

std::vector<std::string> FilesBelow(const std::string& dir) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name[0] != '_' && name[0] != '.')
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<std::unique_ptr<orc::Reader>> OpenOrc(const std::string& path,
                                                     const orc::ReaderOptions& options) {
  fs::PosixFileSystem fs;
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<fs::RandomAccessFile> file, fs.OpenForRead(path));
  return orc::OpenReader(std::move(file), options);
}

absl::StatusOr<std::vector<FileRow>> ReadRows(orc::Reader& reader,
                                              const orc::ReadOptions& options,
                                              size_t limit) {
  std::vector<FileRow> rows;
  SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<orc::BatchStream> stream, reader.Read(options));
  while (rows.size() < limit) {
    SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<orc::Batch> batch, stream->Next());
    if (batch == nullptr) break;
    for (int64_t i = 0; i < batch->length && rows.size() < limit; ++i) {
      FileRow& row = rows.emplace_back();
      const auto at = static_cast<size_t>(i);
      if (reader.is_acid()) {
        row.operation = batch->operation[at];
        row.original = batch->original_write_id[at];
        row.bucket = batch->bucket[at];
        row.row_id = batch->row_id[at];
        row.current = batch->current_write_id[at];
        row.row_is_null = batch->row_struct_validity->IsNull(i);
      }
      std::string text = "{";
      for (int c = 0; c < batch->rows->num_columns(); ++c) {
        const std::string& name = batch->rows->schema()->field(c)->name();
        const auto column = std::find_if(
            reader.columns().begin(), reader.columns().end(), [&](const Column& candidate) {
              return candidate.name == name;
            });
        if (c > 0) text += ",";
        text += json(name).dump() + ":";
        format::AppendJson(*batch->rows->column(c), i, column->type, &text);
      }
      row.row = json::parse(text + "}");
    }
  }
  return rows;
}

namespace {

std::string Mismatch(const json& expected, const json& actual) {
  return "expected " + expected.dump().substr(0, 200) + ", got " + actual.dump().substr(0, 200);
}

std::string NormalDecimal(const json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

// Numbers may have gone through a double on their way into the fixture.
bool SameDecimal(const json& expected, const json& actual) {
  if (expected.is_number())
    return std::fabs(expected.get<double>() - std::stod(actual.get<std::string>())) <=
           std::fabs(expected.get<double>()) * 1e-14;
  return NormalDecimal(expected) == NormalDecimal(actual);
}

bool SameFloat(const json& expected, const json& actual, bool single) {
  if (!expected.is_number() || !actual.is_number()) return expected == actual;
  const double a = expected.get<double>(), b = actual.get<double>();
  return a == b || std::fabs(a - b) <= std::fabs(a) * (single ? 1e-6 : 1e-14);
}

std::string NormalTimestamp(const json& value) {
  std::string text = value.get<std::string>();
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::string NormalBinary(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string bytes;
  for (const json& byte : value) bytes.push_back(static_cast<char>(byte.get<int>()));
  return "base64:" + Base64Encode(bytes);
}

std::string DifferentMap(const json& expected, const json& actual, const HiveType& type) {
  if (actual.size() != expected.size()) return Mismatch(expected, actual);
  const auto compare = [&](const std::string& key, const json& value) {
    return actual.contains(key) ? Difference(value, actual[key], type.children[1])
                                : "no key " + key;
  };
  for (const auto& item : expected.items()) {
    std::string found;
    if (expected.is_object()) {
      found = compare(item.key(), item.value());
    } else {
      const json& key = item.value()["key"];
      found = compare(key.is_string() ? key.get<std::string>() : key.dump(), item.value()["value"]);
    }
    if (!found.empty()) return found;
  }
  return "";
}

std::string DifferentStruct(const json& expected, const json& actual, const HiveType& type) {
  if (expected.size() != actual.size()) return Mismatch(expected, actual);
  for (const auto& item : expected.items()) {
    const std::string name = AsciiLower(item.key());
    const auto at = std::find(type.field_names.begin(), type.field_names.end(), name);
    if (at == type.field_names.end() || !actual.contains(name)) return "no field " + name;
    const auto child = static_cast<size_t>(at - type.field_names.begin());
    if (std::string found = Difference(item.value(), actual[name], type.children[child]);
        !found.empty()) {
      return name + ": " + found;
    }
  }
  return "";
}

std::string DifferentUnion(const json& expected, const json& actual, const HiveType& type) {
  const bool tagged = expected.contains("tag");
  const std::string tag =
      tagged ? std::to_string(expected["tag"].get<int>()) : expected.begin().key();
  if (!actual.contains(tag)) return Mismatch(expected, actual);
  return Difference(tagged ? expected["value"] : expected[tag],
                    actual[tag],
                    type.children[static_cast<size_t>(std::stoi(tag))]);
}

bool SameScalar(const json& expected, const json& actual, const HiveType& type) {
  switch (type.kind) {
    case TypeKind::kDecimal:
      return SameDecimal(expected, actual);
    case TypeKind::kFloat:
      return SameFloat(expected, actual, true);
    case TypeKind::kDouble:
      return SameFloat(expected, actual, false);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      return NormalTimestamp(expected) == NormalTimestamp(actual);
    case TypeKind::kBinary:
      return NormalBinary(expected) == actual.get<std::string>();
    default:
      return expected == actual;
  }
}

}  // namespace

std::string Difference(const json& expected, const json& actual, const HiveType& type) {
  if (expected.is_null() || actual.is_null()) {
    return expected == actual ? "" : Mismatch(expected, actual);
  }
  switch (type.kind) {
    case TypeKind::kList: {
      if (expected.size() != actual.size()) return Mismatch(expected, actual);
      for (size_t i = 0; i < expected.size(); ++i) {
        std::string found = Difference(expected[i], actual[i], type.children[0]);
        if (!found.empty()) return "[" + std::to_string(i) + "] " + found;
      }
      return "";
    }
    case TypeKind::kMap:
      return DifferentMap(expected, actual, type);
    case TypeKind::kStruct:
      return DifferentStruct(expected, actual, type);
    case TypeKind::kUnion:
      return DifferentUnion(expected, actual, type);
    default:
      return SameScalar(expected, actual, type) ? "" : Mismatch(expected, actual);
  }
}

}  // namespace skep::testing

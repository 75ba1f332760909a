#include "storage/model/names.h"

#include <cctype>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/model/quote.h"

namespace skep {

namespace {

constexpr size_t kMaxNameLength = 128;
constexpr char kUpperHex[] = "0123456789ABCDEF";

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

absl::StatusOr<std::string> CheckedName(std::string_view what, std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    return MakeError(ErrorReason::kInvalidRequest,
                     fmt::format("{} name '{}' {}: use 1 to {} letters, digits and underscores",
                                 what,
                                 Quoted(name, 2 * kMaxNameLength),
                                 why,
                                 kMaxNameLength),
                     {{"field", std::string(what)}, {"name", std::string(name)}});
  };
  if (name.empty()) return refuse("is empty");
  if (name.size() > kMaxNameLength) return refuse(fmt::format("has {} bytes", name.size()));
  for (size_t i = 0; i < name.size(); ++i) {
    if (!IsNameCharacter(name[i]))
      return refuse(fmt::format("has the character '{}'", QuotedCharacter(name, i)));
  }
  return AsciiLower(name);
}

bool NeedsEscape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte == 0x7F) return true;
  constexpr std::string_view kSpecial = "\"#%'*/:=?\\{[]^";
  return kSpecial.find(c) != std::string_view::npos;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

absl::Status RefusePartition(std::string_view text, std::string_view why) {
  return MakeError(
      ErrorReason::kInvalidRequest,
      fmt::format(
          "partition '{}' {}: write it as k1=v1/k2=v2", Quoted(text, 2 * kMaxNameLength), why),
      {{"field", "partition"}, {"partition", std::string(text)}});
}

}  // namespace

absl::StatusOr<TableName> MakeTableName(std::string_view database, std::string_view table) {
  TableName name;
  SKEP_ASSIGN_OR_RETURN(name.database, CheckedName("database", database));
  SKEP_ASSIGN_OR_RETURN(name.table, CheckedName("table", table));
  return name;
}

absl::StatusOr<TableName> ParseTableName(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos || text.find('.', dot + 1) != std::string_view::npos) {
    return MakeError(ErrorReason::kInvalidRequest,
                     fmt::format("'{}' is not a table name: write DATABASE.TABLE",
                                 Quoted(text, 2 * kMaxNameLength)),
                     {{"field", "table"}, {"name", std::string(text)}});
  }
  return MakeTableName(text.substr(0, dot), text.substr(dot + 1));
}

absl::StatusOr<std::string> MakeDatabaseName(std::string_view database) {
  return CheckedName("database", database);
}

std::string EscapePathComponent(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (NeedsEscape(c)) {
      const auto byte = static_cast<unsigned char>(c);
      escaped += '%';
      escaped += kUpperHex[byte >> 4];
      escaped += kUpperHex[byte & 0xF];
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string UnescapePathComponent(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexValue(text[i + 1]);
      const int low = HexValue(text[i + 2]);
      if (high >= 0 && low >= 0) {
        plain += static_cast<char>(high << 4 | low);
        i += 2;
        continue;
      }
    }
    plain += text[i];
  }
  return plain;
}

std::string FormatPartition(const PartitionSpec& spec) {
  std::string path;
  for (const auto& [column, value] : spec.values) {
    if (!path.empty()) path += '/';
    path += EscapePathComponent(column);
    path += '=';
    const bool is_null = !value.has_value() || value->empty();
    path += is_null ? std::string(kDefaultPartitionValue) : EscapePathComponent(*value);
  }
  return path;
}

absl::StatusOr<PartitionSpec> ParsePartition(std::string_view text) {
  PartitionSpec spec;
  if (text.empty()) return spec;
  if (!IsValidUtf8(text)) return RefusePartition(text, "is not valid UTF-8");
  for (const std::string_view component : SplitText(text, '/')) {
    const size_t equals = component.find('=');
    if (equals == std::string_view::npos) return RefusePartition(text, "has a part without '='");
    std::string column = AsciiLower(UnescapePathComponent(component.substr(0, equals)));
    if (column.empty()) return RefusePartition(text, "has an empty column name");
    std::string value = UnescapePathComponent(component.substr(equals + 1));
    if (value.find('\0') != std::string::npos) return RefusePartition(text, "has a NUL character");
    for (const auto& [seen, unused] : spec.values) {
      if (seen == column)
        return RefusePartition(text, fmt::format("names column '{}' twice", column));
    }
    if (value.empty() || value == kDefaultPartitionValue) {
      spec.values.emplace_back(std::move(column), std::nullopt);
    } else {
      spec.values.emplace_back(std::move(column), std::move(value));
    }
  }
  return spec;
}

}  // namespace skep

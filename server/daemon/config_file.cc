#include "server/daemon/config_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

namespace skep::daemon {
namespace {

std::string PlaceOf(const std::string& path, const toml::source_region& source) {
  return fmt::format("{}:{}:{}", path, source.begin.line, source.begin.column);
}

RawValue ReadValue(const toml::node& node) {
  if (const auto* text = node.as_string()) return {RawValue::Type::kText, {text->get()}};
  if (const auto* number = node.as_integer())
    return {RawValue::Type::kInteger, {std::to_string(number->get())}};
  if (const auto* number = node.as_floating_point()) {
    return {RawValue::Type::kFloat, {fmt::format("{}", number->get())}};
  }
  if (const auto* flag = node.as_boolean())
    return {RawValue::Type::kBoolean, {flag->get() ? "true" : "false"}};
  RawValue value{RawValue::Type::kOther, {}};
  const auto* array = node.as_array();
  if (array == nullptr) return value;
  value.type = RawValue::Type::kList;
  for (const toml::node& item : *array) {
    const auto* text = item.as_string();
    if (text == nullptr) return {RawValue::Type::kOther, {}};
    value.items.push_back(text->get());
  }
  return value;
}

void ReadTable(const std::string& path,
               const std::string& prefix,
               const toml::table& table,
               FileContent* content) {
  for (const auto& [name, node] : table) {
    const std::string key = prefix + std::string(name.str());
    if (const auto* inner = node.as_table()) {
      ReadTable(path, key + ".", *inner, content);
    } else {
      content->entries.push_back({key, ReadValue(node), PlaceOf(path, node.source())});
    }
  }
}

}  // namespace

FileContent ReadConfigFile(const std::string& path) {
  FileContent content;
  try {  // toml++ throws: it stops here
    ReadTable(path, "", toml::parse_file(path), &content);
  } catch (const toml::parse_error& error) {
    const bool placed = error.source().begin.line > 0;
    content.problems.push_back(
        fmt::format("{}: {}", placed ? PlaceOf(path, error.source()) : path, error.description()));
  }
  return content;
}

}  // namespace skep::daemon

#include "client/cli/reply.h"

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

const Json* Find(const Json& object, std::string_view field) {
  if (!object.is_object()) return nullptr;
  auto found = object.find(std::string(field));
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

absl::StatusOr<Json> ParseReply(const std::string& text) {
  Json reply = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!reply.is_object()) return MakeError(ErrorReason::kInternal, "a reply is not a JSON object");
  return reply;
}

std::string Text(const Json& object, std::string_view field) {
  const Json* value = Find(object, field);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

int64_t Number(const Json& object, std::string_view field) {
  const Json* value = Find(object, field);
  if (value == nullptr) return 0;
  if (value->is_number_integer()) return value->get<int64_t>();
  if (value->is_string()) return ParseInt64(value->get<std::string>()).value_or(0);
  return 0;
}

bool Flag(const Json& object, std::string_view field) {
  const Json* value = Find(object, field);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

const Json& Object(const Json& object, std::string_view field) {
  static const Json kNothing = Json::object();
  const Json* value = Find(object, field);
  return value != nullptr && value->is_object() ? *value : kNothing;
}

const Json& List(const Json& object, std::string_view field) {
  static const Json kNothing = Json::array();
  const Json* value = Find(object, field);
  return value != nullptr && value->is_array() ? *value : kNothing;
}

std::optional<Timestamp> Time(const Json& object, std::string_view field) {
  std::optional<Timestamp> time = ParseRfc3339(Text(object, field));
  // The epoch stands for "not set" where a server sends it.
  if (time.has_value() && time->time_since_epoch().count() == 0) return std::nullopt;
  return time;
}

std::optional<std::chrono::milliseconds> Span(const Json& object, std::string_view field) {
  return ParseProtoSpan(Text(object, field));
}

std::string Enum(const Json& object, std::string_view field, std::string_view prefix) {
  std::string word = Text(object, field);
  if (word.rfind(prefix, 0) == 0) word.erase(0, prefix.size());
  return word == "UNSPECIFIED" ? "" : word;
}

std::string TableOf(const Json& name) {
  const std::string table = Text(name, "table");
  return table.empty() ? Text(name, "database") : Text(name, "database") + "." + table;
}

std::string ResourceOf(const Json& resource) {
  const std::string partition = Text(resource, "partition");
  return partition.empty() ? TableOf(resource) : TableOf(resource) + "/" + partition;
}

std::string JoinedTexts(const Json& list, std::string_view separator) {
  std::vector<std::string> texts;
  for (const Json& item : list) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return JoinText(texts, separator);
}

std::string IdOrNothing(int64_t id) { return id == 0 ? "" : std::to_string(id); }

std::string TimeCells::Show(const Json& object, std::string_view field) const {
  std::optional<Timestamp> time = Time(object, field);
  if (!time.has_value()) return "";
  return output_ == Output::kTable ? FormatAge(*time, now_) : Full(*time);
}

std::string TimeCells::ShowDue(const Json& object, std::string_view field) const {
  std::optional<Timestamp> time = Time(object, field);
  if (!time.has_value()) return "";
  return output_ == Output::kTable ? FormatDue(*time, now_) : Full(*time);
}

std::string TimeCells::ShowBytes(int64_t bytes) const {
  return for_programs() ? std::to_string(bytes) : FormatBytes(bytes);
}

std::string TimeCells::Full(Timestamp time) const {
  return for_programs() ? FormatRfc3339(time) : FormatTime(time, zone_);
}

}  // namespace skep::cli

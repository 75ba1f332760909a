// Partition values, which are text in a directory's name, as typed JSON.

#include "storage/base/text.h"
#include "storage/format/json_text.h"
#include "storage/format/literal.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"

namespace skep::format {

namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(text, &out);
  return out;
}

std::string Padded(std::string_view text, int32_t length) {
  std::string out(CharacterPrefix(text, length));
  const int64_t characters = CharacterCount(out);
  if (characters < length) out.append(static_cast<size_t>(length - characters), ' ');
  return out;
}

std::string JsonOf(const Literal& literal, std::string_view text, const HiveType& type) {
  std::string out;
  switch (type.kind) {
    case TypeKind::kBoolean:
      return std::get<bool>(literal) ? "true" : "false";
    case TypeKind::kFloat:
      AppendJsonFloat(static_cast<float>(std::get<double>(literal)), &out);
      return out;
    case TypeKind::kDouble:
      AppendJsonDouble(std::get<double>(literal), &out);
      return out;
    case TypeKind::kChar:
      return Quoted(Padded(text, type.length));
    case TypeKind::kVarchar:
      return Quoted(CharacterPrefix(text, type.length));
    case TypeKind::kBinary:
      return Quoted("base64:" + Base64Encode(text));
    case TypeKind::kDate:
      AppendDate(std::get<DateLiteral>(literal).days, &out);
      return Quoted(out);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      AppendTimestamp(std::get<WallTime>(literal), &out);
      return Quoted(out);
    case TypeKind::kDecimal:
      return Quoted(
          DecimalText(std::get<DecimalLiteral>(literal).floor.ToIntegerString(), type.scale));
    case TypeKind::kString:
      return Quoted(text);
    default:
      return std::to_string(std::get<int64_t>(literal));
  }
}

}  // namespace

absl::StatusOr<std::string> PartitionValueJson(const std::optional<std::string>& value,
                                               const HiveType& type) {
  if (!value) return std::string("null");
  const std::optional<Literal> literal = ParseLiteral(*value, type);
  const auto* decimal = literal ? std::get_if<DecimalLiteral>(&*literal) : nullptr;
  if (!literal || (decimal != nullptr && decimal->above)) {
    return MakeError(ErrorReason::kInvalidRequest,
                     "partition value \"" + Printable(*value) + "\" is no " + type.ToString(),
                     {{"field", "partition"}});
  }
  return JsonOf(*literal, *value, type);
}

}  // namespace skep::format

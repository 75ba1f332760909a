#include "storage/table/partition_values.h"

#include <utility>

#include <arrow/api.h>
#include <arrow/util/decimal.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/temporal.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"
#include "storage/model/names.h"
#include "storage/table/source_errors.h"

namespace skep::table {
namespace {

using ArrayOr = absl::StatusOr<std::shared_ptr<arrow::Array>>;

absl::Status NotOfType(const PartitionValue& value) {
  return MakeError(ErrorReason::kInvalidRequest,
                   fmt::format("partition value `{}` of column `{}` is not a {}",
                               Printable(value.text.value_or("")),
                               value.column.name,
                               value.column.type.ToString()),
                   {{"field", "partition"}, {"column", value.column.name}});
}

absl::Status CannotPartition(const HiveType& type, std::string_view column) {
  return MakeError(
      ErrorReason::kNotSupported,
      fmt::format("a {} column cannot partition a table here (`{}`)", type.ToString(), column),
      {{"what", "partition column type"}, {"column", std::string(column)}});
}

ArrayOr FromArrow(arrow::Result<std::shared_ptr<arrow::Array>> result) {
  if (!result.ok()) return MakeError(ErrorReason::kInternal, result.status().ToString());
  return *std::move(result);
}

ArrayOr Repeat(const std::shared_ptr<arrow::Scalar>& scalar, int64_t length) {
  return FromArrow(arrow::MakeArrayFromScalar(*scalar, length));
}

ArrayOr RepeatInteger(const PartitionValue& value,
                      const std::shared_ptr<arrow::DataType>& type,
                      int64_t length) {
  const auto number = ParseInt64(*value.text);
  if (!number) return NotOfType(value);
  const auto wide = arrow::MakeScalar(*number);
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;
  switch (value.column.type.kind) {
    case TypeKind::kTinyint:
      low = INT8_MIN, high = INT8_MAX;
      break;
    case TypeKind::kSmallint:
      low = INT16_MIN, high = INT16_MAX;
      break;
    case TypeKind::kInt:
      low = INT32_MIN, high = INT32_MAX;
      break;
    default:
      break;
  }
  if (*number < low || *number > high) return NotOfType(value);
  auto scalar = arrow::MakeScalar(type, *number);
  if (!scalar.ok()) return MakeError(ErrorReason::kInternal, scalar.status().ToString());
  return Repeat(*scalar, length);
}

ArrayOr RepeatDecimal(const PartitionValue& value,
                      const std::shared_ptr<arrow::DataType>& type,
                      int64_t length) {
  arrow::Decimal128 number;
  int32_t precision = 0;
  int32_t scale = 0;
  if (!arrow::Decimal128::FromString(*value.text, &number, &precision, &scale).ok()) {
    return NotOfType(value);
  }
  const auto rescaled = number.Rescale(scale, value.column.type.scale);
  if (!rescaled.ok() || !rescaled->FitsInPrecision(value.column.type.precision)) {
    return NotOfType(value);
  }
  return Repeat(std::make_shared<arrow::Decimal128Scalar>(*rescaled, type), length);
}

ArrayOr RepeatTimestamp(const PartitionValue& value,
                        const std::shared_ptr<arrow::DataType>& type,
                        int64_t length) {
  const auto instant = format::ParseTimestamp(*value.text);
  if (!instant) return NotOfType(value);
  const auto& extension = static_cast<const arrow::ExtensionType&>(*type);
  const auto& storage = extension.storage_type();
  SKEP_ASSIGN_OR_RETURN(
      auto us,
      Repeat(std::make_shared<arrow::TimestampScalar>(instant->us, storage->field(0)->type()),
             length));
  SKEP_ASSIGN_OR_RETURN(auto sub, Repeat(arrow::MakeScalar(instant->sub), length));
  auto parts = arrow::StructArray::Make({std::move(us), std::move(sub)}, storage->fields());
  if (!parts.ok()) return MakeError(ErrorReason::kInternal, parts.status().ToString());
  return arrow::ExtensionType::WrapArray(type, *parts);
}

// char(n): the directory's text is padded already where Hive wrote it; pad what others wrote.
std::string Padded(std::string text, const HiveType& type) {
  if (type.kind != TypeKind::kChar) return text;
  int32_t characters = 0;
  for (const char byte : text) characters += (byte & 0xC0) != 0x80;
  if (characters < type.length) text.append(static_cast<size_t>(type.length - characters), ' ');
  return text;
}

}  // namespace

absl::StatusOr<std::vector<PartitionValue>> PartitionValuesOf(const std::string& name,
                                                              const std::vector<Column>& columns) {
  SKEP_ASSIGN_OR_RETURN(const PartitionSpec spec, ParsePartition(name));
  if (spec.values.size() != columns.size()) {
    return MalformedError(name,
                          fmt::format("names {} partition column(s) where the table has {}",
                                      spec.values.size(),
                                      columns.size()));
  }
  std::vector<PartitionValue> values;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (spec.values[i].first != columns[i].name) {
      return MalformedError(name,
                            fmt::format("names the column `{}` where the table's partition column "
                                        "is `{}`",
                                        Printable(spec.values[i].first),
                                        columns[i].name));
    }
    values.push_back({columns[i], spec.values[i].second});
  }
  return values;
}

ArrayOr RepeatPartitionValue(const PartitionValue& value, int64_t length) {
  const std::shared_ptr<arrow::DataType> type = format::ArrowTypeOf(value.column.type);
  if (!value.text) return FromArrow(arrow::MakeArrayOfNull(type, length));
  switch (value.column.type.kind) {
    case TypeKind::kBoolean:
      if (AsciiEqualsIgnoreCase(*value.text, "true"))
        return Repeat(arrow::MakeScalar(true), length);
      if (AsciiEqualsIgnoreCase(*value.text, "false"))
        return Repeat(arrow::MakeScalar(false), length);
      return NotOfType(value);
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
      return RepeatInteger(value, type, length);
    case TypeKind::kString:
    case TypeKind::kVarchar:
    case TypeKind::kChar:
      return Repeat(std::make_shared<arrow::StringScalar>(Padded(*value.text, value.column.type)),
                    length);
    case TypeKind::kDate: {
      const auto day = format::ParseDate(*value.text);
      if (!day) return NotOfType(value);
      return Repeat(std::make_shared<arrow::Date32Scalar>(*day), length);
    }
    case TypeKind::kDecimal:
      return RepeatDecimal(value, type, length);
    case TypeKind::kTimestamp:
      return RepeatTimestamp(value, type, length);
    default:
      return CannotPartition(value.column.type, value.column.name);
  }
}

absl::StatusOr<std::optional<std::string>> PartitionText(const arrow::Array& array,
                                                         int64_t index,
                                                         const HiveType& type) {
  if (array.IsNull(index)) return std::nullopt;
  switch (type.kind) {
    case TypeKind::kString:
    case TypeKind::kVarchar:
    case TypeKind::kChar:
      return std::optional(
          std::string(static_cast<const arrow::StringArray&>(array).GetView(index)));
    case TypeKind::kBoolean:
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kDate:
    case TypeKind::kDecimal:
    case TypeKind::kTimestamp: {
      // The JSON form of these is Hive's text, in quotes or not.
      std::string json;
      format::AppendJson(array, index, type, &json);
      if (json.size() >= 2 && json.front() == '"') json = json.substr(1, json.size() - 2);
      return std::optional(std::move(json));
    }
    default:
      return CannotPartition(type, "");
  }
}

}  // namespace skep::table

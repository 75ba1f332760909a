// Types of the vocabulary: between HiveType and Arrow's.

#include <arrow/type.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/timestamp_type.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"

namespace skep::format {

namespace {

std::shared_ptr<arrow::DataType> StructOf(const HiveType& type) {
  arrow::FieldVector fields;
  for (size_t i = 0; i < type.children.size(); ++i) {
    fields.push_back(arrow::field(type.field_names[i], ArrowTypeOf(type.children[i])));
  }
  return arrow::struct_(std::move(fields));
}

std::shared_ptr<arrow::DataType> UnionOf(const HiveType& type) {
  arrow::FieldVector fields{arrow::field("tag", arrow::int8())};
  for (size_t i = 0; i < type.children.size(); ++i) {
    fields.push_back(arrow::field("f" + std::to_string(i), ArrowTypeOf(type.children[i])));
  }
  return arrow::struct_(std::move(fields));
}

HiveType Simple(TypeKind kind) {
  HiveType type;
  type.kind = kind;
  return type;
}

// What UnionOf makes: a first field `tag: int8`, then f0, f1, …
bool LooksLikeUnion(const arrow::StructType& type) {
  if (type.num_fields() < 2 || type.field(0)->name() != "tag" ||
      type.field(0)->type()->id() != arrow::Type::INT8) {
    return false;
  }
  for (int i = 1; i < type.num_fields(); ++i) {
    if (type.field(i)->name() != "f" + std::to_string(i - 1)) return false;
  }
  return true;
}

absl::StatusOr<HiveType> HiveStructOf(const arrow::StructType& type) {
  const bool is_union = LooksLikeUnion(type);
  HiveType out = Simple(is_union ? TypeKind::kUnion : TypeKind::kStruct);
  for (int i = is_union ? 1 : 0; i < type.num_fields(); ++i) {
    SKEP_ASSIGN_OR_RETURN(HiveType child, HiveTypeOf(*type.field(i)->type()));
    out.children.push_back(std::move(child));
    if (!is_union) out.field_names.push_back(AsciiLower(type.field(i)->name()));
  }
  return out;
}

absl::StatusOr<HiveType> HiveListOf(const arrow::DataType& element) {
  HiveType out = Simple(TypeKind::kList);
  SKEP_ASSIGN_OR_RETURN(HiveType child, HiveTypeOf(element));
  out.children.push_back(std::move(child));
  return out;
}

absl::StatusOr<HiveType> HiveDecimalOf(const arrow::DataType& type) {
  const auto& decimal = static_cast<const arrow::DecimalType&>(type);
  if (decimal.scale() < 0 || decimal.scale() > decimal.precision()) {
    return MakeError(ErrorReason::kNotSupported,
                     type.ToString() + " has no type in Hive: the scale must be 0 … precision",
                     {{"what", type.ToString()}});
  }
  HiveType out = Simple(TypeKind::kDecimal);
  out.precision = decimal.precision();
  out.scale = decimal.scale();
  return out;
}

}  // namespace

std::shared_ptr<arrow::DataType> ArrowTypeOf(const HiveType& type) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return arrow::boolean();
    case TypeKind::kTinyint:
      return arrow::int8();
    case TypeKind::kSmallint:
      return arrow::int16();
    case TypeKind::kInt:
      return arrow::int32();
    case TypeKind::kBigint:
      return arrow::int64();
    case TypeKind::kFloat:
      return arrow::float32();
    case TypeKind::kDouble:
      return arrow::float64();
    case TypeKind::kString:
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return arrow::utf8();
    case TypeKind::kBinary:
      return arrow::binary();
    case TypeKind::kDate:
      return arrow::date32();
    case TypeKind::kTimestamp:
      return TimestampTypeOf(TimestampFlavor::kWall);
    case TypeKind::kTimestampLocalTz:
      return TimestampTypeOf(TimestampFlavor::kUtc);
    case TypeKind::kDecimal:
      return arrow::decimal128(type.precision, type.scale);
    case TypeKind::kList:
      return arrow::list(ArrowTypeOf(type.children[0]));
    case TypeKind::kMap:
      return arrow::map(ArrowTypeOf(type.children[0]), ArrowTypeOf(type.children[1]));
    case TypeKind::kStruct:
      return StructOf(type);
    case TypeKind::kUnion:
      return UnionOf(type);
  }
  return arrow::null();
}

absl::StatusOr<HiveType> HiveTypeOf(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::BOOL:
      return Simple(TypeKind::kBoolean);
    case arrow::Type::INT8:
      return Simple(TypeKind::kTinyint);
    case arrow::Type::INT16:
      return Simple(TypeKind::kSmallint);
    case arrow::Type::INT32:
      return Simple(TypeKind::kInt);
    case arrow::Type::INT64:
      return Simple(TypeKind::kBigint);
    case arrow::Type::FLOAT:
      return Simple(TypeKind::kFloat);
    case arrow::Type::DOUBLE:
      return Simple(TypeKind::kDouble);
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
      return Simple(TypeKind::kString);
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
      return Simple(TypeKind::kBinary);
    case arrow::Type::DATE32:
      return Simple(TypeKind::kDate);
    case arrow::Type::TIMESTAMP:
      return Simple(static_cast<const arrow::TimestampType&>(type).timezone().empty()
                        ? TypeKind::kTimestamp
                        : TypeKind::kTimestampLocalTz);
    case arrow::Type::DECIMAL128:
      return HiveDecimalOf(type);
    case arrow::Type::DICTIONARY:
      return HiveTypeOf(*static_cast<const arrow::DictionaryType&>(type).value_type());
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
      return HiveListOf(*type.field(0)->type());
    case arrow::Type::MAP: {
      const auto& map = static_cast<const arrow::MapType&>(type);
      HiveType out = Simple(TypeKind::kMap);
      for (const auto& part : {map.key_type(), map.item_type()}) {
        SKEP_ASSIGN_OR_RETURN(HiveType child, HiveTypeOf(*part));
        out.children.push_back(std::move(child));
      }
      return out;
    }
    case arrow::Type::STRUCT:
      return HiveStructOf(static_cast<const arrow::StructType&>(type));
    case arrow::Type::EXTENSION: {
      const auto& extension = static_cast<const arrow::ExtensionType&>(type);
      if (extension.extension_name() == "skep.timestamp") return Simple(TypeKind::kTimestamp);
      if (extension.extension_name() == "skep.timestamp_ltz")
        return Simple(TypeKind::kTimestampLocalTz);
      break;
    }
    default:
      break;
  }
  return MakeError(ErrorReason::kNotSupported,
                   "the Arrow type " + type.ToString() + " has no counterpart in Hive",
                   {{"what", type.ToString()}});
}

std::shared_ptr<arrow::Schema> ArrowSchemaOf(const std::vector<Column>& columns) {
  arrow::FieldVector fields;
  for (const Column& column : columns)
    fields.push_back(arrow::field(column.name, ArrowTypeOf(column.type)));
  return arrow::schema(std::move(fields));
}

}  // namespace skep::format

// Values of the vocabulary as JSON.

#include <arrow/array.h>
#include <arrow/util/decimal.h>

#include "storage/base/text.h"
#include "storage/format/json_text.h"
#include "storage/format/timestamp_type.h"
#include "storage/format/vocabulary.h"

namespace skep::format {

namespace {

template <class ArrayType>
const ArrayType& As(const arrow::Array& array) {
  return static_cast<const ArrayType&>(array);
}

std::string_view Bytes(const arrow::Array& array, int64_t index) {
  return As<arrow::BinaryArray>(array).GetView(index);
}

void AppendList(const arrow::Array& array, int64_t index, const HiveType& type, std::string* out) {
  const auto& list = As<arrow::ListArray>(array);
  out->push_back('[');
  for (int64_t i = list.value_offset(index); i < list.value_offset(index + 1); ++i) {
    if (i > list.value_offset(index)) out->push_back(',');
    AppendJson(*list.values(), i, type.children[0], out);
  }
  out->push_back(']');
}

// A JSON object's keys are strings: any other key is the text of its value.
void AppendKey(const arrow::Array& keys, int64_t index, const HiveType& type, std::string* out) {
  std::string key;
  AppendJson(keys, index, type, &key);
  if (key.starts_with('"')) {
    *out += key;
  } else {
    AppendJsonString(key, out);
  }
}

void AppendMap(const arrow::Array& array, int64_t index, const HiveType& type, std::string* out) {
  const auto& map = As<arrow::MapArray>(array);
  out->push_back('{');
  for (int64_t i = map.value_offset(index); i < map.value_offset(index + 1); ++i) {
    if (i > map.value_offset(index)) out->push_back(',');
    AppendKey(*map.keys(), i, type.children[0], out);
    out->push_back(':');
    AppendJson(*map.items(), i, type.children[1], out);
  }
  out->push_back('}');
}

void AppendStruct(const arrow::Array& array,
                  int64_t index,
                  const HiveType& type,
                  std::string* out) {
  const auto& fields = As<arrow::StructArray>(array);
  out->push_back('{');
  for (size_t i = 0; i < type.children.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendJsonString(type.field_names[i], out);
    out->push_back(':');
    AppendJson(*fields.field(static_cast<int>(i)), index, type.children[i], out);
  }
  out->push_back('}');
}

void AppendUnion(const arrow::Array& array, int64_t index, const HiveType& type, std::string* out) {
  const auto& fields = As<arrow::StructArray>(array);
  const int8_t tag = As<arrow::Int8Array>(*fields.field(0)).Value(index);
  const auto child = static_cast<size_t>(static_cast<uint8_t>(tag));
  *out += "{\"" + std::to_string(child) + "\":";
  if (child < type.children.size()) {
    AppendJson(*fields.field(static_cast<int>(child) + 1), index, type.children[child], out);
  } else {
    *out += "null";
  }
  out->push_back('}');
}

void AppendTimestampValue(const arrow::Array& array, int64_t index, std::string* out) {
  out->push_back('"');
  AppendTimestamp(TimestampReader(array).At(index), out);
  out->push_back('"');
}

}  // namespace

void AppendJson(const arrow::Array& array, int64_t index, const HiveType& type, std::string* out) {
  if (array.IsNull(index)) {
    *out += "null";
    return;
  }
  switch (type.kind) {
    case TypeKind::kBoolean:
      *out += As<arrow::BooleanArray>(array).Value(index) ? "true" : "false";
      return;
    case TypeKind::kTinyint:
      *out += std::to_string(As<arrow::Int8Array>(array).Value(index));
      return;
    case TypeKind::kSmallint:
      *out += std::to_string(As<arrow::Int16Array>(array).Value(index));
      return;
    case TypeKind::kInt:
      *out += std::to_string(As<arrow::Int32Array>(array).Value(index));
      return;
    case TypeKind::kBigint:
      *out += std::to_string(As<arrow::Int64Array>(array).Value(index));
      return;
    case TypeKind::kFloat:
      AppendJsonFloat(As<arrow::FloatArray>(array).Value(index), out);
      return;
    case TypeKind::kDouble:
      AppendJsonDouble(As<arrow::DoubleArray>(array).Value(index), out);
      return;
    case TypeKind::kString:
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      AppendJsonString(Bytes(array, index), out);
      return;
    case TypeKind::kBinary:
      *out += "\"base64:" + Base64Encode(Bytes(array, index)) + "\"";
      return;
    case TypeKind::kDate:
      out->push_back('"');
      AppendDate(As<arrow::Date32Array>(array).Value(index), out);
      out->push_back('"');
      return;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      AppendTimestampValue(array, index, out);
      return;
    case TypeKind::kDecimal: {
      const arrow::Decimal128 value(As<arrow::Decimal128Array>(array).GetValue(index));
      *out += "\"" + DecimalText(value.ToIntegerString(), type.scale) + "\"";
      return;
    }
    case TypeKind::kList:
      AppendList(array, index, type, out);
      return;
    case TypeKind::kMap:
      AppendMap(array, index, type, out);
      return;
    case TypeKind::kStruct:
      AppendStruct(array, index, type, out);
      return;
    case TypeKind::kUnion:
      AppendUnion(array, index, type, out);
      return;
  }
}

}  // namespace skep::format

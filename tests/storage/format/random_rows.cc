#include "tests/storage/format/random_rows.h"

#include <cmath>
#include <limits>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/util/decimal.h>

#include "storage/base/check.h"
#include "storage/format/retype.h"
#include "storage/format/temporal.h"
#include "storage/format/timestamp_type.h"
#include "storage/format/vocabulary.h"

namespace skep::testing {

namespace {

using format::WallTime;
using Random = std::mt19937_64;
using ArrayPtr = std::shared_ptr<arrow::Array>;

int64_t Below(Random& random, int64_t bound) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
}

void Must(const arrow::Status& status) { SKEP_CHECK(status.ok()); }

template <class T>
T Must(arrow::Result<T> result) {
  SKEP_CHECK(result.ok());
  return *std::move(result);
}

HiveType Simple(TypeKind kind) {
  HiveType type;
  type.kind = kind;
  return type;
}

HiveType Of(TypeKind kind, std::vector<HiveType> children) {
  HiveType type = Simple(kind);
  if (kind == TypeKind::kStruct) {
    for (size_t i = 0; i < children.size(); ++i)
      type.field_names.push_back("m" + std::to_string(i));
  }
  type.children = std::move(children);
  return type;
}

HiveType Sized(TypeKind kind, int32_t length) {
  HiveType type = Simple(kind);
  type.length = length;
  return type;
}

HiveType DecimalType(int32_t precision, int32_t scale) {
  HiveType type = Simple(TypeKind::kDecimal);
  type.precision = precision;
  type.scale = scale;
  return type;
}

std::vector<HiveType> Scalars() {
  std::vector<HiveType> types;
  for (const TypeKind kind : {TypeKind::kBoolean,
                              TypeKind::kTinyint,
                              TypeKind::kSmallint,
                              TypeKind::kInt,
                              TypeKind::kBigint,
                              TypeKind::kFloat,
                              TypeKind::kDouble,
                              TypeKind::kString,
                              TypeKind::kBinary,
                              TypeKind::kDate,
                              TypeKind::kTimestamp,
                              TypeKind::kTimestampLocalTz}) {
    types.push_back(Simple(kind));
  }
  types.push_back(Sized(TypeKind::kChar, 5));
  types.push_back(Sized(TypeKind::kVarchar, 7));
  types.push_back(DecimalType(12, 2));
  types.push_back(DecimalType(38, 18));
  return types;
}

std::shared_ptr<arrow::Buffer> Validity(Random& random, int64_t length) {
  const int64_t one_in = 1 + Below(random, 4);  // 1: no nulls
  if (one_in == 1) return nullptr;
  arrow::TypedBufferBuilder<bool> bits;
  for (int64_t i = 0; i < length; ++i) Must(bits.Append(Below(random, one_in) != 0));
  return Must(bits.Finish());
}

std::string RandomText(Random& random, int64_t characters) {
  static const char* const kPieces[] = {"a", "Z", "0", " ", "é", "日", "\"", "\\", "😀", "\n"};
  std::string out;
  for (int64_t i = 0; i < characters; ++i) out += kPieces[Below(random, 10)];
  return out;
}

std::string TextOf(Random& random, const HiveType& type) {
  if (type.kind == TypeKind::kChar) return RandomText(random, type.length);
  if (type.kind == TypeKind::kVarchar) return RandomText(random, Below(random, type.length + 1));
  std::string out = RandomText(random, Below(random, 20));
  if (type.kind == TypeKind::kBinary && Below(random, 2) == 0) out += std::string("\0\xff\xfe", 3);
  if (type.kind == TypeKind::kString && Below(random, 50) == 0) out += std::string("\0x", 2);
  return out;
}

WallTime RandomTime(Random& random) {
  constexpr int64_t kSecond = format::kMicrosPerSecond;
  WallTime time;
  time.sub = static_cast<int16_t>(Below(random, 3) == 0 ? Below(random, 1000) : 0);
  switch (Below(random, 6)) {
    case 0:
      time.us = format::kMinWallMicros + Below(random, kSecond * 100);
      break;
    case 1:
      time.us = format::kMaxWallMicros - Below(random, kSecond * 100);
      break;
    case 2:
      time.us = -Below(random, kSecond * 20);
      break;
    case 3:
      time.us = Below(random, 2'000'000'000) * kSecond;
      break;  // no fraction
    case 4:
      time.us = Below(random, 2'000'000'000'000) * 1000;
      break;
    default:
      time.us = -12'500'000'000 * kSecond + Below(random, 40'000'000'000) * kSecond +
                Below(random, kSecond);
  }
  // What ORC cannot store: the last second before 1970 with a millisecond or more.
  if (time.us >= -kSecond && time.us < 0 && time.us + kSecond >= 1000) time.us -= 2 * kSecond;
  return time;
}

template <class Builder, class Make>
ArrayPtr Filled(Builder builder, int64_t length, const Make& make) {
  for (int64_t i = 0; i < length; ++i) Must(builder.Append(make()));
  return Must(builder.Finish());
}

ArrayPtr RandomTimes(Random& random, int64_t length) {
  auto us = std::make_shared<arrow::TimestampBuilder>(arrow::timestamp(arrow::TimeUnit::MICRO),
                                                      arrow::default_memory_pool());
  auto sub = std::make_shared<arrow::Int16Builder>();
  arrow::StructBuilder builder(format::TimestampStorage(), arrow::default_memory_pool(), {us, sub});
  for (int64_t i = 0; i < length; ++i) {
    const WallTime time = RandomTime(random);
    Must(us->Append(time.us));
    Must(sub->Append(time.sub));
    Must(builder.Append());
  }
  return Must(builder.Finish());
}

ArrayPtr RandomScalars(Random& random, const HiveType& type, int64_t length) {
  // Runs of one value and ranges of different width, as encodings like them.
  const int shift = static_cast<int>(Below(random, 64));
  const auto integer = [&](auto zero) {
    using T = decltype(zero);
    return [&random, shift] { return static_cast<T>(static_cast<int64_t>(random()) >> shift); };
  };
  switch (type.kind) {
    case TypeKind::kBoolean:
      return Filled(arrow::BooleanBuilder(), length, [&] { return Below(random, 3) == 0; });
    case TypeKind::kTinyint:
      return Filled(arrow::Int8Builder(), length, integer(int8_t{}));
    case TypeKind::kSmallint:
      return Filled(arrow::Int16Builder(), length, integer(int16_t{}));
    case TypeKind::kInt:
      return Filled(arrow::Int32Builder(), length, integer(int32_t{}));
    case TypeKind::kBigint:
      return Filled(arrow::Int64Builder(), length, integer(int64_t{}));
    case TypeKind::kFloat:
      return Filled(arrow::FloatBuilder(), length, [&] {
        return Below(random, 20) == 0 ? std::numeric_limits<float>::quiet_NaN()
                                      : static_cast<float>(Below(random, 1000)) / 8;
      });
    case TypeKind::kDouble:
      return Filled(arrow::DoubleBuilder(), length, [&] {
        return Below(random, 20) == 0 ? -std::numeric_limits<double>::infinity()
                                      : static_cast<double>(Below(random, 100000)) / 7;
      });
    case TypeKind::kBinary:
      return Filled(arrow::BinaryBuilder(), length, [&] { return TextOf(random, type); });
    case TypeKind::kDate:
      return Filled(arrow::Date32Builder(), length, [&] {
        return static_cast<int32_t>(format::kMinDay +
                                    Below(random, format::kMaxDay - format::kMinDay + 1));
      });
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      return RandomTimes(random, length);
    case TypeKind::kDecimal:
      return Filled(
          arrow::Decimal128Builder(arrow::decimal128(type.precision, type.scale)), length, [&] {
            const int64_t limit =
                type.precision >= 18 ? 1'000'000'000'000'000'000 : 999'999'999'999;
            arrow::Decimal128 value(static_cast<int64_t>(random()) % limit);
            if (type.precision == 38 && Below(random, 2) == 0) value *= arrow::Decimal128(limit);
            return value;
          });
    default:
      return Filled(arrow::StringBuilder(), length, [&] { return TextOf(random, type); });
  }
}

std::shared_ptr<arrow::ArrayData> RandomData(Random& random, const HiveType& type, int64_t length);

std::shared_ptr<arrow::ArrayData> RandomNested(Random& random,
                                               const HiveType& type,
                                               int64_t length) {
  const auto storage = format::WithoutExtensions(format::ArrowTypeOf(type));
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  if (type.kind == TypeKind::kUnion) {
    children.push_back(Filled(arrow::Int8Builder(), length, [&] {
                         return static_cast<int8_t>(
                             Below(random, static_cast<int64_t>(type.children.size())));
                       })->data());
  }
  if (type.kind == TypeKind::kStruct || type.kind == TypeKind::kUnion) {
    for (const HiveType& child : type.children)
      children.push_back(RandomData(random, child, length));
    return arrow::ArrayData::Make(storage, length, {nullptr}, std::move(children));
  }
  arrow::TypedBufferBuilder<int32_t> offsets;
  int32_t at = 0;
  Must(offsets.Append(0));
  for (int64_t i = 0; i < length; ++i)
    Must(offsets.Append(at += static_cast<int32_t>(Below(random, 4))));
  const auto buffer = Must(offsets.Finish());
  if (type.kind == TypeKind::kList) {
    return arrow::ArrayData::Make(
        storage, length, {nullptr, buffer}, {RandomData(random, type.children[0], at)});
  }
  auto keys = RandomData(random, type.children[0], at)->Copy();
  keys->buffers[0] = nullptr;  // keys are never null
  keys->SetNullCount(0);
  const auto entries = arrow::ArrayData::Make(
      storage->field(0)->type(), at, {nullptr}, {keys, RandomData(random, type.children[1], at)});
  return arrow::ArrayData::Make(storage, length, {nullptr, buffer}, {entries});
}

std::shared_ptr<arrow::ArrayData> RandomData(Random& random, const HiveType& type, int64_t length) {
  std::shared_ptr<arrow::ArrayData> data;
  switch (type.kind) {
    case TypeKind::kList:
    case TypeKind::kMap:
    case TypeKind::kStruct:
    case TypeKind::kUnion:
      data = RandomNested(random, type, length);
      break;
    default:
      data = RandomScalars(random, type, length)->data()->Copy();
  }
  data->buffers[0] = Validity(random, length);
  data->SetNullCount(arrow::kUnknownNullCount);
  return data;
}

}  // namespace

HiveType RandomType(Random& random, int depth) {
  static const std::vector<HiveType> kScalars = Scalars();
  if (depth == 0 || Below(random, 2) == 0)
    return kScalars[static_cast<size_t>(Below(random, static_cast<int64_t>(kScalars.size())))];
  std::vector<HiveType> children;
  switch (Below(random, 4)) {
    case 0:
      return Of(TypeKind::kList, {RandomType(random, depth - 1)});
    case 1:
      return Of(TypeKind::kMap, {Simple(TypeKind::kBigint), RandomType(random, depth - 1)});
    case 2:
      for (int64_t i = Below(random, 4); i > 0; --i)
        children.push_back(RandomType(random, depth - 1));
      return Of(TypeKind::kStruct, std::move(children));
    default:
      for (int64_t i = 1 + Below(random, 3); i > 0; --i)
        children.push_back(RandomType(random, depth - 1));
      return Of(TypeKind::kUnion, std::move(children));
  }
}

std::vector<Column> RandomColumns(Random& random, int depth) {
  std::vector<Column> columns;
  for (int64_t i = 1 + Below(random, 6); i > 0; --i) {
    columns.push_back({"c" + std::to_string(columns.size()), RandomType(random, depth), ""});
  }
  return columns;
}

std::vector<Column> AllKinds() {
  std::vector<HiveType> types = Scalars();
  const HiveType time = Simple(TypeKind::kTimestamp), text = Simple(TypeKind::kString);
  const auto wraps = [&](const HiveType& inner) {
    return std::vector<HiveType>{Of(TypeKind::kList, {inner}),
                                 Of(TypeKind::kMap, {text, inner}),
                                 Of(TypeKind::kStruct, {inner, text}),
                                 Of(TypeKind::kUnion, {text, inner})};
  };
  for (const HiveType& outer : wraps(time)) {
    types.push_back(outer);
    for (const HiveType& twice : wraps(outer)) types.push_back(twice);
  }
  std::vector<Column> columns;
  for (HiveType& type : types)
    columns.push_back({"c" + std::to_string(columns.size()), std::move(type), ""});
  return columns;
}

std::shared_ptr<arrow::RecordBatch> RandomBatch(Random& random,
                                                const std::vector<Column>& columns,
                                                int64_t rows) {
  arrow::ArrayVector arrays;
  for (const Column& column : columns) {
    const int64_t before = Below(random, 2) == 0 ? 0 : Below(random, 20);
    const auto data = RandomData(random, column.type, rows + before + 3);
    arrays.push_back(arrow::MakeArray(format::Retype(*data, format::ArrowTypeOf(column.type)))
                         ->Slice(before, rows));
  }
  return arrow::RecordBatch::Make(format::ArrowSchemaOf(columns), rows, std::move(arrays));
}

}  // namespace skep::testing

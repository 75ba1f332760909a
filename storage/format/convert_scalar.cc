#include "storage/format/convert_scalar.h"

#include <limits>
#include <optional>
#include <type_traits>

#include <arrow/builder.h>
#include <arrow/util/decimal.h>

#include "storage/base/status_macros.h"
#include "storage/format/arrow_status.h"
#include "storage/format/json_text.h"
#include "storage/format/retype.h"
#include "storage/format/temporal.h"
#include "storage/format/timestamp_type.h"
#include "storage/model/errors.h"

namespace skep::format {

namespace {

absl::Status Unfit(const arrow::DataType& from, const HiveType& to) {
  return MakeError(ErrorReason::kInvalidRequest,
                   from.ToString() + " does not fit " + to.ToString());
}

absl::Status OutOfRange(FailurePlace* place,
                        int64_t index,
                        const std::string& value,
                        const HiveType& to) {
  place->index = index;
  return MakeError(ErrorReason::kValueOutOfRange, value + " does not fit " + to.ToString());
}

// An integer array of any width as a function from index to value; an unsigned 64-bit value that
// does not fit gives nullopt.
std::optional<int64_t> IntegerAt(const arrow::Array& array, int64_t i) {
  switch (array.type_id()) {
    case arrow::Type::INT8:
      return static_cast<const arrow::Int8Array&>(array).Value(i);
    case arrow::Type::INT16:
      return static_cast<const arrow::Int16Array&>(array).Value(i);
    case arrow::Type::INT32:
      return static_cast<const arrow::Int32Array&>(array).Value(i);
    case arrow::Type::INT64:
      return static_cast<const arrow::Int64Array&>(array).Value(i);
    case arrow::Type::UINT8:
      return static_cast<const arrow::UInt8Array&>(array).Value(i);
    case arrow::Type::UINT16:
      return static_cast<const arrow::UInt16Array&>(array).Value(i);
    case arrow::Type::UINT32:
      return static_cast<const arrow::UInt32Array&>(array).Value(i);
    case arrow::Type::UINT64: {
      const uint64_t value = static_cast<const arrow::UInt64Array&>(array).Value(i);
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

template <class Builder>
absl::StatusOr<ArrayPtr> Integers(const ArrayPtr& array, const HiveType& to, FailurePlace* place) {
  using Value = typename Builder::value_type;
  if (!arrow::is_integer(array->type_id())) return Unfit(*array->type(), to);
  Builder builder;
  SKEP_RETURN_IF_ERROR(FromArrow(builder.Reserve(array->length())));
  for (int64_t i = 0; i < array->length(); ++i) {
    if (array->IsNull(i)) {
      builder.UnsafeAppendNull();
      continue;
    }
    const std::optional<int64_t> value = IntegerAt(*array, i);
    if (!value || *value < std::numeric_limits<Value>::min() ||
        *value > std::numeric_limits<Value>::max()) {
      return OutOfRange(
          place, i, value ? std::to_string(*value) : "an unsigned integer above 2^63", to);
    }
    builder.UnsafeAppend(static_cast<Value>(*value));
  }
  return FromArrow(builder.Finish());
}

absl::StatusOr<ArrayPtr> Doubles(const ArrayPtr& array, const HiveType& to) {
  if (array->type_id() != arrow::Type::FLOAT) return Unfit(*array->type(), to);
  const auto& floats = static_cast<const arrow::FloatArray&>(*array);
  arrow::DoubleBuilder builder;
  for (int64_t i = 0; i < array->length(); ++i) {
    SKEP_RETURN_IF_ERROR(FromArrow(array->IsNull(i)
                                       ? builder.AppendNull()
                                       : builder.Append(static_cast<double>(floats.Value(i)))));
  }
  return FromArrow(builder.Finish());
}

// CHAR is padded and cut, VARCHAR cut, as Hive does on the way in; anything else is taken as it is.
std::string Shaped(std::string_view text, const HiveType& to) {
  if (to.kind != TypeKind::kChar && to.kind != TypeKind::kVarchar) return std::string(text);
  std::string out(CharacterPrefix(text, to.length));
  if (to.kind == TypeKind::kChar) {
    const int64_t characters = CharacterCount(out);
    if (characters < to.length) out.append(static_cast<size_t>(to.length - characters), ' ');
  }
  return out;
}

template <class Source, class Builder>
absl::StatusOr<ArrayPtr> Bytes(const ArrayPtr& array, const HiveType& to, FailurePlace* place) {
  const auto& from = static_cast<const Source&>(*array);
  Builder builder;
  for (int64_t i = 0; i < array->length(); ++i) {
    if (array->IsNull(i)) {
      SKEP_RETURN_IF_ERROR(FromArrow(builder.AppendNull()));
      continue;
    }
    const arrow::Status status = builder.Append(Shaped(from.GetView(i), to));
    if (status.IsCapacityError()) {
      place->index = i;
      return MakeError(ErrorReason::kValueOutOfRange, "more than 2 GiB of text in one batch");
    }
    SKEP_RETURN_IF_ERROR(FromArrow(status));
  }
  return FromArrow(builder.Finish());
}

absl::StatusOr<ArrayPtr> Decimals(const ArrayPtr& array, const HiveType& to, FailurePlace* place) {
  if (array->type_id() != arrow::Type::DECIMAL128) return Unfit(*array->type(), to);
  const int32_t scale = static_cast<const arrow::DecimalType&>(*array->type()).scale();
  const auto& decimals = static_cast<const arrow::Decimal128Array&>(*array);
  arrow::Decimal128Builder builder(arrow::decimal128(to.precision, to.scale));
  for (int64_t i = 0; i < array->length(); ++i) {
    if (array->IsNull(i)) {
      SKEP_RETURN_IF_ERROR(FromArrow(builder.AppendNull()));
      continue;
    }
    const arrow::Decimal128 value(decimals.GetValue(i));
    const arrow::Result<arrow::Decimal128> scaled = value.Rescale(scale, to.scale);
    if (!scaled.ok() || !scaled->FitsInPrecision(to.precision)) {
      return OutOfRange(place, i, value.ToString(scale), to);
    }
    SKEP_RETURN_IF_ERROR(FromArrow(builder.Append(*scaled)));
  }
  return FromArrow(builder.Finish());
}

absl::StatusOr<ArrayPtr> Dates(const ArrayPtr& array, const HiveType& to, FailurePlace* place) {
  constexpr int64_t kMillisPerDay = 86'400'000;
  if (array->type_id() != arrow::Type::DATE32 && array->type_id() != arrow::Type::DATE64) {
    return Unfit(*array->type(), to);
  }
  arrow::Date32Builder builder;
  for (int64_t i = 0; i < array->length(); ++i) {
    if (array->IsNull(i)) {
      SKEP_RETURN_IF_ERROR(FromArrow(builder.AppendNull()));
      continue;
    }
    const int64_t day =
        array->type_id() == arrow::Type::DATE32
            ? static_cast<const arrow::Date32Array&>(*array).Value(i)
            : FloorDivide(static_cast<const arrow::Date64Array&>(*array).Value(i), kMillisPerDay);
    if (day < kMinDay || day > kMaxDay)
      return OutOfRange(place, i, "day " + std::to_string(day), to);
    SKEP_RETURN_IF_ERROR(FromArrow(builder.Append(static_cast<int32_t>(day))));
  }
  return FromArrow(builder.Finish());
}

std::optional<WallTime> TimeOf(int64_t value, arrow::TimeUnit::type unit) {
  WallTime time;
  if (unit == arrow::TimeUnit::NANO) {
    time.us = FloorDivide(value, 1000);
    time.sub = static_cast<int16_t>(value - time.us * 1000);
  } else {
    const int64_t factor = unit == arrow::TimeUnit::SECOND  ? 1'000'000
                           : unit == arrow::TimeUnit::MILLI ? 1000
                                                            : 1;
    if (__builtin_mul_overflow(value, factor, &time.us)) return std::nullopt;
  }
  if (time.us < kMinWallMicros || time.us > kMaxWallMicros) return std::nullopt;
  return time;
}

// The array as a function from index to wall time; nullopt: out of range.
class TimeSource {
 public:
  explicit TimeSource(const ArrayPtr& array) : array_(array) {
    if (array->type_id() != arrow::Type::TIMESTAMP) reader_.emplace(*array);
  }
  std::optional<WallTime> At(int64_t i) const {
    if (!reader_) {
      const auto& type = static_cast<const arrow::TimestampType&>(*array_->type());
      return TimeOf(static_cast<const arrow::TimestampArray&>(*array_).Value(i), type.unit());
    }
    const WallTime time = reader_->At(i);
    if (time.us < kMinWallMicros || time.us > kMaxWallMicros || time.sub < 0 || time.sub > 999)
      return std::nullopt;
    return time;
  }

 private:
  ArrayPtr array_;
  std::optional<TimestampReader> reader_;
};

bool IsTimestampFor(const arrow::DataType& type, bool utc) {
  if (type.id() == arrow::Type::TIMESTAMP) {
    return static_cast<const arrow::TimestampType&>(type).timezone().empty() != utc;
  }
  return type.Equals(*TimestampTypeOf(utc ? TimestampFlavor::kUtc : TimestampFlavor::kWall));
}

absl::StatusOr<ArrayPtr> Timestamps(const ArrayPtr& array,
                                    const HiveType& to,
                                    FailurePlace* place) {
  if (!IsTimestampFor(*array->type(), to.kind == TypeKind::kTimestampLocalTz)) {
    return Unfit(*array->type(), to);
  }
  const TimeSource source(array);
  auto us = std::make_shared<arrow::TimestampBuilder>(arrow::timestamp(arrow::TimeUnit::MICRO),
                                                      arrow::default_memory_pool());
  auto sub = std::make_shared<arrow::Int16Builder>();
  arrow::StructBuilder builder(TimestampStorage(), arrow::default_memory_pool(), {us, sub});
  for (int64_t i = 0; i < array->length(); ++i) {
    const bool null = array->IsNull(i);
    const std::optional<WallTime> time = null ? WallTime{} : source.At(i);
    if (!time) return OutOfRange(place, i, "a timestamp outside of the years 1 to 9999", to);
    SKEP_RETURN_IF_ERROR(FromArrow(us->Append(time->us)));
    SKEP_RETURN_IF_ERROR(FromArrow(sub->Append(time->sub)));
    SKEP_RETURN_IF_ERROR(FromArrow(builder.Append(!null)));
  }
  return FromArrow(builder.Finish());
}

bool IsText(arrow::Type::type id) {
  return id == arrow::Type::STRING || id == arrow::Type::LARGE_STRING;
}

absl::StatusOr<ArrayPtr> Characters(const ArrayPtr& array,
                                    const HiveType& to,
                                    FailurePlace* place) {
  if (!IsText(array->type_id())) return Unfit(*array->type(), to);
  if (array->type_id() == arrow::Type::STRING) {
    if (to.kind == TypeKind::kString) return array;
    return Bytes<arrow::StringArray, arrow::StringBuilder>(array, to, place);
  }
  return Bytes<arrow::LargeStringArray, arrow::StringBuilder>(array, to, place);
}

}  // namespace

absl::StatusOr<ArrayPtr> ConvertScalars(const ArrayPtr& array,
                                        const HiveType& to,
                                        FailurePlace* place) {
  switch (to.kind) {
    case TypeKind::kBoolean:
      return array->type_id() == arrow::Type::BOOL ? absl::StatusOr<ArrayPtr>(array)
                                                   : Unfit(*array->type(), to);
    case TypeKind::kTinyint:
      return Integers<arrow::Int8Builder>(array, to, place);
    case TypeKind::kSmallint:
      return Integers<arrow::Int16Builder>(array, to, place);
    case TypeKind::kInt:
      return Integers<arrow::Int32Builder>(array, to, place);
    case TypeKind::kBigint:
      return Integers<arrow::Int64Builder>(array, to, place);
    case TypeKind::kFloat:
      return array->type_id() == arrow::Type::FLOAT ? absl::StatusOr<ArrayPtr>(array)
                                                    : Unfit(*array->type(), to);
    case TypeKind::kDouble:
      return array->type_id() == arrow::Type::DOUBLE ? absl::StatusOr<ArrayPtr>(array)
                                                     : Doubles(array, to);
    case TypeKind::kString:
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return Characters(array, to, place);
    case TypeKind::kBinary:
      if (array->type_id() == arrow::Type::BINARY) return array;
      if (array->type_id() != arrow::Type::LARGE_BINARY) return Unfit(*array->type(), to);
      return Bytes<arrow::LargeBinaryArray, arrow::BinaryBuilder>(array, to, place);
    case TypeKind::kDate:
      return Dates(array, to, place);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      return Timestamps(array, to, place);
    case TypeKind::kDecimal:
      return Decimals(array, to, place);
    default:
      return Unfit(*array->type(), to);
  }
}

}  // namespace skep::format

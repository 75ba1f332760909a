// The public readers' door: timestamps leave the vocabulary.

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>

#include "storage/base/status_macros.h"
#include "storage/format/arrow_status.h"
#include "storage/format/convert.h"
#include "storage/format/temporal.h"
#include "storage/format/timestamp_type.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"

namespace skep::format {

namespace {

using Data = std::shared_ptr<arrow::ArrayData>;

std::string Text(WallTime time) {
  std::string text;
  AppendTimestamp(time, &text);
  return text;
}

class Outward {
 public:
  explicit Outward(TimestampUnit unit) : unit_(unit) {}

  FailurePlace place() const { return place_; }

  absl::StatusOr<Data> Convert(const arrow::Array& array) {
    place_ = {};
    return Any(array);
  }

 private:
  absl::StatusOr<Data> Any(const arrow::Array& array) {
    switch (array.type_id()) {
      case arrow::Type::EXTENSION:
        return Timestamps(array);
      case arrow::Type::STRUCT:
        return Struct(array);
      case arrow::Type::LIST:
        return List(array);
      case arrow::Type::MAP:
        return Map(array);
      default:
        return array.data();
    }
  }

  absl::StatusOr<Data> Timestamps(const arrow::Array& array) {
    const TimestampReader reader(array);
    const bool utc = array.type()->Equals(*TimestampTypeOf(TimestampFlavor::kUtc));
    const auto unit =
        unit_ == TimestampUnit::kMicro ? arrow::TimeUnit::MICRO : arrow::TimeUnit::NANO;
    arrow::TimestampBuilder builder(arrow::timestamp(unit, utc ? "UTC" : ""),
                                    arrow::default_memory_pool());
    SKEP_RETURN_IF_ERROR(FromArrow(builder.Reserve(array.length())));
    for (int64_t i = 0; i < array.length(); ++i) {
      if (array.IsNull(i)) {
        builder.UnsafeAppendNull();
        continue;
      }
      const WallTime time = reader.At(i);
      int64_t value = time.us;
      bool fits = unit_ == TimestampUnit::kNano || time.sub == 0;
      if (unit_ == TimestampUnit::kNano) {
        fits = !__builtin_mul_overflow(time.us, 1000, &value) &&
               !__builtin_add_overflow(value, time.sub, &value);
      }
      if (!fits) {
        place_.index = i;
        return MakeError(
            ErrorReason::kValueOutOfRange,
            Text(time) + (unit_ == TimestampUnit::kMicro
                              ? " has nanoseconds that microseconds cannot hold"
                              : " is outside of what 64 bits of nanoseconds can hold"));
      }
      builder.UnsafeAppend(value);
    }
    SKEP_ASSIGN_OR_RETURN(const auto out, FromArrow(builder.Finish()));
    return out->data();
  }

  absl::StatusOr<Data> Struct(const arrow::Array& array) {
    const auto& from = static_cast<const arrow::StructArray&>(array);
    Data out = array.data()->Copy();
    arrow::FieldVector fields;
    for (int i = 0; i < from.num_fields(); ++i) {
      SKEP_ASSIGN_OR_RETURN(out->child_data[static_cast<size_t>(i)], Any(*from.field(i)));
      fields.push_back(
          from.type()->field(i)->WithType(out->child_data[static_cast<size_t>(i)]->type));
    }
    out->type = arrow::struct_(std::move(fields));
    return out;
  }

  absl::StatusOr<Data> Elements(const arrow::Array& lists, const arrow::Array& elements) {
    absl::StatusOr<Data> out = Any(elements);
    if (!out.ok() && place_.index >= 0) place_.index = ListOfElement(lists, place_.index);
    return out;
  }

  absl::StatusOr<Data> List(const arrow::Array& array) {
    Data out = array.data()->Copy();
    SKEP_ASSIGN_OR_RETURN(out->child_data[0],
                          Elements(array, *static_cast<const arrow::ListArray&>(array).values()));
    out->type = arrow::list(array.type()->field(0)->WithType(out->child_data[0]->type));
    return out;
  }

  absl::StatusOr<Data> Map(const arrow::Array& array) {
    const auto& map = static_cast<const arrow::MapArray&>(array);
    Data out = array.data()->Copy();
    Data entries = out->child_data[0]->Copy();
    SKEP_ASSIGN_OR_RETURN(entries->child_data[0], Elements(array, *map.keys()));
    SKEP_ASSIGN_OR_RETURN(entries->child_data[1], Elements(array, *map.items()));
    const auto type = arrow::map(entries->child_data[0]->type, entries->child_data[1]->type);
    entries->type = type->field(0)->type();
    out->child_data[0] = std::move(entries);
    out->type = type;
    return out;
  }

  TimestampUnit unit_;
  FailurePlace place_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> FromVocabulary(const arrow::RecordBatch& batch,
                                                                   TimestampUnit unit) {
  Outward outward(unit);
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (int i = 0; i < batch.num_columns(); ++i) {
    SKEP_ASSIGN_OR_RETURN(const auto column, WithoutOffsets(batch.column(i)));
    const absl::StatusOr<Data> data = outward.Convert(*column);
    if (!data.ok()) {
      return AtColumnAndRow(data.status(), batch.schema()->field(i)->name(), outward.place());
    }
    columns.push_back(arrow::MakeArray(*data));
    fields.push_back(batch.schema()->field(i)->WithType(columns.back()->type()));
  }
  return arrow::RecordBatch::Make(
      arrow::schema(std::move(fields)), batch.num_rows(), std::move(columns));
}

}  // namespace skep::format

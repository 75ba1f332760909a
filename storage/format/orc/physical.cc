#include "storage/format/orc/physical.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "storage/base/status_macros.h"
#include "storage/format/arrow_status.h"
#include "storage/format/calendar.h"
#include "storage/format/orc/rle_encode.h"
#include "storage/format/orc/storage_type.h"
#include "storage/format/retype.h"
#include "storage/format/temporal.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

using format::FromArrow;
using Data = std::shared_ptr<arrow::ArrayData>;

constexpr int64_t kUtcBase = 1420070400;  // 2015-01-01 00:00:00 UTC
constexpr uint32_t kMilli = 1'000'000;

bool IsValid(const arrow::ArrayData& data, int64_t i) {
  return data.buffers[0] == nullptr || arrow::bit_util::GetBit(data.buffers[0]->data(), i);
}

// Ids below a type, itself included.
uint32_t CountColumns(const HiveType& type) {
  uint32_t count = 1;
  for (const HiveType& child : type.children) count += CountColumns(child);
  return count;
}

// Pushes `above` into `data` and on into its children (in place; the arrays are copies of our own).
absl::Status PushNulls(const std::shared_ptr<arrow::Buffer>& above, arrow::ArrayData* data) {
  if (above != nullptr && data->length > 0) {
    if (data->buffers[0] == nullptr) {
      data->buffers[0] = above;
    } else {
      SKEP_ASSIGN_OR_RETURN(data->buffers[0],
                            FromArrow(arrow::internal::BitmapAnd(arrow::default_memory_pool(),
                                                                 data->buffers[0]->data(),
                                                                 0,
                                                                 above->data(),
                                                                 0,
                                                                 data->length,
                                                                 0)));
    }
    data->SetNullCount(arrow::kUnknownNullCount);
  }
  if (data->type->id() == arrow::Type::STRUCT) {
    for (auto& child : data->child_data) {
      child = child->Copy();
      SKEP_RETURN_IF_ERROR(PushNulls(data->buffers[0], child.get()));
    }
  } else if (!data->child_data.empty()) {  // elements of lists have no parent's nulls of their own
    for (auto& child : data->child_data) {
      child = child->Copy();
      SKEP_RETURN_IF_ERROR(PushNulls(nullptr, child.get()));
    }
  }
  return absl::OkStatus();
}

bool HasList(const arrow::DataType& type) {
  return type.id() == arrow::Type::LIST || type.id() == arrow::Type::MAP ||
         std::any_of(type.fields().begin(), type.fields().end(), [](const auto& field) {
           return HasList(*field->type());
         });
}

// Slot by slot through a builder, which gives null lists no elements.
absl::StatusOr<Data> Rebuild(const Data& data, int64_t offset, int64_t length) {
  std::unique_ptr<arrow::ArrayBuilder> builder;
  SKEP_RETURN_IF_ERROR(
      FromArrow(arrow::MakeBuilder(arrow::default_memory_pool(), data->type, &builder)));
  // A span's slice starts at the array's own offset.
  SKEP_RETURN_IF_ERROR(
      FromArrow(builder->AppendArraySlice(arrow::ArraySpan(*data), offset, length)));
  SKEP_ASSIGN_OR_RETURN(const auto copy, FromArrow(builder->Finish()));
  return copy->data()->Copy();
}

}  // namespace

PhysicalWriterSchema::PhysicalWriterSchema(const HiveType& root) {
  uint32_t next = 1;
  columns_.push_back({PhysicalRole::kPlain, 0});
  arrow::FieldVector fields;
  for (size_t i = 0; i < root.children.size(); ++i) {
    fields.push_back(arrow::field("f" + std::to_string(i), Add(root.children[i], &next)));
  }
  schema_ = arrow::schema(std::move(fields));
}

std::shared_ptr<arrow::DataType> PhysicalWriterSchema::Add(const HiveType& type, uint32_t* next) {
  const uint32_t column = (*next)++;
  const auto field = [&](size_t i, std::shared_ptr<arrow::DataType> of) {
    return arrow::field("f" + std::to_string(i), std::move(of));
  };
  switch (type.kind) {
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      columns_.push_back({PhysicalRole::kTimestamp, column});
      return arrow::int64();
    case TypeKind::kUnion: {
      columns_.push_back({PhysicalRole::kUnion, column});
      columns_.push_back({PhysicalRole::kUnionTag, column});
      arrow::FieldVector fields{field(0, arrow::int8())};
      for (size_t i = 0; i < type.children.size(); ++i) {
        columns_.push_back({PhysicalRole::kDropped, 0});
        fields.push_back(field(i + 1, arrow::list(Add(type.children[i], next))));
      }
      return arrow::struct_(std::move(fields));
    }
    default:
      break;
  }
  columns_.push_back({PhysicalRole::kPlain, column});
  switch (type.kind) {
    case TypeKind::kList:
      return arrow::list(Add(type.children[0], next));
    case TypeKind::kMap: {
      const auto key = Add(type.children[0], next);
      return arrow::map(key, Add(type.children[1], next));
    }
    case TypeKind::kStruct: {
      arrow::FieldVector fields;
      for (size_t i = 0; i < type.children.size(); ++i) {
        fields.push_back(field(i, Add(type.children[i], next)));
      }
      return arrow::struct_(std::move(fields));
    }
    default:
      return StorageTypeOf(type);
  }
}

absl::StatusOr<Data> PhysicalConverter::Convert(const HiveType& type,
                                                uint32_t column,
                                                const Data& array) {
  switch (type.kind) {
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      return Timestamps(column, array);
    case TypeKind::kDate:
      return Dates(array);
    case TypeKind::kUnion:
      return Union(type, column, array);
    case TypeKind::kString:
    case TypeKind::kVarchar:
    case TypeKind::kChar:
      NoteNul(column, array);
      return array;
    case TypeKind::kList:
    case TypeKind::kStruct:
    case TypeKind::kMap:
      break;
    default:
      return array;
  }
  Data out = array->Copy();
  Data parent = out;
  if (type.kind == TypeKind::kMap) {
    out->child_data[0] = out->child_data[0]->Copy();
    parent = out->child_data[0];
  }
  arrow::FieldVector fields;
  uint32_t child = column + 1;
  for (size_t i = 0; i < type.children.size(); ++i) {
    SKEP_ASSIGN_OR_RETURN(parent->child_data[i],
                          Convert(type.children[i], child, parent->child_data[i]));
    fields.push_back(arrow::field("f" + std::to_string(i), parent->child_data[i]->type));
    child += CountColumns(type.children[i]);
  }
  if (type.kind == TypeKind::kList) {
    out->type = arrow::list(fields[0]->type());
  } else if (type.kind == TypeKind::kStruct) {
    out->type = arrow::struct_(std::move(fields));
  } else {
    out->type = arrow::map(fields[0]->type(), fields[1]->type());
    parent->type = out->type->field(0)->type();
  }
  return out;
}

// TY-15, with UTC as the writer's zone (TY-20).
absl::StatusOr<Data> PhysicalConverter::Timestamps(uint32_t column, const Data& array) {
  CollectedTimes& collected = times_[column];
  const auto* us = array->child_data[0]->GetValues<int64_t>(1);
  const auto* sub = array->child_data[1]->GetValues<int16_t>(1);
  SKEP_ASSIGN_OR_RETURN(
      std::shared_ptr<arrow::Buffer> values,
      FromArrow(arrow::AllocateBuffer(array->length * static_cast<int64_t>(sizeof(int64_t)))));
  auto* seconds = reinterpret_cast<int64_t*>(values->mutable_data());
  for (int64_t i = 0; i < array->length; ++i) {
    seconds[i] = 0;
    if (!IsValid(*array, i)) continue;
    int64_t time = us[i];
    if (time < format::kMinWallMicros || time > format::kMaxWallMicros || sub[i] < 0 ||
        sub[i] > 999) {
      return MakeError(ErrorReason::kValueOutOfRange, "a timestamp outside of the years 1 to 9999");
    }
    if (calendar_ == Calendar::kJulianGregorian) {
      const int64_t day = format::FloorDivide(time, format::kMicrosPerDay);
      const std::optional<int64_t> hybrid = format::ProlepticToHybrid(day);
      if (!hybrid)
        return MakeError(ErrorReason::kValueOutOfRange,
                         "a day that the hybrid calendar does not have");
      time += (*hybrid - day) * format::kMicrosPerDay;
    }
    const int64_t floor = format::FloorDivide(time, format::kMicrosPerSecond);
    const auto nanos =
        static_cast<uint32_t>((time - floor * format::kMicrosPerSecond) * 1000 + sub[i]);
    if (floor == -1 && nanos >= kMilli) {
      return MakeError(
          ErrorReason::kValueOutOfRange,
          "ORC cannot store a timestamp in the last second before 1970-01-01 00:00:00 with a "
          "fraction of a millisecond or more");
    }
    seconds[i] = floor + (floor < 0 && nanos >= kMilli ? 1 : 0) - kUtcBase;
    collected.codes.push_back(NanosCode(nanos));
    collected.utc_ms.push_back(format::FloorDivide(time, 1000));
  }
  return arrow::ArrayData::Make(
      arrow::int64(), array->length, {array->buffers[0], std::move(values)});
}

absl::StatusOr<Data> PhysicalConverter::Dates(const Data& array) const {
  const auto* days = array->GetValues<int32_t>(1);
  SKEP_ASSIGN_OR_RETURN(
      std::shared_ptr<arrow::Buffer> values,
      FromArrow(arrow::AllocateBuffer(array->length * static_cast<int64_t>(sizeof(int32_t)))));
  auto* out = reinterpret_cast<int32_t*>(values->mutable_data());
  for (int64_t i = 0; i < array->length; ++i) {
    out[i] = 0;
    if (!IsValid(*array, i)) continue;
    const std::optional<int64_t> day = calendar_ == Calendar::kJulianGregorian
                                           ? format::ProlepticToHybrid(days[i])
                                           : std::optional<int64_t>(days[i]);
    if (!day)
      return MakeError(ErrorReason::kValueOutOfRange,
                       "a day that the hybrid calendar does not have");
    out[i] = static_cast<int32_t>(*day);
  }
  Data copy = array->Copy();
  copy->buffers[1] = std::move(values);
  return copy;
}

absl::StatusOr<Data> PhysicalConverter::Union(const HiveType& type,
                                              uint32_t column,
                                              const Data& array) {
  const Data& tags = array->child_data[0];
  const auto* tag = tags->GetValues<int8_t>(1);
  const size_t variants = type.children.size();
  std::vector<size_t> tag_of(static_cast<size_t>(array->length), variants);
  for (int64_t i = 0; i < array->length; ++i) {
    if (!IsValid(*array, i)) continue;
    const auto value = static_cast<size_t>(static_cast<uint8_t>(tag[i]));
    if (!IsValid(*tags, i) || value >= variants) {
      return MakeError(ErrorReason::kValueOutOfRange, "a union without a valid tag");
    }
    tag_of[static_cast<size_t>(i)] = value;
  }
  std::vector<Data> children{tags};
  arrow::FieldVector fields{arrow::field("f0", arrow::int8())};
  uint32_t child = column + 1;
  for (size_t k = 0; k < variants; ++k) {
    const std::shared_ptr<arrow::DataType> storage = StorageTypeOf(type.children[k]);
    std::unique_ptr<arrow::ArrayBuilder> gathered;
    SKEP_RETURN_IF_ERROR(
        FromArrow(arrow::MakeBuilder(arrow::default_memory_pool(), storage, &gathered)));
    const Data values = format::Retype(*array->child_data[k + 1], storage);
    const arrow::ArraySpan span(*values);
    arrow::TypedBufferBuilder<int32_t> offsets;
    SKEP_RETURN_IF_ERROR(FromArrow(offsets.Append(0)));
    int32_t count = 0;
    for (int64_t i = 0; i < array->length; ++i) {
      if (tag_of[static_cast<size_t>(i)] == k) {
        SKEP_RETURN_IF_ERROR(FromArrow(gathered->AppendArraySlice(span, i, 1)));
        ++count;
      }
      SKEP_RETURN_IF_ERROR(FromArrow(offsets.Append(count)));
    }
    SKEP_ASSIGN_OR_RETURN(const auto elements, FromArrow(gathered->Finish()));
    SKEP_ASSIGN_OR_RETURN(const Data converted, Convert(type.children[k], child, elements->data()));
    SKEP_ASSIGN_OR_RETURN(auto offset_buffer, FromArrow(offsets.Finish()));
    const auto list = arrow::list(converted->type);
    children.push_back(arrow::ArrayData::Make(
        list, array->length, {array->buffers[0], offset_buffer}, {converted}));
    fields.push_back(arrow::field("f" + std::to_string(k + 1), list));
    child += CountColumns(type.children[k]);
  }
  return arrow::ArrayData::Make(
      arrow::struct_(std::move(fields)), array->length, {array->buffers[0]}, std::move(children));
}

void PhysicalConverter::NoteNul(uint32_t column, const Data& array) {
  if (has_nul_[column] || array->length == 0) return;
  const auto* offsets = array->GetValues<int32_t>(1);
  const auto bytes = static_cast<size_t>(offsets[array->length] - offsets[0]);
  if (bytes > 0 && std::memchr(array->buffers[2]->data() + offsets[0], 0, bytes) != nullptr) {
    has_nul_[column] = true;
  }
}

void PhysicalConverter::Clear() {
  for (CollectedTimes& times : times_) {
    times.codes.clear();
    times.utc_ms.clear();
  }
  std::fill(has_nul_.begin(), has_nul_.end(), false);
}

absl::StatusOr<Data> CopyForAdapter(const arrow::Array& array, int64_t offset, int64_t length) {
  const std::shared_ptr<arrow::DataType> storage = format::WithoutExtensions(array.type());
  SKEP_ASSIGN_OR_RETURN(Data data, Rebuild(format::Retype(*array.data(), storage), offset, length));
  SKEP_RETURN_IF_ERROR(PushNulls(nullptr, data.get()));
  // A list that has just become null keeps its elements: the second copy leaves them out.
  if (HasList(*storage)) {
    SKEP_ASSIGN_OR_RETURN(data, Rebuild(data, 0, length));
    SKEP_RETURN_IF_ERROR(PushNulls(nullptr, data.get()));
  }
  return data;
}

}  // namespace skep::orc

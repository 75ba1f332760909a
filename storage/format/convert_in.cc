// The public writers' door: batches as users make them enter the vocabulary.

#include <algorithm>
#include <limits>
#include <optional>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/arrow_status.h"
#include "storage/format/convert.h"
#include "storage/format/convert_scalar.h"
#include "storage/format/retype.h"
#include "storage/format/timestamp_type.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"

namespace skep::format {

namespace {

absl::Status Unfit(const arrow::DataType& from, const HiveType& to) {
  return MakeError(ErrorReason::kInvalidRequest,
                   from.ToString() + " does not fit " + to.ToString());
}

absl::StatusOr<ArrayPtr> Nulls(const HiveType& type, int64_t length) {
  return FromArrow(arrow::MakeArrayOfNull(WithoutExtensions(ArrowTypeOf(type)), length));
}

// All results are in storage types; `place` says where a value did not fit.
class Inward {
 public:
  FailurePlace place;

  absl::StatusOr<ArrayPtr> Convert(const ArrayPtr& array, const HiveType& to) {
    switch (array->type_id()) {
      case arrow::Type::NA:
        return Nulls(to, array->length());
      case arrow::Type::DICTIONARY:
        return Dictionary(array, to);
      default:
        break;
    }
    switch (to.kind) {
      case TypeKind::kList:
        return List(array, to);
      case TypeKind::kMap:
        return Map(array, to);
      case TypeKind::kStruct:
        return Struct(array, to);
      case TypeKind::kUnion:
        return Union(array, to);
      default:
        return ConvertScalars(array, to, &place);
    }
  }

 private:
  absl::StatusOr<ArrayPtr> Dictionary(const ArrayPtr& array, const HiveType& to) {
    const auto& encoded = static_cast<const arrow::DictionaryArray&>(*array);
    SKEP_ASSIGN_OR_RETURN(const ArrayPtr values, WithoutOffsets(encoded.dictionary()));
    std::unique_ptr<arrow::ArrayBuilder> builder;
    SKEP_RETURN_IF_ERROR(
        FromArrow(arrow::MakeBuilder(arrow::default_memory_pool(), values->type(), &builder)));
    const arrow::ArraySpan span(*values->data());
    for (int64_t i = 0; i < array->length(); ++i) {
      const bool null = array->IsNull(i);
      if (!null && (encoded.GetValueIndex(i) < 0 || encoded.GetValueIndex(i) >= values->length())) {
        place.index = i;
        return MakeError(ErrorReason::kInvalidRequest, "a dictionary index without an entry");
      }
      SKEP_RETURN_IF_ERROR(
          FromArrow(null ? builder->AppendNull()
                         : builder->AppendArraySlice(span, encoded.GetValueIndex(i), 1)));
    }
    SKEP_ASSIGN_OR_RETURN(const ArrayPtr plain, FromArrow(builder->Finish()));
    return Convert(plain, to);
  }

  // A large list with what fits a list's 32-bit offsets becomes one.
  absl::StatusOr<ArrayPtr> AsList(const ArrayPtr& array, const HiveType& to) {
    if (array->type_id() == arrow::Type::LIST) return array;
    if (array->type_id() != arrow::Type::LARGE_LIST) return Unfit(*array->type(), to);
    const auto& large = static_cast<const arrow::LargeListArray&>(*array);
    if (large.values()->length() > std::numeric_limits<int32_t>::max()) {
      return MakeError(ErrorReason::kValueOutOfRange, "more than 2^31 list elements in one batch");
    }
    arrow::TypedBufferBuilder<int32_t> offsets;
    for (int64_t i = 0; i <= large.length(); ++i) {
      SKEP_RETURN_IF_ERROR(FromArrow(offsets.Append(static_cast<int32_t>(large.value_offset(i)))));
    }
    SKEP_ASSIGN_OR_RETURN(const auto buffer, FromArrow(offsets.Finish()));
    return arrow::MakeArray(arrow::ArrayData::Make(arrow::list(large.value_type()),
                                                   large.length(),
                                                   {large.null_bitmap(), buffer},
                                                   {large.values()->data()},
                                                   large.null_count()));
  }

  absl::StatusOr<ArrayPtr> Elements(const arrow::Array& lists,
                                    const ArrayPtr& elements,
                                    const HiveType& to) {
    absl::StatusOr<ArrayPtr> out = Convert(elements, to);
    if (!out.ok() && place.index >= 0) place.index = ListOfElement(lists, place.index);
    return out;
  }

  absl::StatusOr<ArrayPtr> List(const ArrayPtr& array, const HiveType& to) {
    SKEP_ASSIGN_OR_RETURN(const ArrayPtr lists, AsList(array, to));
    SKEP_ASSIGN_OR_RETURN(
        const ArrayPtr values,
        Elements(*lists, static_cast<const arrow::ListArray&>(*lists).values(), to.children[0]));
    auto out = lists->data()->Copy();
    out->type = WithoutExtensions(ArrowTypeOf(to));
    out->child_data[0] = values->data();
    return arrow::MakeArray(out);
  }

  absl::StatusOr<ArrayPtr> Map(const ArrayPtr& array, const HiveType& to) {
    if (array->type_id() != arrow::Type::MAP) return Unfit(*array->type(), to);
    const auto& map = static_cast<const arrow::MapArray&>(*array);
    SKEP_ASSIGN_OR_RETURN(const ArrayPtr keys, Elements(map, map.keys(), to.children[0]));
    SKEP_ASSIGN_OR_RETURN(const ArrayPtr items, Elements(map, map.items(), to.children[1]));
    auto out = array->data()->Copy();
    out->type = WithoutExtensions(ArrowTypeOf(to));
    auto entries = out->child_data[0]->Copy();
    entries->type = out->type->field(0)->type();
    entries->child_data = {keys->data(), items->data()};
    out->child_data[0] = std::move(entries);
    return arrow::MakeArray(out);
  }

  absl::StatusOr<ArrayPtr> Struct(const ArrayPtr& array, const HiveType& to) {
    if (array->type_id() != arrow::Type::STRUCT) return Unfit(*array->type(), to);
    const auto& from = static_cast<const arrow::StructArray&>(*array);
    for (const auto& field : from.type()->fields()) {
      const std::string name = AsciiLower(field->name());
      if (std::find(to.field_names.begin(), to.field_names.end(), name) == to.field_names.end()) {
        return MakeError(ErrorReason::kInvalidRequest,
                         to.ToString() + " has no field \"" + name + "\"");
      }
    }
    auto out = array->data()->Copy();
    out->type = WithoutExtensions(ArrowTypeOf(to));
    out->child_data.clear();
    for (size_t i = 0; i < to.children.size(); ++i) {
      ArrayPtr child;
      for (int f = 0; f < from.num_fields(); ++f) {
        if (AsciiLower(from.type()->field(f)->name()) == to.field_names[i]) child = from.field(f);
      }
      SKEP_ASSIGN_OR_RETURN(child,
                            child == nullptr ? Nulls(to.children[i], array->length())
                                             : Convert(child, to.children[i]));
      out->child_data.push_back(child->data());
    }
    return arrow::MakeArray(out);
  }

  // As the vocabulary has it: struct<tag: int8, f0, f1, …>.
  absl::StatusOr<ArrayPtr> Union(const ArrayPtr& array, const HiveType& to) {
    if (array->type_id() != arrow::Type::STRUCT ||
        array->num_fields() != static_cast<int>(to.children.size()) + 1 ||
        array->type()->field(0)->type()->id() != arrow::Type::INT8) {
      return Unfit(*array->type(), to);
    }
    const auto& from = static_cast<const arrow::StructArray&>(*array);
    const auto tags = std::static_pointer_cast<arrow::Int8Array>(from.field(0));
    for (int64_t i = 0; i < array->length(); ++i) {
      if (array->IsNull(i)) continue;
      const auto tag = static_cast<size_t>(static_cast<uint8_t>(tags->Value(i)));
      if (tags->IsNull(i) || tag >= to.children.size()) {
        place.index = i;
        return MakeError(ErrorReason::kValueOutOfRange, "a union without a valid tag");
      }
    }
    auto out = array->data()->Copy();
    out->type = WithoutExtensions(ArrowTypeOf(to));
    for (size_t i = 0; i < to.children.size(); ++i) {
      SKEP_ASSIGN_OR_RETURN(const ArrayPtr child,
                            Convert(from.field(static_cast<int>(i) + 1), to.children[i]));
      out->child_data[i + 1] = child->data();
    }
    return arrow::MakeArray(out);
  }
};

const arrow::Field* FieldOf(const arrow::Schema& schema, const std::string& name, int* index) {
  for (*index = 0; *index < schema.num_fields(); ++*index) {
    if (AsciiLower(schema.field(*index)->name()) == name) return schema.field(*index).get();
  }
  return nullptr;
}

absl::Status CheckNames(const arrow::Schema& schema, const std::vector<Column>& columns) {
  std::vector<std::string> seen;
  for (const auto& field : schema.fields()) {
    const std::string name = AsciiLower(field->name());
    const bool known = std::any_of(
        columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
    if (!known || std::find(seen.begin(), seen.end(), name) != seen.end()) {
      return MakeError(
          ErrorReason::kInvalidRequest,
          known ? "the batch has column " + name + " twice" : "the table has no column " + name,
          {{"column", name}});
    }
    seen.push_back(name);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> ToVocabulary(
    const arrow::RecordBatch& batch, const std::vector<Column>& columns) {
  SKEP_RETURN_IF_ERROR(CheckNames(*batch.schema(), columns));
  arrow::ArrayVector arrays;
  for (const Column& column : columns) {
    int index = 0;
    Inward inward;
    absl::StatusOr<ArrayPtr> array;
    if (FieldOf(*batch.schema(), column.name, &index) == nullptr) {
      array = Nulls(column.type, batch.num_rows());
    } else {
      SKEP_ASSIGN_OR_RETURN(const ArrayPtr from, WithoutOffsets(batch.column(index)));
      array = inward.Convert(from, column.type);
    }
    if (!array.ok()) return AtColumnAndRow(array.status(), column.name, inward.place);
    arrays.push_back(arrow::MakeArray(Retype(*(*array)->data(), ArrowTypeOf(column.type))));
  }
  return arrow::RecordBatch::Make(ArrowSchemaOf(columns), batch.num_rows(), std::move(arrays));
}

}  // namespace skep::format

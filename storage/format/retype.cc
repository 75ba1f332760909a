#include "storage/format/retype.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>

namespace skep::format {

namespace {

const arrow::DataType& StorageOf(const arrow::DataType& type) {
  return type.id() == arrow::Type::EXTENSION
             ? *static_cast<const arrow::ExtensionType&>(type).storage_type()
             : type;
}

}  // namespace

std::shared_ptr<arrow::ArrayData> Retype(const arrow::ArrayData& data,
                                         const std::shared_ptr<arrow::DataType>& type) {
  std::shared_ptr<arrow::ArrayData> out = data.Copy();
  out->type = type;
  const arrow::DataType& storage = StorageOf(*type);
  for (size_t i = 0; i < out->child_data.size(); ++i) {
    out->child_data[i] = Retype(*out->child_data[i], storage.field(static_cast<int>(i))->type());
  }
  return out;
}

std::shared_ptr<arrow::DataType> WithoutExtensions(const std::shared_ptr<arrow::DataType>& type) {
  const arrow::DataType& storage = StorageOf(*type);
  arrow::FieldVector fields;
  for (const auto& field : storage.fields()) {
    fields.push_back(field->WithType(WithoutExtensions(field->type())));
  }
  switch (storage.id()) {
    case arrow::Type::LIST:
      return arrow::list(fields[0]);
    case arrow::Type::LARGE_LIST:
      return arrow::large_list(fields[0]);
    case arrow::Type::STRUCT:
      return arrow::struct_(std::move(fields));
    case arrow::Type::MAP: {
      const auto& entries = static_cast<const arrow::StructType&>(*fields[0]->type());
      return std::make_shared<arrow::MapType>(entries.field(0), entries.field(1));
    }
    default:
      return type->id() == arrow::Type::EXTENSION
                 ? static_cast<const arrow::ExtensionType&>(*type).storage_type()
                 : type;
  }
}

}  // namespace skep::format

#include "storage/format/timestamp_type.h"

#include <utility>

#include <arrow/type.h>

#include "storage/base/check.h"

namespace skep::format {

namespace {

struct Registered {
  std::shared_ptr<arrow::DataType> wall = std::make_shared<TimestampType>(TimestampFlavor::kWall);
  std::shared_ptr<arrow::DataType> utc = std::make_shared<TimestampType>(TimestampFlavor::kUtc);

  Registered() {
    for (const auto& type : {wall, utc}) {
      const arrow::Status status =
          arrow::RegisterExtensionType(std::static_pointer_cast<arrow::ExtensionType>(type));
      SKEP_CHECK(status.ok() ||
                 status.IsKeyError());  // KeyError: another copy of this library did it
    }
  }
};

}  // namespace

const std::shared_ptr<arrow::DataType>& TimestampStorage() {
  static const auto* const kStorage = new std::shared_ptr<arrow::DataType>(
      arrow::struct_({arrow::field("us", arrow::timestamp(arrow::TimeUnit::MICRO)),
                      arrow::field("sub", arrow::int16())}));
  return *kStorage;
}

std::shared_ptr<arrow::DataType> TimestampTypeOf(TimestampFlavor flavor) {
  static const auto* const kTypes = new Registered;
  return flavor == TimestampFlavor::kWall ? kTypes->wall : kTypes->utc;
}

TimestampType::TimestampType(TimestampFlavor flavor)
    : ExtensionType(TimestampStorage()), flavor_(flavor) {}

std::string TimestampType::extension_name() const {
  return flavor_ == TimestampFlavor::kWall ? "skep.timestamp" : "skep.timestamp_ltz";
}

bool TimestampType::ExtensionEquals(const arrow::ExtensionType& other) const {
  return other.extension_name() == extension_name();
}

std::shared_ptr<arrow::Array> TimestampType::MakeArray(
    std::shared_ptr<arrow::ArrayData> data) const {
  return std::make_shared<arrow::ExtensionArray>(std::move(data));
}

arrow::Result<std::shared_ptr<arrow::DataType>> TimestampType::Deserialize(
    std::shared_ptr<arrow::DataType> storage_type, const std::string& /*serialized*/) const {
  if (!storage_type->Equals(*TimestampStorage())) {
    return arrow::Status::Invalid(extension_name(), " over ", storage_type->ToString());
  }
  return TimestampTypeOf(flavor_);
}

TimestampReader::TimestampReader(const arrow::Array& array) {
  std::shared_ptr<arrow::ArrayData> data = array.data();
  if (data->type->id() == arrow::Type::EXTENSION) {
    data = data->Copy();
    data->type = TimestampStorage();
  }
  storage_ = std::make_shared<arrow::StructArray>(std::move(data));
  // field() applies the offset of a sliced parent.
  us_ = std::static_pointer_cast<arrow::TimestampArray>(storage_->field(0))->raw_values();
  const std::shared_ptr<arrow::Array> sub = storage_->field(1);
  sub_ = std::static_pointer_cast<arrow::Int16Array>(sub)->raw_values();
}

}  // namespace skep::format

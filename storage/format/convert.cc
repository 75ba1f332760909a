#include "storage/format/convert.h"

#include <arrow/array/concatenate.h>

#include "storage/base/text.h"
#include "storage/format/arrow_status.h"
#include "storage/model/errors.h"

namespace skep::format {

namespace {

bool HasOffset(const arrow::ArrayData& data) {
  if (data.offset != 0) return true;
  for (const auto& child : data.child_data) {
    if (HasOffset(*child)) return true;
  }
  return data.dictionary != nullptr && HasOffset(*data.dictionary);
}

}  // namespace

absl::StatusOr<std::shared_ptr<arrow::Array>> WithoutOffsets(
    const std::shared_ptr<arrow::Array>& array) {
  if (!HasOffset(*array->data())) return array;
  return FromArrow(arrow::Concatenate({array}, arrow::default_memory_pool()));
}

int64_t ListOfElement(const arrow::Array& lists, int64_t element) {
  const auto& list = static_cast<const arrow::ListArray&>(lists);  // a map is one, too
  int64_t low = 0, high = list.length() - 1;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (list.value_offset(middle + 1) <= element) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

absl::Status AtColumnAndRow(const absl::Status& status,
                            const std::string& column,
                            FailurePlace place) {
  if (ReasonOf(status) == ErrorReason::kInternal) return status;
  std::string where = "column " + column;
  ErrorMetadata metadata = MetadataOf(status);
  metadata["column"] = column;
  if (place.index >= 0) {
    where += ", row " + std::to_string(place.index);
    metadata["row"] = std::to_string(place.index);
  }
  return MakeError(ReasonOf(status), where + ": " + MessageOf(status), std::move(metadata));
}

}  // namespace skep::format

#pragma once

// What both doors of the vocabulary share. Inside the room.

#include <cstdint>
#include <memory>
#include <string>

#include <absl/status/statusor.h>
#include <arrow/array.h>

namespace skep::format {

// Arrays without an offset at any level, so that buffers can be read from their start.
absl::StatusOr<std::shared_ptr<arrow::Array>> WithoutOffsets(
    const std::shared_ptr<arrow::Array>& array);

// The list (or map) of `lists` that holds element `element`.
int64_t ListOfElement(const arrow::Array& lists, int64_t element);

// Where a conversion failed: the index within the array it was called with; -1 where no value is to
// blame.
struct FailurePlace {
  int64_t index = -1;
};

// `status` with column and row, the row being `first_row` + place.
absl::Status AtColumnAndRow(const absl::Status& status,
                            const std::string& column,
                            FailurePlace place);

}  // namespace skep::format

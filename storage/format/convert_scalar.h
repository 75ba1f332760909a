#pragma once

#include <memory>

#include <absl/status/statusor.h>
#include <arrow/array.h>

#include "storage/format/convert.h"
#include "storage/model/hive_type.h"

namespace skep::format {

using ArrayPtr = std::shared_ptr<arrow::Array>;

// A column of scalars in the storage type of `to`: integers of any width that hold the value, large
// strings, decimals of another precision or scale without loss, timestamps of any unit. CHAR is
// padded, VARCHAR cut. `array` has no offset. Errors: kInvalidRequest (the type does not fit),
// kValueOutOfRange with `place` set.
absl::StatusOr<ArrayPtr> ConvertScalars(const ArrayPtr& array,
                                        const HiveType& to,
                                        FailurePlace* place);

}  // namespace skep::format

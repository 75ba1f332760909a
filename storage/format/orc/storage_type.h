#pragma once

#include <memory>

#include <arrow/type_fwd.h>

#include "storage/format/retype.h"
#include "storage/format/vocabulary.h"

namespace skep::orc {

// How a column's arrays lie in memory: its type in the vocabulary with the timestamps' extension
// types replaced by their storage.
inline std::shared_ptr<arrow::DataType> StorageTypeOf(const HiveType& type) {
  return format::WithoutExtensions(format::ArrowTypeOf(type));
}

}  // namespace skep::orc

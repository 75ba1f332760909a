#pragma once

#include <memory>

#include <arrow/array/data.h>
#include <arrow/type_fwd.h>

namespace skep::format {

// The same buffers under `type`, which must have the same layout: puts the vocabulary's extension
// types and field names on data built in storage types, or takes them off.
std::shared_ptr<arrow::ArrayData> Retype(const arrow::ArrayData& data,
                                         const std::shared_ptr<arrow::DataType>& type);

// `type` with the timestamps' extension types replaced by their storage, at every level.
std::shared_ptr<arrow::DataType> WithoutExtensions(const std::shared_ptr<arrow::DataType>& type);

}  // namespace skep::format

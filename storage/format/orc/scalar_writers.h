#pragma once

// The writers of one type each, for MakeColumnWriter.

#include <memory>

#include "storage/format/orc/column_writer.h"

namespace skep::orc {

std::unique_ptr<ColumnWriter> MakeBooleanWriter(const ColumnContext& context, uint32_t column);
std::unique_ptr<ColumnWriter> MakeTinyintWriter(const ColumnContext& context, uint32_t column);
std::unique_ptr<ColumnWriter> MakeFloatWriter(const ColumnContext& context, uint32_t column);
std::unique_ptr<ColumnWriter> MakeDoubleWriter(const ColumnContext& context, uint32_t column);
std::unique_ptr<ColumnWriter> MakeBinaryWriter(const ColumnContext& context, uint32_t column);
std::unique_ptr<ColumnWriter> MakeTextWriter(const ColumnContext& context, uint32_t column);
std::unique_ptr<ColumnWriter> MakeTimestampWriter(const ColumnContext& context, uint32_t column);
std::unique_ptr<ColumnWriter> MakeDecimalWriter(const ColumnContext& context,
                                                const HiveType& type,
                                                uint32_t column);

}  // namespace skep::orc

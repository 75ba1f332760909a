#pragma once

#include "storage/format/orc/orc.pb.h"
#include "storage/format/orc/tail.h"

namespace skep::orc {

// The plain form of one column's statistics; `raw` keeps the message as found.
ColumnStatistics FromProto(const proto::ColumnStatistics& statistics);

enum class TextBounds { kTrusted, kDrop };

// Makes what the adapter collected fit for other readers: no bounds where a NaN or a zero byte
// spoiled them, bounds of more than 1024 bytes cut, nothing that is not in our description of the
// message.
void Clean(TextBounds text, proto::ColumnStatistics* statistics);

// `into` becomes the statistics of both: counts added, bounds widened, sums added or given up on
// overflow. Where one side has values but no bounds, the result has none.
void Merge(const proto::ColumnStatistics& from, proto::ColumnStatistics* into);

}  // namespace skep::orc

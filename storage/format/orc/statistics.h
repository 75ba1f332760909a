#pragma once

#include "storage/format/orc/orc.pb.h"
#include "storage/format/orc/tail.h"

namespace skep::orc {

// The plain form of one column's statistics; `raw` keeps the message as found.
ColumnStatistics FromProto(const proto::ColumnStatistics& statistics);

}  // namespace skep::orc

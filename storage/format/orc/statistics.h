#pragma once

#include "storage/format/orc/orc.pb.h"
#include "storage/format/orc/tail.h"

namespace skep::orc {

// The plain form of one column's statistics; `raw` keeps the message as found.
ColumnStatistics FromProto(const proto::ColumnStatistics& statistics);

// `into` becomes the statistics of both: counts and bytes added, bounds widened, sums added or
// given up on overflow. Where one side has values but no bounds, the result has none; where one
// side does not say whether it has nulls, both have.
void Merge(const proto::ColumnStatistics& from, proto::ColumnStatistics* into);

}  // namespace skep::orc

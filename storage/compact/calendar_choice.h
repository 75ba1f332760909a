#pragma once

// Which calendar the footer of a compaction's output names: that of its sources, so that a
// compaction of one calendar stores the numbers that it found.

#include <map>
#include <optional>

#include <absl/status/statusor.h>

#include "storage/format/orc/tail.h"
#include "storage/table/sources.h"

namespace skep::compact {

// Pure: looks at the tails that CollectSources read. `override` is a table property's word on all
// files.
//
// A file's calendar matters if one of its DATE or TIMESTAMP columns may hold a value before
// 1582-10-15: its statistics say so, or say nothing that can be trusted. One calendar that matters:
// that one. None: the one all files have, or proleptic where they differ. Errors: kNotSupported
// naming two files whose calendars differ and matter.
absl::StatusOr<orc::Calendar> ChooseCalendar(const std::map<int32_t, table::BucketSources>& sources,
                                             std::optional<orc::Calendar> override);

}  // namespace skep::compact

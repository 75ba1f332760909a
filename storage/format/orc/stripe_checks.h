#pragma once

#include <string>

#include <absl/status/status.h>

#include "storage/format/orc/plan.h"
#include "storage/format/orc/stripe.h"

namespace skep::orc {

// What the adapter would believe without looking: sizes of dictionaries, streams that a column
// needs. Errors: kCorruptFile naming file and column.
absl::Status CheckStripe(const std::string& path,
                         const Tail& tail,
                         const StripeLayout& layout,
                         const ReadPlan& plan);

}  // namespace skep::orc

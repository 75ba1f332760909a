#pragma once

#include <absl/status/status.h>

#include "storage/format/orc/plan.h"
#include "storage/format/orc/stripe.h"
#include "storage/fs/file_system.h"

namespace skep::orc {

// What the adapter would believe without looking: sizes of dictionaries, lengths of text and of
// lists, which are held against the bytes that the stripe has for them, and tags of unions. Errors:
// kCorruptFile naming file and column.
absl::Status CheckStripe(const fs::RandomAccessFile& file,
                         const Tail& tail,
                         const StripeLayout& layout,
                         const ReadPlan& plan);

}  // namespace skep::orc

#pragma once

// One stripe of the adapter's file becomes a stripe of the final one: streams are copied as bytes
// under their final column ids; fractions of timestamps are added, unions put together, row index
// and statistics follow.

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/format/orc/orc.pb.h"
#include "storage/format/orc/physical.h"
#include "storage/format/orc/tail.h"
#include "storage/fs/file_system.h"

namespace skep::orc {

struct FinishedStripe {
  std::string bytes;                                // index, data, footer
  Stripe lengths;                                   // without the offset
  std::vector<proto::ColumnStatistics> statistics;  // by final column
};

// `file` is a whole file of the adapter with exactly one stripe.
absl::StatusOr<FinishedStripe> TranscodeStripe(const fs::RandomAccessFile& file,
                                               const PhysicalWriterSchema& schema,
                                               const PhysicalConverter& collected);

}  // namespace skep::orc

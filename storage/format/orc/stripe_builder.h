#pragma once

// Rows become one stripe: the adapter writes a file of its own into memory, which ends as soon as
// the adapter finds its stripe full; `transcode` makes the final stripe of it. So the boundary of a
// stripe is known when it happens, and no more than one is in memory.

#include <cstdint>
#include <memory>
#include <optional>

#include <absl/status/statusor.h>
#include <arrow/type_fwd.h>

#include "storage/format/orc/physical.h"
#include "storage/format/orc/transcode.h"
#include "storage/format/orc/writer.h"

namespace skep::orc {

// Confined to one thread.
class StripeBuilder {
 public:
  // `schema` and `collected` must outlive it.
  StripeBuilder(const PhysicalWriterSchema& schema,
                PhysicalConverter& collected,
                const WriterOptions& options);
  ~StripeBuilder();

  // At most this many rows in one call: a stripe can end after a call only.
  static constexpr int64_t kMaxRows = 1024;

  // `rows` in the physical schema. A value: the stripe that these rows filled and end.
  absl::StatusOr<std::optional<FinishedStripe>> Append(const arrow::RecordBatch& rows);
  // The stripe of what is left; nullopt where nothing is.
  absl::StatusOr<std::optional<FinishedStripe>> Finish();

 private:
  struct Adapter;
  absl::StatusOr<FinishedStripe> End();

  const PhysicalWriterSchema& schema_;
  PhysicalConverter& collected_;
  const WriterOptions options_;
  std::unique_ptr<Adapter> adapter_;
};

}  // namespace skep::orc

#pragma once

// The five system columns of a batch of events: their order is checked, and what is constant in
// them or counts up is written as such.

#include <cstdint>
#include <optional>
#include <string>

#include <absl/status/status.h>

#include "storage/format/orc/column_writer.h"
#include "storage/format/orc/reader.h"
#include "storage/format/orc/tail.h"

namespace skep::orc {

// Confined to one thread.
class AcidEvents {
 public:
  // RW-8 from batch to batch; counts operations. Errors: kInternal naming `path` and both keys.
  absl::Status Check(const Batch& batch, const std::string& path);

  const AcidStats& stats() const { return stats_; }

  // Appends events [from, from + count) to the first five children of `root`, and their rows to the
  // root.
  static void Append(const Batch& batch, int64_t from, int64_t count, ColumnWriter* root);

 private:
  absl::Status CheckEach(const Batch& batch, const std::string& path);
  absl::Status CheckStep(const AcidKey& key, int64_t current, const std::string& path) const;
  absl::Status Count(int32_t operation, int64_t events, const std::string& path);

  AcidStats stats_;
  std::optional<AcidKey> last_key_;
  int64_t last_current_ = 0;
};

}  // namespace skep::orc

#pragma once

// A stripe while it is written: row groups of its columns, and at the end its bytes.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/column_writer.h"

namespace skep::orc {

struct FinishedStripe {
  Stripe lengths;                                   // without the offset
  std::vector<proto::ColumnStatistics> statistics;  // by column
};

// Confined to one thread.
class StripeWriter {
 public:
  // `stride` rows make a row group; 0: no row index. `root` is column 0.
  StripeWriter(const ColumnContext& context, std::unique_ptr<ColumnWriter> root, uint32_t stride);

  ColumnWriter& root() { return *root_; }
  uint64_t rows() const { return rows_; }
  // Bytes held, an estimate of the stripe's length.
  uint64_t size() const { return root_->size(); }

  // Calls `append(from, count)` for `rows` rows in parts that do not cross row groups; it adds
  // these rows to the root.
  template <class AppendPart>
  absl::Status Append(int64_t rows, const AppendPart& append) {
    for (int64_t from = 0; from < rows;) {
      if (group_rows_ == 0) root_->StartGroup();
      const int64_t room = stride_ == 0 ? rows : stride_ - group_rows_;
      const int64_t count = std::min(room, rows - from);
      SKEP_RETURN_IF_ERROR(append(from, count));
      from += count;
      rows_ += static_cast<uint64_t>(count);
      group_rows_ += count;
      if (group_rows_ == stride_) EndGroup();
    }
    return absl::OkStatus();
  }

  // Writes index, data and footer of the stripe, which has rows, and starts the next one.
  absl::StatusOr<FinishedStripe> End(const std::function<absl::Status(std::string_view)>& write);

 private:
  void EndGroup() {
    root_->EndGroup();
    group_rows_ = 0;
  }

  const ColumnContext context_;
  std::unique_ptr<ColumnWriter> root_;
  std::vector<ColumnWriter*> columns_;  // by id
  const int64_t stride_;
  int64_t group_rows_ = 0;
  uint64_t rows_ = 0;
};

}  // namespace skep::orc

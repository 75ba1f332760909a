#pragma once

// The five system columns of an ACID stripe. Most are one value for the whole stripe and row ids
// count up, so they are decoded as runs (TY-29) and only spelt out where somebody wants them so.

#include <array>
#include <cstdint>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/format/orc/acid_schema.h"
#include "storage/format/orc/reader.h"
#include "storage/format/orc/rle.h"
#include "storage/format/orc/row_index.h"
#include "storage/format/orc/stripe_source.h"

namespace skep::orc {

// Confined to one thread. Errors: kCorruptFile naming file and field; a null is one.
class AcidColumns {
 public:
  // `source` must outlive it.
  explicit AcidColumns(StripeSource& source);

  // The next `count` rows: into the vectors of `batch`, which keep their memory, or into its runs.
  absl::Status ReadValues(int64_t count, Batch* batch);
  absl::Status ReadRuns(int64_t count, Batch* batch);
  absl::Status Skip(uint64_t count);

  // The nodes of the columns, for ReadIndexes.
  std::vector<PlanNode> nodes() const;
  bool Fits(const StripeIndexes& indexes) const;
  absl::Status Seek(const StripeIndexes& indexes, size_t group);

 private:
  struct ColumnState {
    PlanNode node;
    bool has_present = false;
    BitDecoder present;
    IntDecoder values;
    IntRun run;  // what NextRun gave and nobody took yet
  };

  absl::Status CheckPresence(int64_t count);
  template <class T>
  absl::Status Fill(ColumnState& column, int64_t count, std::vector<T>* out);

  StripeSource* source_;
  std::array<ColumnState, kRowField> columns_;
};

}  // namespace skep::orc

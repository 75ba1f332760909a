#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/format/orc/memory_budget.h"
#include "storage/format/orc/reader.h"
#include "storage/format/orc/tail.h"
#include "storage/fs/file_system.h"
#include "storage/model/table.h"

namespace skep::orc {

struct WriterOptions {
  Compression compression = Compression::kZlib;
  uint64_t stripe_size = 64 << 20;    // bytes held after which a stripe ends
  uint64_t block_size = 256 << 10;    // uncompressed bytes of a chunk, below 8 MiB
  uint32_t row_index_stride = 10000;  // 0: no row index
  // In which days are stored and what the footer says: a compaction gives its source's
  // EffectiveCalendar(), so that numbers stay as they are. kUnknown counts as proleptic.
  Calendar calendar = Calendar::kProleptic;
  // Columns of the table with bloom filters, lower case; only primitive ones get one, and booleans
  // none.
  std::vector<std::string> bloom_columns;
  double bloom_false_positives = 0.01;
  // Shared with other writers; must outlive the writer. nullptr: none.
  MemoryBudget* budget = nullptr;
};

// From table properties: `orc.compress`, `orc.stripe.size`, `orc.compress.size`,
// `orc.row.index.stride`, `orc.bloom.filter.columns`, `orc.bloom.filter.fpp`. Errors:
// kInvalidRequest naming the property.
absl::StatusOr<WriterOptions> WriterOptionsOf(const Properties& properties);

struct FileSummary {
  int64_t rows = 0;
  int64_t bytes = 0;
  AcidStats stats;
};

// Writes one file of Hive's six-column ACID schema. Events must come in RW-8 order; a step back is
// kInternal naming both keys: an unsorted file breaks every merging reader. Confined to one thread.
//
// The file appears under a hidden temporary name and gets its own at Close, after the sync. Not
// closed = removed by the destructor. Writes `hive.acid.version`, `hive.acid.key.index`,
// `hive.acid.stats`.
//
// Memory: a stripe and some blocks per column, whatever the batches are.
class AcidWriter {
 public:
  virtual ~AcidWriter() = default;

  // Takes the ACID vectors and `rows` (all columns, in order) of `batch`; rows == nullptr for
  // delete events. Where `row_struct_validity` is given, the row is null where that is.
  //
  // Errors: kValueOutOfRange with column and row: an instant in the last second before 1970 with a
  // millisecond or more (TY-17; one that a file holds was read a second later and is stored as it
  // was), a day that a hybrid calendar does not have; kStorageUnwritable; kInternal (rows of
  // another schema, a step back). After an error the writer is of no use but to be destroyed.
  virtual absl::Status Append(const Batch& batch) = 0;
  // The next event begins a stripe. Without events since the last one: nothing.
  virtual absl::Status EndStripe() = 0;
  virtual absl::StatusOr<FileSummary> Close() = 0;
};

absl::StatusOr<std::unique_ptr<AcidWriter>> CreateAcidWriter(fs::FileSystem& fs,
                                                             const std::string& path,
                                                             const std::vector<Column>& columns,
                                                             const WriterOptions& options);

}  // namespace skep::orc

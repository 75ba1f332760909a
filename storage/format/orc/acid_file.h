#pragma once

// The bytes of an ACID file: events become stripes, and a tail says what there is. Where the file
// lies, under which name and when it is synced, is the affair of `writer`.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "storage/format/orc/acid_events.h"
#include "storage/format/orc/stripe_writer.h"
#include "storage/format/orc/tail_writer.h"
#include "storage/format/orc/writer.h"
#include "storage/fs/file_system.h"

namespace skep::orc {

// Confined to one thread.
class AcidFile {
 public:
  // `path` is for messages.
  AcidFile(std::unique_ptr<fs::WritableFile> file,
           std::string path,
           std::vector<Column> columns,
           const WriterOptions& options);

  // Errors as AcidWriter::Append.
  absl::Status Append(const Batch& batch);
  absl::Status EndStripe();
  // Ends the stripe and writes a tail for all there is. More may follow.
  absl::Status WriteTail();

  fs::WritableFile& file() { return *file_; }
  int64_t bytes() const { return static_cast<int64_t>(offset_); }
  // Events came since the last tail.
  bool has_news() const { return rows_ != rows_in_tail_; }
  FileSummary summary() const { return {rows_, bytes(), events_.stats()}; }
  // Gives the file up: its destructor removes it.
  void Drop() { file_.reset(); }

 private:
  absl::Status CheckShape(const Batch& batch) const;
  absl::Status AppendPart(const Batch& batch, int64_t from, int64_t count);
  absl::Status AppendRow(const Batch& batch, int64_t from, int64_t count);
  absl::Status AtColumn(const absl::Status& status,
                        const Batch& batch,
                        int64_t from,
                        int64_t count) const;
  int64_t RowsOfNextPart() const;
  absl::Status Write(std::string_view bytes);

  std::unique_ptr<fs::WritableFile> file_;
  const std::string path_;
  const std::vector<Column> columns_;
  const MemoryBudget::Share share_;
  BlockCompressor compressor_;
  const ColumnContext context_;
  StripeWriter stripe_;
  AcidEvents events_;
  AcidKey last_in_stripe_;
  TailContents tail_;
  std::vector<AcidKey> key_index_;
  std::vector<uint8_t> row_validity_;  // of the batch that is being appended
  int64_t rows_ = 0, rows_in_tail_ = -1;
  uint64_t offset_ = 0;
  uint64_t bytes_per_row_ = 0;  // as the last part took them
};

}  // namespace skep::orc

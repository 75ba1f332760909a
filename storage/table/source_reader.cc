#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/table/file_facts.h"
#include "storage/table/source_errors.h"
#include "storage/table/sources.h"

namespace skep::table {
namespace {

constexpr int32_t kInsert = 0;
constexpr int32_t kUpdate = 1;
constexpr int32_t kDelete = 2;

// Rows of an original or raw file, given the identities that O-2 and O-6 say they have.
void GiveIdentities(const SourceFile::Synthetic& synthetic, orc::Batch* batch) {
  const size_t rows = static_cast<size_t>(batch->length);
  batch->operation.assign(rows, kInsert);
  batch->original_write_id.assign(rows, synthetic.write_id);
  batch->current_write_id.assign(rows, synthetic.write_id);
  batch->bucket.assign(rows, synthetic.bucket_property);
  batch->row_id.resize(rows);
  std::iota(batch->row_id.begin(), batch->row_id.end(), synthetic.first_row_id + batch->first_row);
}

class CheckedReader final : public SourceReader {
 public:
  CheckedReader(SourceFile file, std::unique_ptr<orc::Reader> reader)
      : file_(std::move(file)), reader_(std::move(reader)) {}

  // Events are checked before anybody chooses among them.
  absl::Status Start(orc::ReadOptions options) {
    if (options.select && !file_.synthetic) {
      checks_in_select_ = true;
      options.select = [this, choose = std::move(options.select)](
                           const orc::Batch& keys, std::vector<orc::RowRange>* wanted) {
        SKEP_RETURN_IF_ERROR(CheckEvents(keys));
        return choose(keys, wanted);
      };
    }
    SKEP_ASSIGN_OR_RETURN(stream_, reader_->Read(options));
    return absl::OkStatus();
  }

  const orc::Tail& tail() const override { return reader_->tail(); }
  const std::vector<Column>& columns() const override { return reader_->columns(); }
  const orc::ReadCounters& counters() const override { return stream_->counters(); }

  absl::StatusOr<std::unique_ptr<orc::Batch>> Next() override {
    SKEP_ASSIGN_OR_RETURN(std::unique_ptr<orc::Batch> batch, stream_->Next());
    if (batch == nullptr) return batch;
    if (file_.synthetic) {
      GiveIdentities(*file_.synthetic, batch.get());
    } else if (!checks_in_select_) {
      SKEP_RETURN_IF_ERROR(CheckEvents(*batch));
    }
    return batch;
  }

 private:
  bool holds_deletes() const { return file_.dir && file_.dir->kind == acid::DirKind::kDeleteDelta; }

  absl::Status CheckEvents(const orc::Batch& batch) {
    for (size_t i = 0; i < static_cast<size_t>(batch.length); ++i) {
      SKEP_RETURN_IF_ERROR(CheckEvent(batch, i));
    }
    return absl::OkStatus();
  }

  absl::Status CheckEvent(const orc::Batch& batch, size_t i) {
    const int64_t row = batch.first_row + static_cast<int64_t>(i);
    SKEP_RETURN_IF_ERROR(CheckOperation(batch.operation[i], row));
    if (row_seen_ && batch.bucket[i] == last_.bucket) {
      // Same property as the row before: its bucket is known to be right.
    } else {
      SKEP_RETURN_IF_ERROR(CheckBucket(batch.bucket[i], row));
    }
    const orc::AcidKey key{batch.original_write_id[i], batch.bucket[i], batch.row_id[i]};
    const int64_t current = batch.current_write_id[i];
    // Equal keys only among the deletes of a compacted delete delta, newest first (RW-8).
    const bool in_order =
        !row_seen_ || last_ < key || (holds_deletes() && last_ == key && last_current_ >= current);
    if (!in_order) return CorruptError(file_.path, OrderMessage(key, row));
    last_ = key;
    last_current_ = current;
    row_seen_ = true;
    return absl::OkStatus();
  }

  absl::Status CheckOperation(int32_t operation, int64_t row) const {
    if (operation == (holds_deletes() ? kDelete : kInsert)) return absl::OkStatus();
    if (operation == kUpdate || operation == kDelete) {
      return LegacyError(file_.path,
                         fmt::format("an event of operation {} in row {}", operation, row));
    }
    return CorruptError(file_.path,
                        holds_deletes() && operation == kInsert
                            ? fmt::format("row {} is an insert event in a delete delta (RW-7)", row)
                            : fmt::format("row {} has the unknown operation {}", row, operation));
  }

  absl::Status CheckBucket(int32_t property, int64_t row) const {
    absl::StatusOr<acid::BucketProperty> decoded = acid::DecodeBucket(property);
    if (!decoded.ok()) {
      return Annotate(decoded.status(), fmt::format("{}, row {}", Printable(file_.path), row));
    }
    if (decoded->bucket == file_.bucket) return absl::OkStatus();
    return CorruptError(file_.path,
                        fmt::format("row {} is of bucket {}, in a file of bucket {} (D-5)",
                                    row,
                                    decoded->bucket,
                                    file_.bucket));
  }

  std::string OrderMessage(const orc::AcidKey& key, int64_t row) const {
    return fmt::format(
        "row {} with row id ({},{},{}) follows ({},{},{}): rows of an ACID file ascend by row id "
        "(RW-8)",
        row,
        key.original_write_id,
        key.bucket,
        key.row_id,
        last_.original_write_id,
        last_.bucket,
        last_.row_id);
  }

  const SourceFile file_;
  const std::unique_ptr<orc::Reader> reader_;
  std::unique_ptr<orc::BatchStream> stream_;
  bool checks_in_select_ = false;
  bool row_seen_ = false;
  orc::AcidKey last_;
  int64_t last_current_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SourceReader>> OpenSource(fs::FileSystem& fs,
                                                         const SourceFile& file,
                                                         const orc::ReaderOptions& reader_options,
                                                         const orc::ReadOptions& read_options) {
  auto opened = fs.OpenForRead(file.path);
  SKEP_RETURN_IF_ERROR(GoneIfNotFound(opened.status(), file.path));
  orc::ReaderOptions options = reader_options;
  options.logical_length = file.logical_length;
  SKEP_ASSIGN_OR_RETURN(auto reader, orc::OpenReader(*std::move(opened), options));
  if (reader->is_acid() == file.synthetic.has_value()) {
    return CorruptError(file.path,
                        reader->is_acid() ? "holds ACID events where plain rows were expected: it "
                                            "was replaced while it was looked at"
                                          : "has not the six ACID columns (RW-2)");
  }
  if (reader->is_acid()) {
    SKEP_RETURN_IF_ERROR(CheckNotLegacy(reader->tail(), file.dir, file.path));
  }
  auto checked = std::make_unique<CheckedReader>(file, std::move(reader));
  SKEP_RETURN_IF_ERROR(checked->Start(read_options));
  return checked;
}

}  // namespace skep::table

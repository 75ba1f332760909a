#include "storage/format/orc/stripe_builder.h"

#include <cstring>
#include <exception>
#include <utility>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>

#include "storage/base/status_macros.h"
#include "storage/format/arrow_status.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

namespace adapters = arrow::adapters::orc;
using format::FromArrow;

constexpr int64_t kHeaderBytes = 3;

arrow::Compression::type CodecOf(Compression compression) {
  switch (compression) {
    case Compression::kZlib:
      return arrow::Compression::GZIP;
    case Compression::kSnappy:
      return arrow::Compression::SNAPPY;
    case Compression::kLz4:
      return arrow::Compression::LZ4;
    case Compression::kZstd:
      return arrow::Compression::ZSTD;
    default:
      return arrow::Compression::UNCOMPRESSED;
  }
}

adapters::WriteOptions AdapterOptions(const WriterOptions& options) {
  adapters::WriteOptions out;
  out.batch_size = StripeBuilder::kMaxRows;
  out.stripe_size = static_cast<int64_t>(options.stripe_size);
  out.compression = CodecOf(options.compression);
  out.compression_block_size = static_cast<int64_t>(options.block_size);
  out.row_index_stride = options.row_index_stride;
  // With the strategy for speed the adapter's lz4 compresses nothing.
  out.compression_strategy = options.compression == Compression::kLz4
                                 ? adapters::CompressionStrategy::kCompression
                                 : adapters::CompressionStrategy::kSpeed;
  return out;
}

// A file that is in memory already.
class MemoryFile final : public fs::RandomAccessFile {
 public:
  explicit MemoryFile(std::shared_ptr<arrow::Buffer> bytes) : bytes_(std::move(bytes)) {}
  int64_t size() const override { return bytes_->size(); }
  const std::string& path() const override { return path_; }
  absl::Status ReadAt(int64_t offset, int64_t length, void* out) const override {
    if (offset < 0 || length < 0 || length > bytes_->size() - offset) {
      return MakeError(ErrorReason::kInternal, "read behind the end of a stripe in memory");
    }
    std::memcpy(out, bytes_->data() + offset, static_cast<size_t>(length));
    return absl::OkStatus();
  }

 private:
  std::shared_ptr<arrow::Buffer> bytes_;
  std::string path_ = "stripe in memory";
};

template <class Call>
absl::Status Guarded(const Call& call) {
  try {
    return FromArrow(call());
  } catch (const std::exception& error) {
    return MakeError(ErrorReason::kInternal, std::string("the ORC adapter: ") + error.what());
  } catch (...) {
    return MakeError(ErrorReason::kInternal, "the ORC adapter threw");
  }
}

}  // namespace

struct StripeBuilder::Adapter {
  std::shared_ptr<arrow::io::BufferOutputStream> out;
  std::unique_ptr<adapters::ORCFileWriter> writer;  // after `out`: it goes first
};

StripeBuilder::StripeBuilder(const PhysicalWriterSchema& schema,
                             PhysicalConverter& collected,
                             const WriterOptions& options)
    : schema_(schema), collected_(collected), options_(options) {}
StripeBuilder::~StripeBuilder() = default;

absl::StatusOr<std::optional<FinishedStripe>> StripeBuilder::Append(
    const arrow::RecordBatch& rows) {
  if (adapter_ == nullptr) {
    auto adapter = std::make_unique<Adapter>();
    SKEP_ASSIGN_OR_RETURN(adapter->out, FromArrow(arrow::io::BufferOutputStream::Create()));
    SKEP_RETURN_IF_ERROR(Guarded([&]() -> arrow::Status {
      ARROW_ASSIGN_OR_RAISE(
          adapter->writer,
          adapters::ORCFileWriter::Open(adapter->out.get(), AdapterOptions(options_)));
      return arrow::Status::OK();
    }));
    adapter_ = std::move(adapter);
  }
  SKEP_RETURN_IF_ERROR(Guarded([&] { return adapter_->writer->Write(rows); }));
  SKEP_ASSIGN_OR_RETURN(const int64_t written, FromArrow(adapter_->out->Tell()));
  if (written <= kHeaderBytes) return std::optional<FinishedStripe>();
  SKEP_ASSIGN_OR_RETURN(FinishedStripe stripe, End());
  return std::optional<FinishedStripe>(std::move(stripe));
}

absl::StatusOr<std::optional<FinishedStripe>> StripeBuilder::Finish() {
  if (adapter_ == nullptr) return std::optional<FinishedStripe>();
  SKEP_ASSIGN_OR_RETURN(FinishedStripe stripe, End());
  return std::optional<FinishedStripe>(std::move(stripe));
}

absl::StatusOr<FinishedStripe> StripeBuilder::End() {
  SKEP_RETURN_IF_ERROR(Guarded([&] { return adapter_->writer->Close(); }));
  SKEP_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> bytes, FromArrow(adapter_->out->Finish()));
  adapter_.reset();
  SKEP_ASSIGN_OR_RETURN(FinishedStripe stripe,
                        TranscodeStripe(MemoryFile(std::move(bytes)), schema_, collected_));
  collected_.Clear();
  return stripe;
}

}  // namespace skep::orc

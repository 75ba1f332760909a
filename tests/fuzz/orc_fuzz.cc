// Entries for the readers of ORC files and of their parts: what is not refused by name is read.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "storage/base/check.h"
#include "storage/format/orc/reader.h"
#include "storage/format/orc/rle.h"
#include "storage/format/orc/stripe.h"
#include "storage/model/errors.h"
#include "tests/fuzz/fuzz_entries.h"
#include "tests/storage/format/bytes_file.h"

namespace skep::fuzz {

namespace {

using skep::testing::BytesFile;

constexpr int64_t kMostRows = 20000;

// A refusal names its reason; anything else is a fault of ours.
void CheckRefusal(const absl::Status& status) {
  const ErrorReason reason = ReasonOf(status);
  SKEP_CHECK(status.ok() || reason == ErrorReason::kCorruptFile ||
             reason == ErrorReason::kNotSupported || reason == ErrorReason::kValueOutOfRange);
}

// Text is not validated by the reader (storage/format/vocabulary.h).
void CheckRows(const arrow::RecordBatch& rows) {
  for (const auto& column : rows.columns()) {
    const arrow::Status status = column->ValidateFull();
    SKEP_CHECK(status.ok() || status.message().find("Invalid UTF8") != std::string::npos);
    SKEP_CHECK(column->length() == rows.num_rows());
  }
}

void RunFile(std::string_view bytes) {
  const auto reader = orc::OpenReader(std::make_unique<BytesFile>(std::string(bytes)), {});
  CheckRefusal(reader.status());
  if (!reader.ok()) return;
  for (const bool middle : {false, true}) {
    orc::ReadOptions options;
    options.acid_runs = middle;
    options.rows = middle ? orc::RowRange{1500, 2000} : orc::RowRange{0, kMostRows};
    const auto stream = (*reader)->Read(options);
    CheckRefusal(stream.status());
    if (!stream.ok()) return;
    orc::Batch batch;
    while (true) {
      const absl::StatusOr<bool> more = (*stream)->Next(&batch);
      CheckRefusal(more.status());
      if (!more.ok() || !*more) break;
      CheckRows(*batch.rows);
    }
  }
}

void RunStripeFooter(std::string_view bytes) {
  const BytesFile file{std::string(bytes)};
  orc::Tail tail;
  tail.file_length = bytes.size();
  tail.types.resize(3);
  tail.stripes.push_back({.footer_length = bytes.size(), .rows = 10});
  for (const orc::Compression compression :
       {orc::Compression::kNone, orc::Compression::kZlib, orc::Compression::kZstd}) {
    tail.compression = compression;
    tail.block_size = 1 << 16;
    CheckRefusal(orc::ReadStripeLayout(file, tail, 0).status());
  }
}

orc::ByteStream StreamOf(const BytesFile& file, orc::Compression compression) {
  orc::StreamSpec spec;
  spec.file = &file;
  spec.compression = compression;
  spec.block_size = 1 << 16;
  spec.length = static_cast<uint64_t>(file.size());
  return orc::ByteStream(std::move(spec));
}

template <class Decoder, class Value>
void Drain(Decoder decoder) {
  std::vector<Value> values(700);
  for (size_t done = 0; done < kMostRows; done += values.size()) {
    const absl::Status status = decoder.Next(values.data(), values.size());
    CheckRefusal(status);
    if (!status.ok()) return;
  }
}

void RunIntegers(std::string_view bytes) {
  const BytesFile file{std::string(bytes)};
  for (const bool version2 : {false, true}) {
    for (const auto compression : {orc::Compression::kNone, orc::Compression::kSnappy}) {
      Drain<orc::IntDecoder, int64_t>(
          orc::IntDecoder(StreamOf(file, compression), version2, orc::Signedness::kSigned));
      Drain<orc::IntDecoder, int16_t>(
          orc::IntDecoder(StreamOf(file, compression), version2, orc::Signedness::kUnsigned));
    }
  }
}

void RunBytes(std::string_view bytes) {
  const BytesFile file{std::string(bytes)};
  for (const auto compression : {orc::Compression::kNone, orc::Compression::kLz4}) {
    Drain<orc::ByteDecoder, uint8_t>(orc::ByteDecoder(StreamOf(file, compression)));
    Drain<orc::BitDecoder, uint8_t>(orc::BitDecoder(StreamOf(file, compression)));
  }
}

template <void (*kRun)(std::string_view)>
int Run(const uint8_t* data, size_t size) {
  kRun({reinterpret_cast<const char*>(data), size});
  return 0;
}

}  // namespace

int FuzzOrcFile(const uint8_t* data, size_t size) { return Run<RunFile>(data, size); }
int FuzzOrcStripeFooter(const uint8_t* data, size_t size) {
  return Run<RunStripeFooter>(data, size);
}
int FuzzOrcIntegers(const uint8_t* data, size_t size) { return Run<RunIntegers>(data, size); }
int FuzzOrcBytes(const uint8_t* data, size_t size) { return Run<RunBytes>(data, size); }

}  // namespace skep::fuzz

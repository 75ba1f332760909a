#include "tests/bench/orc/bench_rows.h"

#include <random>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/io/memory.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include "storage/base/check.h"

namespace skep::bench {

namespace {

void Must(const arrow::Status& status) { SKEP_CHECK(status.ok()); }
template <class T>
T Must(arrow::Result<T> result) {
  SKEP_CHECK(result.ok());
  return *std::move(result);
}

template <class Builder, class Make>
std::shared_ptr<arrow::Array> Column(Builder builder, int64_t rows, const Make& make) {
  for (int64_t i = 0; i < rows; ++i) Must(builder.Append(make(i)));
  return Must(builder.Finish());
}

}  // namespace

std::shared_ptr<arrow::RecordBatch> AcidRows(int64_t rows) {
  std::mt19937_64 random(20150101);
  const auto pool = arrow::default_memory_pool();
  const auto time = arrow::timestamp(arrow::TimeUnit::NANO);
  const auto money = arrow::decimal128(12, 2);
  const auto ints = [&](int32_t value) {
    return Column(arrow::Int32Builder(), rows, [&](int64_t) { return value; });
  };
  const auto longs = [&](const auto& make) { return Column(arrow::Int64Builder(), rows, make); };
  const arrow::FieldVector fields{arrow::field("id", arrow::int64()),
                                  arrow::field("name", arrow::utf8()),
                                  arrow::field("amount", money),
                                  arrow::field("ts", time)};
  const arrow::ArrayVector columns{
      longs([&](int64_t) { return static_cast<int64_t>(random() >> 24); }),
      Column(arrow::StringBuilder(),
             rows,
             [&](int64_t) { return "customer-" + std::to_string(random() % 100'000'000); }),
      Column(
          arrow::Decimal128Builder(money, pool),
          rows,
          [&](int64_t) { return arrow::Decimal128(static_cast<int64_t>(random() % 10'000'000)); }),
      Column(arrow::TimestampBuilder(time, pool), rows, [&](int64_t) {
        return 1'600'000'000'000'000'000 +
               static_cast<int64_t>(random() % 150'000'000) * 1'000'000'000 +
               static_cast<int64_t>(random() % 1000) * 1'000'000;
      })};
  const auto row = Must(arrow::StructArray::Make(columns, fields));
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("operation", arrow::int32()),
                     arrow::field("originalTransaction", arrow::int64()),
                     arrow::field("bucket", arrow::int32()),
                     arrow::field("rowId", arrow::int64()),
                     arrow::field("currentTransaction", arrow::int64()),
                     arrow::field("row", row->type())}),
      rows,
      {ints(0),
       longs([](int64_t) { return int64_t{7}; }),
       ints(536870912),
       longs([](int64_t i) { return i; }),
       longs([](int64_t) { return int64_t{7}; }),
       row});
}

std::shared_ptr<arrow::RecordBatch> TenColumns(int64_t rows) {
  std::mt19937_64 random(20150102);
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (int c = 0; c < 10; ++c) {
    fields.push_back(arrow::field("c" + std::to_string(c), arrow::int64()));
    columns.push_back(Column(arrow::Int64Builder(), rows, [&](int64_t) {
      return static_cast<int64_t>(random() >> 44);
    }));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), rows, std::move(columns));
}

std::string WrittenByArrow(const arrow::RecordBatch& rows, arrow::Compression::type codec) {
  arrow::adapters::orc::WriteOptions options;
  options.compression = codec;
  options.compression_block_size = 256 << 10;
  options.stripe_size = 64 << 20;
  const auto out = Must(arrow::io::BufferOutputStream::Create());
  const auto writer = Must(arrow::adapters::orc::ORCFileWriter::Open(out.get(), options));
  Must(writer->Write(rows));
  Must(writer->Close());
  return Must(out->Finish())->ToString();
}

}  // namespace skep::bench

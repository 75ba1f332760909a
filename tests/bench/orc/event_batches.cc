#include "tests/bench/orc/event_batches.h"

#include <random>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/util/decimal.h>

#include "storage/base/check.h"
#include "storage/format/vocabulary.h"

namespace skep::bench {

namespace {

constexpr int64_t kWriteId = 5;
constexpr int32_t kBucket = 536870912;
constexpr int64_t kFirstTime = 1'700'000'000'000'000'000;

template <class T>
T Must(arrow::Result<T> result) {
  SKEP_CHECK(result.ok());
  return *std::move(result);
}
void Must(const arrow::Status& status) { SKEP_CHECK(status.ok()); }

template <class Builder, class T>
std::shared_ptr<arrow::Array> ArrayOf(const std::vector<T>& values) {
  Builder builder;
  Must(builder.AppendValues(values));
  return Must(builder.Finish());
}

}  // namespace

std::vector<Column> EventColumns() {
  return *ParseColumns("id bigint, name string, amount decimal(12,2), at timestamp");
}

std::vector<orc::Batch> EventBatches(int64_t rows, int64_t batch_rows) {
  std::mt19937_64 random(20240229);
  std::vector<orc::Batch> batches;
  int64_t id = 0, time = kFirstTime;
  for (int64_t first = 0; first < rows; first += batch_rows) {
    const int64_t count = std::min(batch_rows, rows - first);
    arrow::Int64Builder ids;
    arrow::StringBuilder names;
    arrow::Decimal128Builder amounts(arrow::decimal128(12, 2));
    arrow::TimestampBuilder times(arrow::timestamp(arrow::TimeUnit::NANO),
                                  arrow::default_memory_pool());
    orc::Batch batch;
    batch.length = count;
    const auto size = static_cast<size_t>(count);
    batch.operation.assign(size, 0);
    batch.original_write_id.assign(size, kWriteId);
    batch.bucket.assign(size, kBucket);
    batch.current_write_id.assign(size, kWriteId);
    for (int64_t i = first; i < first + count; ++i) {
      batch.row_id.push_back(i);
      id += 1 + static_cast<int64_t>(random() % 8);
      time += static_cast<int64_t>(random() % 500) * 1'000'000;
      Must(ids.Append(id));
      Must(names.Append("customer-" + std::to_string(random() % 20'000)));
      Must(amounts.Append(arrow::Decimal128(static_cast<int64_t>(random() % 10'000'000))));
      Must(times.Append(time));
    }
    const auto raw = arrow::RecordBatch::Make(
        arrow::schema({arrow::field("id", arrow::int64()),
                       arrow::field("name", arrow::utf8()),
                       arrow::field("amount", arrow::decimal128(12, 2)),
                       arrow::field("at", arrow::timestamp(arrow::TimeUnit::NANO))}),
        count,
        {Must(ids.Finish()), Must(names.Finish()), Must(amounts.Finish()), Must(times.Finish())});
    batch.rows = *format::ToVocabulary(*raw, EventColumns());
    batches.push_back(std::move(batch));
  }
  return batches;
}

std::shared_ptr<arrow::RecordBatch> ForAdapter(const orc::Batch& batch) {
  const auto rows = *format::FromVocabulary(*batch.rows, format::TimestampUnit::kNano);
  arrow::FieldVector fields;
  arrow::ArrayVector arrays{
      ArrayOf<arrow::Int32Builder>(batch.operation),
      ArrayOf<arrow::Int64Builder>(batch.original_write_id),
      ArrayOf<arrow::Int32Builder>(batch.bucket),
      ArrayOf<arrow::Int64Builder>(batch.row_id),
      ArrayOf<arrow::Int64Builder>(batch.current_write_id),
      Must(arrow::StructArray::Make(rows->columns(), rows->schema()->fields()))};
  const char* const names[] = {
      "operation", "originalTransaction", "bucket", "rowId", "currentTransaction", "row"};
  for (size_t i = 0; i < arrays.size(); ++i)
    fields.push_back(arrow::field(names[i], arrays[i]->type()));
  return arrow::RecordBatch::Make(arrow::schema(fields), batch.length, arrays);
}

}  // namespace skep::bench

// Files of Arrow's writer, with random schemas and values that are awkward for encoders, read by
// ours. What Arrow's writer gets wrong (children of null structs, slices, old timestamps) is kept
// out of what it is given.

#include <cmath>
#include <limits>
#include <random>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/util/decimal.h>

#include "storage/base/check.h"
#include "storage/format/orc/reader.h"
#include "storage/format/vocabulary.h"
#include "tests/storage/format/bytes_file.h"
#include "tests/testing/status_matchers.h"

namespace skep::orc {
namespace {

using ::skep::testing::BytesFile;
using ::skep::testing::IsOk;
using Random = std::mt19937_64;

void Must(const arrow::Status& status) {
  EXPECT_TRUE(status.ok()) << status.ToString();
  SKEP_CHECK(status.ok());
}
template <class T>
T Must(arrow::Result<T> result) {
  SKEP_CHECK(result.ok());
  return *std::move(result);
}

int64_t Below(Random& random, int64_t bound) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
}

// Integers as writers meet them: one distribution for a column, so that runs, near-runs, outliers
// for patched base and extremes all come up.
class Integers {
 public:
  Integers(Random& random, int bits)
      : random_(random), bits_(bits), shape_(Below(random, 8)), last_(Draw()) {
    step_ = Below(random, 5) - 2;
  }

  int64_t Next() {
    switch (shape_) {
      case 0:  // one value
        break;
      case 1:  // counting
        last_ = Narrow(static_cast<uint64_t>(last_) + static_cast<uint64_t>(step_));
        break;
      case 2:  // counting, with jumps
        last_ = Below(random_, 20) == 0
                    ? Draw()
                    : Narrow(static_cast<uint64_t>(last_) + static_cast<uint64_t>(step_));
        break;
      case 3:  // small, with outliers
        last_ = Below(random_, 40) == 0 ? Draw() : Below(random_, 100);
        break;
      case 4:  // runs
        if (Below(random_, 9) == 0) last_ = Draw();
        break;
      case 5:  // extremes
        last_ = Below(random_, 2) == 0 ? Lowest() : Highest();
        break;
      case 6:  // ascending by different steps
        last_ = Narrow(static_cast<uint64_t>(last_) + random_() % 1000);
        break;
      default:
        last_ = Draw();
    }
    return last_;
  }

 private:
  int64_t Lowest() const { return bits_ == 64 ? INT64_MIN : -(int64_t{1} << (bits_ - 1)); }
  int64_t Highest() const { return bits_ == 64 ? INT64_MAX : (int64_t{1} << (bits_ - 1)) - 1; }
  int64_t Narrow(uint64_t value) const {
    return static_cast<int64_t>(value << (64 - bits_)) >> (64 - bits_);
  }
  int64_t Draw() { return Narrow(random_() >> (64 - 1 - Below(random_, bits_))); }

  Random& random_;
  int bits_;
  int64_t shape_;
  int64_t step_ = 0;
  int64_t last_;
};

std::shared_ptr<arrow::DataType> RandomType(Random& random, int depth) {
  switch (Below(random, depth > 0 ? 14 : 11)) {
    case 0:
      return arrow::boolean();
    case 1:
      return arrow::int8();
    case 2:
      return arrow::int16();
    case 3:
      return arrow::int32();
    case 4:
      return arrow::int64();
    case 5:
      return arrow::float32();
    case 6:
      return arrow::float64();
    case 7:
      return arrow::utf8();
    case 8:
      return arrow::binary();
    case 9:
      return arrow::date32();
    case 10: {
      const auto precision = static_cast<int32_t>(1 + Below(random, 38));
      return arrow::decimal128(precision, static_cast<int32_t>(Below(random, precision + 1)));
    }
    case 11:
      return arrow::list(RandomType(random, depth - 1));
    case 12:
      return arrow::map(arrow::int32(), RandomType(random, depth - 1));
    default: {
      arrow::FieldVector fields;
      for (int64_t i = Below(random, 3); i >= 0; --i) {
        fields.push_back(arrow::field("f" + std::to_string(i), RandomType(random, depth - 1)));
      }
      return arrow::struct_(std::move(fields));
    }
  }
}

// Values of one column. Children of null structs are null (the writer's fault W1).
class Values {
 public:
  Values(Random& random, const arrow::DataType& type)
      : random_(random),
        nulls_(Below(random, 4)),
        integers_(random,
                  type.id() == arrow::Type::INT8    ? 8
                  : type.id() == arrow::Type::INT16 ? 16
                  : type.id() == arrow::Type::INT64 ? 64
                                                    : 32),
        distinct_(1 + Below(random, 60)),
        length_(Below(random, 3) == 0 ? 2000 : 12) {
    if (type.id() == arrow::Type::MAP) {
      const auto& map = static_cast<const arrow::MapType&>(type);
      children_.emplace_back(random, *map.key_type());
      children_.back().nulls_ = 0;
      children_.emplace_back(random, *map.item_type());
    } else {
      for (const auto& field : type.fields()) children_.emplace_back(random, *field->type());
    }
  }

  void Append(arrow::ArrayBuilder* builder) {
    const bool null = nulls_ == 1   ? Below(random_, 5) == 0
                      : nulls_ == 2 ? Below(random_, 500) == 0
                                    : nulls_ == 3 && Below(random_, 40) != 0;
    if (null) return AppendNull(builder);
    switch (builder->type()->id()) {
      case arrow::Type::BOOL:
        return Must(As<arrow::BooleanBuilder>(builder)->Append(Below(random_, 3) == 0));
      case arrow::Type::INT8:
        return Must(As<arrow::Int8Builder>(builder)->Append(static_cast<int8_t>(integers_.Next())));
      case arrow::Type::INT16:
        return Must(
            As<arrow::Int16Builder>(builder)->Append(static_cast<int16_t>(integers_.Next())));
      case arrow::Type::INT32:
        return Must(
            As<arrow::Int32Builder>(builder)->Append(static_cast<int32_t>(integers_.Next())));
      case arrow::Type::INT64:
        return Must(As<arrow::Int64Builder>(builder)->Append(integers_.Next()));
      case arrow::Type::DATE32:
        return Must(As<arrow::Date32Builder>(builder)->Append(
            static_cast<int32_t>(Below(random_, 3'600'000) - 700'000)));
      case arrow::Type::FLOAT:
        return Must(As<arrow::FloatBuilder>(builder)->Append(static_cast<float>(Real())));
      case arrow::Type::DOUBLE:
        return Must(As<arrow::DoubleBuilder>(builder)->Append(Real()));
      case arrow::Type::STRING:
      case arrow::Type::BINARY:
        return Must(As<arrow::BinaryBuilder>(builder)->Append(Text()));
      case arrow::Type::DECIMAL128:
        return Must(As<arrow::Decimal128Builder>(builder)->Append(Decimal(*builder->type())));
      default:
        return AppendNested(builder);
    }
  }

 private:
  template <class Builder>
  static Builder* As(arrow::ArrayBuilder* builder) {
    return static_cast<Builder*>(builder);
  }

  static void AppendNull(arrow::ArrayBuilder* builder) {
    if (builder->type()->id() != arrow::Type::STRUCT) return Must(builder->AppendNull());
    auto* structs = As<arrow::StructBuilder>(builder);
    Must(structs->Append(false));
    for (int i = 0; i < structs->num_fields(); ++i) AppendNull(structs->field_builder(i));
  }

  void AppendNested(arrow::ArrayBuilder* builder) {
    if (auto* structs = dynamic_cast<arrow::StructBuilder*>(builder)) {
      Must(structs->Append());
      for (int i = 0; i < structs->num_fields(); ++i) {
        children_[static_cast<size_t>(i)].Append(structs->field_builder(i));
      }
      return;
    }
    const int64_t count = Below(random_, 10) == 0 ? Below(random_, 30) : Below(random_, 3);
    if (auto* maps = dynamic_cast<arrow::MapBuilder*>(builder)) {
      Must(maps->Append());
      for (int64_t i = 0; i < count; ++i) {
        children_[0].Append(maps->key_builder());
        children_[1].Append(maps->item_builder());
      }
      return;
    }
    auto* lists = As<arrow::ListBuilder>(builder);
    Must(lists->Append());
    for (int64_t i = 0; i < count; ++i) children_[0].Append(lists->value_builder());
  }

  double Real() {
    switch (Below(random_, 12)) {
      case 0:
        return -0.0;
      case 1:
        return std::numeric_limits<double>::quiet_NaN();
      case 2:
        return std::numeric_limits<double>::infinity();
      default:
        return std::ldexp(static_cast<double>(static_cast<int64_t>(random_())),
                          static_cast<int>(Below(random_, 80)) - 80);
    }
  }

  std::string Text() {
    if (Below(random_, 8) == 0) return "";
    Random word(static_cast<uint64_t>(Below(random_, distinct_)));
    std::string text(static_cast<size_t>(Below(word, length_)), '\0');
    for (char& c : text) c = static_cast<char>(' ' + Below(word, 90));
    return text;
  }

  arrow::Decimal128 Decimal(const arrow::DataType& type) {
    const auto& decimal = static_cast<const arrow::Decimal128Type&>(type);
    const auto digits = 1 + Below(random_, decimal.precision());
    std::string text = Below(random_, 2) == 0 ? "-" : "";
    for (int64_t i = 0; i < digits; ++i) text += static_cast<char>('0' + Below(random_, 10));
    return Must(arrow::Decimal128::FromString(text));
  }

  Random& random_;
  int64_t nulls_;  // none, some, few, most
  Integers integers_;
  int64_t distinct_;
  int64_t length_;
  std::vector<Values> children_;
};

std::shared_ptr<arrow::RecordBatch> RandomRows(Random& random, int64_t rows) {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (int64_t c = Below(random, 4); c >= 0; --c) {
    const auto type = RandomType(random, 2);
    fields.push_back(arrow::field("c" + std::to_string(c), type));
    const std::unique_ptr<arrow::ArrayBuilder> builder = Must(arrow::MakeBuilder(type));
    Values values(random, *type);
    for (int64_t i = 0; i < rows; ++i) values.Append(builder.get());
    columns.push_back(Must(builder->Finish()));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), rows, std::move(columns));
}

std::string WrittenByArrow(Random& random, const arrow::RecordBatch& rows) {
  constexpr arrow::Compression::type kCodecs[] = {arrow::Compression::UNCOMPRESSED,
                                                  arrow::Compression::ZSTD,
                                                  arrow::Compression::SNAPPY,
                                                  arrow::Compression::LZ4,
                                                  arrow::Compression::GZIP};  // zlib
  arrow::adapters::orc::WriteOptions options;
  options.compression = kCodecs[Below(random, 5)];
  options.compression_block_size = (1 + Below(random, 4)) << 16;  // its own unit
  options.row_index_stride = 1 + Below(random, 400);
  options.stripe_size = 1 + Below(random, 20000);
  options.batch_size = 1 + Below(random, 300);
  options.dictionary_key_size_threshold = static_cast<double>(Below(random, 3)) / 2;
  const auto out = Must(arrow::io::BufferOutputStream::Create());
  const auto writer = Must(arrow::adapters::orc::ORCFileWriter::Open(out.get(), options));
  Must(writer->Write(rows));
  Must(writer->Close());
  return Must(out->Finish())->ToString();
}

void ExpectSameRows(Random& random, Reader& reader, const arrow::RecordBatch& expected) {
  ReadOptions options;
  options.batch_rows = 1 + Below(random, 500);
  int64_t begin = 0, end = expected.num_rows();
  if (Below(random, 2) == 0) {
    begin = Below(random, end + 1);
    end = begin + Below(random, end - begin + 1);
    options.rows = RowRange{begin, end};
  }
  SKEP_ASSERT_OK_AND_ASSIGN(const auto stream, reader.Read(options));
  int64_t at = begin;
  Batch batch;
  std::string got, want;
  while (true) {
    SKEP_ASSERT_OK_AND_ASSIGN(const bool more, stream->Next(&batch));
    if (!more) break;
    ASSERT_TRUE(batch.rows->ValidateFull().ok()) << batch.rows->ValidateFull().ToString();
    ASSERT_EQ(batch.first_row, at);
    for (int64_t i = 0; i < batch.length; ++i, ++at) {
      for (int c = 0; c < expected.num_columns(); ++c) {
        const HiveType& type = reader.columns()[static_cast<size_t>(c)].type;
        got.clear();
        want.clear();
        format::AppendJson(*batch.rows->column(c), i, type, &got);
        format::AppendJson(*expected.column(c), at, type, &want);
        ASSERT_EQ(got, want) << "row " << at << ", column " << c << " " << type.ToString();
      }
    }
  }
  ASSERT_EQ(at, end);
}

TEST(Differential, FilesOfArrowsWriterReadAsGiven) {
  constexpr uint64_t kSeeds = 2000;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int64_t rows = seed % 50 == 0 ? Below(random, 6000) : Below(random, 400);
    const auto expected = RandomRows(random, rows);
    const std::string bytes = WrittenByArrow(random, *expected);
    SKEP_ASSERT_OK_AND_ASSIGN(const auto reader,
                              OpenReader(std::make_unique<BytesFile>(bytes), {}));
    ASSERT_EQ(reader->columns().size(), static_cast<size_t>(expected->num_columns()));
    for (int i = 0; i < 2; ++i) ExpectSameRows(random, *reader, *expected);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace skep::orc

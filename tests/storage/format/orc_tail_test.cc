#include <set>

#include "storage/base/text.h"
#include "storage/format/orc/tail.h"
#include "storage/fs/posix_file_system.h"
#include "tests/storage/format/fixtures.h"
#include "tests/testing/status_matchers.h"

namespace skep::orc {
namespace {

using nlohmann::json;
using ::skep::testing::Fixture;
using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::testing::HasSubstr;

// Files whose tail is refused, with the word that the message must have.
const std::map<std::string, std::string>& Refused() {
  static const std::map<std::string, std::string> kRefused{
      {"orc/apache-orc/version1999.orc", "version 19.99"}};
  return kRefused;
}

absl::StatusOr<std::unique_ptr<fs::RandomAccessFile>> Open(const std::string& path) {
  return fs::PosixFileSystem().OpenForRead(path);
}

void CompareStatistics(const json& expected, const ColumnStatistics& actual, const HiveType& type) {
  const auto number = [](const json& of, const char* name) -> std::optional<int64_t> {
    if (!of.contains(name)) return std::nullopt;
    return std::stoll(of[name].get<std::string>());
  };
  if (expected.contains("numberOfValues")) {
    EXPECT_EQ(actual.values, std::stoull(expected["numberOfValues"].get<std::string>()));
  }
  EXPECT_EQ(actual.has_null, expected.value("hasNull", true));
  if (expected.contains("intStatistics")) {
    const json& ints = expected["intStatistics"];
    EXPECT_EQ(actual.int_min, number(ints, "minimum"));
    EXPECT_EQ(actual.int_max, number(ints, "maximum"));
    EXPECT_EQ(actual.int_sum, number(ints, "sum"));
  }
  if (expected.contains("stringStatistics") && expected["stringStatistics"].contains("minimum")) {
    EXPECT_EQ(actual.string_min, expected["stringStatistics"]["minimum"].get<std::string>());
    EXPECT_EQ(actual.string_max, expected["stringStatistics"]["maximum"].get<std::string>());
  }
  if (expected.contains("doubleStatistics") && expected["doubleStatistics"].contains("minimum") &&
      expected["doubleStatistics"]["minimum"].is_number()) {
    EXPECT_EQ(actual.double_min, expected["doubleStatistics"]["minimum"].get<double>());
    EXPECT_EQ(actual.double_max, expected["doubleStatistics"]["maximum"].get<double>());
  }
  if (expected.contains("timestampStatistics")) {
    EXPECT_EQ(actual.timestamp_min_utc_ms, number(expected["timestampStatistics"], "minimumUtc"));
    EXPECT_EQ(actual.timestamp_max_utc_ms, number(expected["timestampStatistics"], "maximumUtc"));
  }
  if (expected.contains("decimalStatistics") && expected["decimalStatistics"].contains("minimum")) {
    EXPECT_EQ(actual.decimal_min, expected["decimalStatistics"]["minimum"].get<std::string>());
    EXPECT_EQ(actual.decimal_max, expected["decimalStatistics"]["maximum"].get<std::string>());
  }
  if (expected.contains("dateStatistics") && expected["dateStatistics"].contains("minimum")) {
    const json& minimum = expected["dateStatistics"]["minimum"];
    EXPECT_EQ(actual.date_min,
              minimum.is_string() ? std::stol(minimum.get<std::string>()) : minimum.get<int64_t>());
  }
  if (type.kind == TypeKind::kBoolean && expected.contains("bucketStatistics")) {
    EXPECT_EQ(actual.true_count,
              std::stoull(expected["bucketStatistics"]["count"][0].get<std::string>()));
  }
}

void CompareTail(const json& expected, const fs::RandomAccessFile& file, const Tail& tail) {
  EXPECT_EQ(tail.rows, expected["rows"].get<uint64_t>());
  EXPECT_EQ(AsciiLower(expected["compression"].get<std::string>()),
            CompressionName(tail.compression));
  if (tail.compression != Compression::kNone && expected["block"].get<uint64_t>() != 0) {
    EXPECT_EQ(tail.block_size, expected["block"].get<uint64_t>());
  }
  EXPECT_EQ(tail.writer_version, expected["writerVersion"].get<uint32_t>());
  if (expected.contains("rowIndexStride") && expected["rowIndexStride"].is_number()) {
    EXPECT_EQ(tail.row_index_stride.value_or(0), expected["rowIndexStride"].get<uint32_t>());
  }
  if (expected.contains("softwareVersion")) {
    EXPECT_EQ(tail.software_version, expected["softwareVersion"].get<std::string>());
  }
  const std::string format =
      std::to_string(tail.version[0]) + "." + std::to_string(tail.version[1]);
  EXPECT_TRUE(expected["format"].get<std::string>().starts_with(format)) << expected["format"];
  const std::string schema = expected["schema"].get<std::string>();
  if (schema.find("decimal(0,0)") == std::string::npos) {
    EXPECT_EQ(tail.root.ToString(), schema);
  }
  ASSERT_EQ(tail.stripes.size(), expected["stripeCount"].get<size_t>());
  std::set<std::string> zones;
  for (size_t i = 0; i < tail.stripes.size(); ++i) {
    if (i < expected["stripes"].size()) {
      const json& stripe = expected["stripes"][i];
      EXPECT_EQ(tail.stripes[i].offset, stripe["offset"].get<uint64_t>());
      EXPECT_EQ(tail.stripes[i].index_length, stripe["indexLength"].get<uint64_t>());
      EXPECT_EQ(tail.stripes[i].data_length, stripe["dataLength"].get<uint64_t>());
      EXPECT_EQ(tail.stripes[i].footer_length, stripe["footerLength"].get<uint64_t>());
      EXPECT_EQ(tail.stripes[i].rows, stripe["rows"].get<uint64_t>());
    }
    const absl::StatusOr<std::string> zone = ReadStripeWriterZone(file, tail, i);
    if (expected.contains("error")) {
      EXPECT_THAT(zone, HasReason(ErrorReason::kCorruptFile));
    } else {
      ASSERT_THAT(zone, ::skep::testing::IsOk());
      if (!zone->empty()) zones.insert(*zone);
    }
  }
  if (expected.contains("writerTimezones")) {
    EXPECT_EQ(zones, expected["writerTimezones"].get<std::set<std::string>>());
  }
  for (const auto& item : expected["userMetadata"].items()) {
    ASSERT_TRUE(tail.user_metadata.contains(item.key())) << item.key();
    const std::string& value = tail.user_metadata.at(item.key());
    const std::string recorded = item.value().get<std::string>();
    if (recorded.ends_with(" bytes>")) {
      EXPECT_EQ("<" + std::to_string(value.size()) + " bytes>", recorded);
    } else if (recorded.find('\\') == std::string::npos) {  // binary values are recorded escaped
      EXPECT_EQ(value, recorded);
    }
  }
  EXPECT_EQ(tail.user_metadata.size(), expected["userMetadata"].size());
  if (expected.contains("columnStatistics") && !expected["columnStatistics"].empty()) {
    ASSERT_EQ(tail.file_statistics.size(), expected["columnStatistics"].size());
    for (size_t i = 0; i < tail.file_statistics.size(); ++i) {
      SCOPED_TRACE("column " + std::to_string(i));
      CompareStatistics(
          expected["columnStatistics"][i], tail.file_statistics[i], tail.types[i].type);
    }
  }
}

TEST(ReadTail, AgreesWithTheRecordedTailOfEveryFixture) {
  SKEP_REQUIRE_FIXTURES();
  for (const json& expected : ::skep::testing::ReadJsonLines(Fixture("orc-tails.jsonl"))) {
    const std::string name = expected["file"].get<std::string>();
    SCOPED_TRACE(name);
    SKEP_ASSERT_OK_AND_ASSIGN(const auto file, Open(Fixture(name)));
    const absl::StatusOr<Tail> tail = ReadTail(*file, file->size());
    if (const auto refused = Refused().find(name); refused != Refused().end()) {
      EXPECT_THAT(tail, HasReason(ErrorReason::kNotSupported));
      EXPECT_THAT(tail, HasMessage(HasSubstr(refused->second)));
      continue;
    }
    ASSERT_THAT(tail, ::skep::testing::IsOk());
    if (file->size() == 0) {
      EXPECT_EQ(tail->rows, 0U);
      continue;
    }
    CompareTail(expected, *file, *tail);
  }
}

}  // namespace
}  // namespace skep::orc

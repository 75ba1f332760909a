// Real files, damaged: an error or rows, never a crash, never a hang.

#include <cstring>
#include <random>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/reader.h"
#include "storage/format/vocabulary.h"
#include "tests/storage/format/bytes_file.h"
#include "tests/storage/format/fixtures.h"
#include "tests/testing/status_matchers.h"

namespace skep::orc {
namespace {

using ::skep::testing::BytesFile;
using ::skep::testing::Fixture;
using ::skep::testing::HasReason;

const std::vector<std::string>& Names() {
  static const std::vector<std::string> kNames{
      "acid/streaming-two-txns/delta_0000001_0000002/bucket_00000",
      "acid/originals-with-copies/000000_0",
      "acid/nation-25k-deletes/delete_delta_0000003_0000003_0000/bucket_00000",
      "orc/apache-orc/TestOrcFile.test1.orc",
      "orc/apache-orc/TestOrcFile.testTimestamp.orc",
      "orc/apache-orc/TestOrcFile.testStripeLevelStats.orc",
      "orc/apache-orc/complextypes_iceberg.orc",
      "orc/apache-orc/orc_no_format.orc",
      "orc/apache-orc/TestOrcFile.testUnionAndTimestamp.orc",
      "orc/cudf/TestOrcFile.decimal.multiple.values.orc",
      "orc/impala/nullable.orc",
      "orc/impala/chars-formats.orc",
      "orc/hive/part.orc",
      "orc/hive/orc_legacy_mixed_dates.orc"};
  return kNames;
}

// One damage of a kind that files get: a flipped byte, a run of one byte, a piece that moved, a cut
// end. The tail is hit as often as the body: it is where lengths are.
std::string Damaged(std::string bytes, std::mt19937_64& random) {
  const auto below = [&](size_t bound) {
    return static_cast<size_t>(random() % std::max<size_t>(1, bound));
  };
  for (size_t hits = 1 + below(3); hits > 0 && !bytes.empty(); --hits) {
    const size_t tail = std::min<size_t>(bytes.size(), 300);
    const size_t at = below(2) == 0 ? bytes.size() - 1 - below(tail) : below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8));
        break;
      case 2:
        std::memset(bytes.data() + at,
                    below(2) == 0 ? 0xff : 0,
                    std::min<size_t>(bytes.size() - at, 1 + below(10)));
        break;
      case 3:
        std::memmove(bytes.data() + at,
                     bytes.data() + below(bytes.size() - std::min(bytes.size() - at, size_t{8})),
                     std::min<size_t>(bytes.size() - at, 8));
        break;
      default:
        if (below(4) == 0) bytes.resize(at);
        break;
    }
  }
  return bytes;
}

absl::Status ReadAll(std::string bytes) {
  absl::StatusOr<std::unique_ptr<Reader>> reader =
      OpenReader(std::make_unique<BytesFile>(std::move(bytes)), {});
  if (!reader.ok()) return reader.status();
  SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<BatchStream> stream, (*reader)->Read({}));
  std::string text;
  for (int64_t rows = 0; rows < 30000;) {
    SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<Batch> batch, stream->Next());
    if (batch == nullptr) break;
    EXPECT_TRUE(batch->rows->Validate().ok()) << batch->rows->Validate().ToString();
    for (int c = 0; c < batch->rows->num_columns(); ++c) {
      const HiveType& type = (*reader)->columns()[static_cast<size_t>(c)].type;
      for (int64_t i = 0; i < std::min<int64_t>(batch->length, 200); ++i) {
        text.clear();
        format::AppendJson(*batch->rows->column(c), i, type, &text);
      }
    }
    rows += batch->length;
  }
  return absl::OkStatus();
}

bool IsExpected(const absl::Status& status) {
  switch (ReasonOf(status)) {
    case ErrorReason::kCorruptFile:
    case ErrorReason::kNotSupported:
    case ErrorReason::kValueOutOfRange:
      return true;
    default:
      return status.ok();
  }
}

TEST(DamagedFiles, GiveAnErrorOrRows) {
  SKEP_REQUIRE_FIXTURES();
  size_t refused = 0;
  constexpr size_t kEach = 220;
  for (const std::string& name : Names()) {
    const std::string bytes = ::skep::testing::ReadFile(Fixture(name));
    ASSERT_THAT(ReadAll(bytes), ::skep::testing::IsOk()) << name;
    for (uint64_t seed = 1; seed <= kEach; ++seed) {
      std::mt19937_64 random(seed * 1000003);
      const absl::Status status = ReadAll(Damaged(bytes, random));
      ASSERT_TRUE(IsExpected(status)) << name << " seed " << seed << ": " << status;
      if (!status.ok()) ++refused;
    }
  }
  EXPECT_GT(refused, Names().size() * kEach / 4);
}

TEST(DamagedFiles, CutAnywhereAreRefused) {
  SKEP_REQUIRE_FIXTURES();
  for (const char* name :
       {"orc/apache-orc/TestOrcFile.test1.orc", "orc/trino/single_int_column.orc"}) {
    const std::string bytes = ::skep::testing::ReadFile(Fixture(name));
    for (size_t length = 1; length < bytes.size(); ++length) {
      ASSERT_THAT(ReadAll(bytes.substr(0, length)), HasReason(ErrorReason::kCorruptFile))
          << name << " " << length;
    }
  }
}

TEST(DamagedFiles, OfTheFixturesAreNamed) {
  SKEP_REQUIRE_FIXTURES();
  for (const char* name :
       {"missing_length_stream_in_string_dict.orc", "stripe_footer_bad_column_encodings.orc"}) {
    SCOPED_TRACE(name);
    EXPECT_THAT(
        ReadAll(::skep::testing::ReadFile(Fixture(std::string("orc/apache-orc/corrupt/") + name))),
        HasReason(ErrorReason::kCorruptFile));
  }
}

}  // namespace
}  // namespace skep::orc

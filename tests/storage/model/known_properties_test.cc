#include "storage/model/known_properties.h"

#include <gmock/gmock.h>

#include "tests/testing/status_matchers.h"

namespace skep {
namespace {

using ::testing::AllOf;
using testing::HasMessage;
using testing::HasReason;
using ::testing::HasSubstr;
using testing::IsOk;

struct Case {
  const char* name;
  const char* value;
  const char* allowed;  // what the refusal says; nullptr: taken
};

TEST(KnownProperties, TakeTheirValuesOnly) {
  constexpr char kBooleans[] = "it takes true or false";
  constexpr char kCompressions[] = "it takes none, zlib, snappy, lz4 or zstd";
  const Case cases[] = {
      {"orc.compress", "ZLIB", nullptr},
      {"ORC.Compress", " zstd ", nullptr},
      {"orc.compress", "", nullptr},
      {"orc.compress", "FOO", kCompressions},
      {"orc.compress", "lzo", kCompressions},
      {"orc.stripe.size", "67108864", nullptr},
      {"orc.stripe.size", "65535", "it takes a whole number from 65536 to 2146435072"},
      {"orc.stripe.size", "64MB", "65536"},
      {"orc.compress.size", "8388607", nullptr},
      {"orc.compress.size", "8388608", "8388607"},
      {"orc.row.index.stride", "1000", nullptr},
      {"orc.bloom.filter.fpp", "0.05", nullptr},
      {"orc.bloom.filter.fpp", "0", "it takes a number between 0 and 1"},
      {"orc.bloom.filter.fpp", "1", "it takes a number between 0 and 1"},
      {"orc.bloom.filter.fpp", "often", "it takes a number between 0 and 1"},
      {"orc.row.index.stride", "999", "1000"},
      {"orc.row.index.stride", "-1", "1000"},
      {"transactional", "True", nullptr},
      {"transactional", "yes", kBooleans},
      {"transactional_properties", "insert_only", nullptr},
      {"transactional_properties", "default", nullptr},
      {"transactional_properties", "insertonly", "it takes default or insert_only"},
      {"no_auto_compaction", "TRUE", nullptr},
      {"NO_AUTO_COMPACTION", "1", kBooleans},
      {"no_cleanup", "ja", kBooleans},
      {"compactorthreshold.hive.compactor.delta.num.threshold", "4", nullptr},
      {"compactorthreshold.hive.compactor.delta.num.threshold",
       "4.5",
       "a whole number of at least 0"},
      {"compactorthreshold.hive.compactor.delta.pct.threshold", "0.5", nullptr},
      {"compactorthreshold.hive.compactor.delta.pct.threshold", "nan", "a number of at least 0"},
      {"compactorthreshold.hive.compactor.delta.pct.threshold", "-1", "a number of at least 0"},
      {"orc.compression", "FOO", nullptr},  // nobody's here
      {"comment", "orc.compress=FOO", nullptr},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.name) + "=" + c.value);
    const absl::Status status = CheckPropertyValues({{"note", "x"}, {c.name, c.value}});
    if (c.allowed == nullptr) {
      EXPECT_THAT(status, IsOk());
      continue;
    }
    EXPECT_THAT(status, HasReason(ErrorReason::kInvalidRequest));
    EXPECT_THAT(status, HasMessage(AllOf(HasSubstr(c.allowed), HasSubstr(c.value))));
  }
}

TEST(KnownProperties, AreNamedByTheRefusal) {
  const absl::Status status = CheckPropertyValues({{"Orc.Compress", "FOO\n"}});
  EXPECT_THAT(status,
              HasMessage(R"(table property orc.compress is "FOO\x0a"; it takes none, zlib, snappy, )"
                         R"(lz4 or zstd)"));
  EXPECT_EQ(MetadataOf(status)["field"], "orc.compress");
}

TEST(KnownProperties, CanBeAskedForOneByOne) {
  const Properties properties = {{"orc.compress", "FOO"}, {"ORC.STRIPE.SIZE", "100000"}};
  EXPECT_THAT(CheckPropertyValue(properties, "orc.stripe.size"), IsOk());
  EXPECT_THAT(CheckPropertyValue(properties, "orc.compress.size"), IsOk());
  EXPECT_THAT(CheckPropertyValue(properties, "orc.compress"),
              HasReason(ErrorReason::kInvalidRequest));
}

}  // namespace
}  // namespace skep

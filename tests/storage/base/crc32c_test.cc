#include "storage/base/crc32c.h"

#include <string>

#include <gtest/gtest.h>

#include "storage/base/random.h"

namespace skep {
namespace {

// RFC 3720, B.4, and the check value of the catalogues.
TEST(Crc32c, HasTheValuesOfTheStandard) {
  struct Case {
    std::string bytes;
    uint32_t crc;
  };
  std::string ascending;
  for (char c = 0; c < 32; ++c) ascending.push_back(c);
  for (const Case& c : {Case{"", 0},
                        Case{"123456789", 0xe3069283},
                        Case{std::string(32, '\0'), 0x8a9136aa},
                        Case{std::string(32, '\xff'), 0x62a8ab43},
                        Case{ascending, 0x46dd794e}}) {
    SCOPED_TRACE(c.crc);
    EXPECT_EQ(Crc32c(c.bytes), c.crc);
    EXPECT_EQ(Crc32cPortable(c.bytes), c.crc);
  }
}

TEST(Crc32c, IsTheSameInPiecesAndWithoutTheInstruction) {
  SeededRandom random(7);
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes.push_back(static_cast<char>(random.NextUint64()));
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::string_view all = bytes;
    EXPECT_EQ(Crc32c(all.substr(cut), Crc32c(all.substr(0, cut))), Crc32c(all));
    EXPECT_EQ(Crc32cPortable(all.substr(cut), 5), Crc32c(all.substr(cut), 5));
  }
}

}  // namespace
}  // namespace skep

// Every field and enumerator of the wire contract says what it holds.

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include <gtest/gtest.h>

namespace skep {
namespace {

TEST(Protos, EveryFieldIsCommented) {
  const std::regex field("= *[0-9]+;");
  const std::regex above("^ *//");
  int fields = 0;
  for (const auto& entry : std::filesystem::directory_iterator("proto/skep/v1")) {
    if (entry.path().extension() != ".proto") continue;
    std::ifstream file(entry.path());
    std::string before;
    int number = 0;
    for (std::string line; std::getline(file, line); before = line) {
      ++number;
      if (!std::regex_search(line, field)) continue;
      ++fields;
      const bool commented =
          line.find("//") != std::string::npos || std::regex_search(before, above);
      EXPECT_TRUE(commented) << entry.path() << ":" << number << ": " << line;
    }
  }
  EXPECT_GT(fields, 200) << "run from the source root";
}

}  // namespace
}  // namespace skep

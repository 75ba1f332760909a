// Every field and enumerator of the wire contract says what it holds.

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "storage/base/text.h"

namespace skep {
namespace {

// "… = 7;": a field or an enumerator.
bool IsNumbered(std::string_view line) {
  const size_t equals = line.find('=');
  const size_t end = line.find(';');
  if (equals == std::string_view::npos || end == std::string_view::npos || end < equals)
    return false;
  return ParseInt64(TrimBlanks(line.substr(equals + 1, end - equals - 1))).has_value();
}

TEST(Protos, EveryFieldIsCommented) {
  int fields = 0;
  for (const auto& entry : std::filesystem::directory_iterator("proto/skep/v1")) {
    if (entry.path().extension() != ".proto") continue;
    std::ifstream file(entry.path());
    std::string before;
    int number = 0;
    for (std::string line; std::getline(file, line); before = line) {
      ++number;
      if (!IsNumbered(line)) continue;
      ++fields;
      const bool commented =
          line.find("//") != std::string::npos || TrimBlanks(before).starts_with("//");
      EXPECT_TRUE(commented) << entry.path() << ":" << number << ": " << line;
    }
  }
  EXPECT_GT(fields, 200) << "run from the source root";
}

}  // namespace
}  // namespace skep

#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <gtest/gtest.h>

namespace skep::testing {

// A fresh directory of its own below ::testing::TempDir(), removed with everything in it at the
// end. The path is canonical: no links, no trailing slash.
class TempDir {
 public:
  TempDir() : TempDir(::testing::TempDir()) {}
  // Where syncs cost nothing, for tests that count them by the thousand and cut the power by other
  // means.
  static TempDir InMemory() {
    return TempDir(std::filesystem::exists("/dev/shm") ? "/dev/shm" : ::testing::TempDir());
  }
  ~TempDir() {
    std::error_code ignored;  // a test may have taken permissions away; what is left is below /tmp
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  explicit TempDir(const std::string& parent) {
    std::error_code error;
    std::string name = (std::filesystem::canonical(parent, error) / "skep-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr) {
      ADD_FAILURE() << "no temporary directory " << name << " " << error.message();
    }
    path_ = name;
  }

  std::string path_;
};

}  // namespace skep::testing

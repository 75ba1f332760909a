#include "server/daemon/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "storage/fs/unique_fd.h"
#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::daemon {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;

class UnixSocketTest : public ::testing::Test {
 protected:
  fs::UniqueFd Bind() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    fs::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }

  testing::TempDir dir_;
  const std::string path_ = dir_.path() + "/skepd.sock";
  const std::vector<std::string> endpoints_{"127.0.0.1:0", "unix:" + path_};
};

TEST_F(UnixSocketTest, WhatADeadDaemonLeftIsRemoved) {
  Bind();  // and closed: nobody listens
  ASSERT_TRUE(std::filesystem::exists(path_));
  EXPECT_THAT(PrepareUnixSockets(endpoints_), IsOk());
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_THAT(PrepareUnixSockets(endpoints_), IsOk());
}

TEST_F(UnixSocketTest, ALivingDaemonKeepsItsSocket) {
  const fs::UniqueFd fd = Bind();
  ASSERT_EQ(::listen(fd.get(), 1), 0);
  EXPECT_THAT(PrepareUnixSockets(endpoints_), HasReason(ErrorReason::kAlreadyExists));
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(UnixSocketTest, AFileThatIsNoSocketIsNotTouched) {
  std::ofstream(path_) << "precious";
  EXPECT_THAT(PrepareUnixSockets(endpoints_), HasReason(ErrorReason::kAlreadyExists));
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(UnixSocketTest, AMissingDirectoryIsNamed) {
  const absl::Status status = PrepareUnixSockets({"unix:" + dir_.path() + "/run/skep/skepd.sock"});
  ASSERT_THAT(status, HasReason(ErrorReason::kStorageUnwritable));
  EXPECT_EQ(MetadataOf(status).at("path"), dir_.path() + "/run/skep");
}

TEST_F(UnixSocketTest, OwnerAndGroupMayConnect) {
  const fs::UniqueFd fd = Bind();
  ASSERT_THAT(OpenUnixSockets(endpoints_), IsOk());
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0660u);
  RemoveUnixSockets(endpoints_);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace skep::daemon

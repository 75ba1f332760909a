#include "storage/meta/lock_file.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "storage/fs/posix_file_system.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::meta {
namespace {

using skep::testing::HasMessage;
using skep::testing::HasReason;
using skep::testing::IsOk;
using skep::testing::IsOkAndHolds;
using skep::testing::TempDir;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Timestamp kStart{std::chrono::milliseconds(1'790'812'800'000)};

TEST(LockFile, SaysWhoHoldsItSinceWhen) {
  const TempDir dir;
  SKEP_ASSERT_OK_AND_ASSIGN(const LockFile held, LockFile::Acquire(dir / "skep.lock", kStart));
  const std::string pid = std::to_string(::getpid());
  const absl::Status refused = LockFile::Acquire(dir / "skep.lock", kStart).status();
  EXPECT_THAT(refused, HasReason(ErrorReason::kStoreBusy));
  EXPECT_EQ(MetadataOf(refused)["pid"], pid);
  EXPECT_EQ(MetadataOf(refused)["since"], FormatRfc3339(kStart));
  EXPECT_THAT(refused, HasMessage(AllOf(HasSubstr(pid), HasSubstr(dir / "skep.lock"))));
}

TEST(LockFile, HoldsWithoutItsFileToo) {
  const TempDir dir;
  SKEP_ASSERT_OK_AND_ASSIGN(const LockFile held, LockFile::Acquire(dir / "skep.lock", kStart));
  ASSERT_EQ(::unlink((dir / "skep.lock").c_str()), 0) << "an operator takes it for a leftover";
  const absl::Status refused = LockFile::Acquire(dir / "skep.lock", kStart).status();
  EXPECT_THAT(refused, HasReason(ErrorReason::kStoreBusy));
  EXPECT_EQ(MetadataOf(refused)["pid"], "unknown");
}

TEST(LockFile, IsFreeAgainWhenItsHolderIsGone) {
  const TempDir dir;
  std::optional<LockFile> held;
  SKEP_ASSERT_OK_AND_ASSIGN(held, LockFile::Acquire(dir / "skep.lock", kStart));
  held.reset();
  EXPECT_THAT(LockFile::Acquire(dir / "skep.lock", kStart), IsOk());
}

TEST(LockFile, IsHeldAgainstAnotherProcessAndGoesWithIt) {
  const TempDir dir;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto held = LockFile::Acquire(dir / "skep.lock", kStart);
    const char answer = held.ok() ? 'y' : 'n';
    if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  const absl::Status refused = LockFile::Acquire(dir / "skep.lock", kStart).status();
  EXPECT_THAT(refused, HasReason(ErrorReason::kStoreBusy));
  EXPECT_EQ(MetadataOf(refused)["pid"], std::to_string(child));
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_THAT(LockFile::Acquire(dir / "skep.lock", kStart), IsOk());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(LockFile, ReplacesALongerTextOfAnEarlierHolder) {
  const TempDir dir;
  fs::PosixFileSystem fs;
  ASSERT_THAT(fs::WriteSmallFile(fs, dir / "skep.lock", std::string(500, 'x')), IsOk());
  SKEP_ASSERT_OK_AND_ASSIGN(const LockFile held, LockFile::Acquire(dir / "skep.lock", kStart));
  EXPECT_THAT(
      fs::ReadSmallFile(fs, dir / "skep.lock", 1000),
      IsOkAndHolds("pid=" + std::to_string(::getpid()) + " since=" + FormatRfc3339(kStart) + "\n"));
}

}  // namespace
}  // namespace skep::meta

#include "storage/fs/posix_error.h"

#include <errno.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

namespace skep::fs {
namespace {

using skep::testing::HasMessage;
using skep::testing::HasReason;
using skep::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(PosixError, ARefusedWriteIsForTheOperatorAndSaysTheWayOut) {
  struct Case {
    int error;
    std::string name, way_out;
  };
  const std::vector<Case> cases = {
      {EROFS, "EROFS", "read-write"},
      {EACCES, "EACCES", "write permission"},
      {EPERM, "EPERM", "write permission"},
      {ENOSPC, "ENOSPC", "free space"},
      {EDQUOT, "EDQUOT", "quota"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const absl::Status status = PosixError(c.error, "create", "/w/t/f", Access::kWrite);
    EXPECT_THAT(status, HasReason(ErrorReason::kStorageUnwritable));
    EXPECT_EQ(MetadataOf(status), (ErrorMetadata{{"path", "/w/t/f"}, {"errno", c.name}}));
    EXPECT_THAT(
        status,
        HasMessage(AllOf(HasSubstr("create /w/t/f"), HasSubstr(c.name), HasSubstr(c.way_out))));
  }
}

TEST(PosixError, ARefusedReadIsForTheOperatorToo) {
  struct Case {
    int error;
    std::string name, way_out;
  };
  const std::vector<Case> cases = {
      {EACCES, "EACCES", "read permission"},
      {EPERM, "EPERM", "read permission"},
      {EIO, "EIO", "kernel's log"},
      {ESTALE, "ESTALE", "mount"},
      {ELOOP, "ELOOP", "circle"},
      {ENAMETOOLONG, "ENAMETOOLONG", ""},
      {EMFILE, "EMFILE", "LimitNOFILE"},
      {ENFILE, "ENFILE", "LimitNOFILE"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const absl::Status status = PosixError(c.error, "list", "/w/t", Access::kRead);
    EXPECT_THAT(status, HasReason(ErrorReason::kStorageUnreadable));
    EXPECT_EQ(MetadataOf(status), (ErrorMetadata{{"path", "/w/t"}, {"errno", c.name}}));
    EXPECT_THAT(status,
                HasMessage(AllOf(HasSubstr("list /w/t"), HasSubstr(c.name), HasSubstr(c.way_out))));
  }
}

TEST(PosixError, AbsentIsNotFoundWithoutAReason) {
  for (const Access access : {Access::kRead, Access::kWrite}) {
    for (const int error : {ENOENT, ENOTDIR}) {
      const absl::Status status = PosixError(error, "open", "/w/x", access);
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
      EXPECT_THAT(status, HasReason(ErrorReason::kUnspecified));
    }
  }
}

TEST(PosixError, ATakenNameIsAlreadyExists) {
  for (const int error : {EEXIST, ENOTEMPTY}) {
    const absl::Status status = PosixError(error, "rename /w/a to", "/w/b", Access::kWrite);
    EXPECT_THAT(status, HasReason(ErrorReason::kAlreadyExists));
    EXPECT_EQ(MetadataOf(status), (ErrorMetadata{{"name", "/w/b"}}));
  }
}

TEST(PosixError, EverythingElseIsInternalByName) {
  struct Case {
    int error;
    Access access;
    std::string name;
  };
  const std::vector<Case> cases = {
      {EIO, Access::kWrite, "EIO"},
      {EBADF, Access::kRead, "EBADF"},
      {EINVAL, Access::kRead, "EINVAL"},
      {EISDIR, Access::kRead, "EISDIR"},
      {EXDEV, Access::kWrite, "EXDEV"},
      {99999, Access::kWrite, "99999"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const absl::Status status = PosixError(c.error, "read", "/w/f", c.access);
    EXPECT_THAT(status, HasReason(ErrorReason::kInternal));
    EXPECT_EQ(MetadataOf(status), (ErrorMetadata{{"path", "/w/f"}, {"errno", c.name}}));
  }
}

}  // namespace
}  // namespace skep::fs

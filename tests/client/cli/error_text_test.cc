#include "client/cli/error_text.h"

#include <errno.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/exit_codes.h"
#include "storage/fs/posix_error.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSocket[] = "unix:/run/skep/skepd.sock";

TEST(ErrorText, SaysWhatFailedWhyAndWhatToTry) {
  EXPECT_EQ(
      ErrorText("show table",
                MakeError(ErrorReason::kNoSuchTable, "there is no table d.t", {{"table", "d.t"}}),
                kSocket,
                Detail::kShort),
      "skepctl: cannot show table: NO_SUCH_TABLE: there is no table d.t.\n");
  EXPECT_EQ(ErrorText("explain lock",
                      MakeError(ErrorReason::kNoSuchLock, "there is no lock 7", {{"lockId", "7"}}),
                      kSocket,
                      Detail::kShort),
            "skepctl: cannot explain lock: NO_SUCH_LOCK: there is no lock 7. Held and waiting "
            "ones: skepctl show locks.\n");
  EXPECT_EQ(
      ErrorText("show table",
                MakeError(ErrorReason::kNoSuchTable,
                          "there is no table d.t; `skepctl show tables` lists those there are"),
                kSocket,
                Detail::kShort),
      "skepctl: cannot show table: NO_SUCH_TABLE: there is no table d.t; `skepctl show "
      "tables` lists those there are.\n")
      << "the way out is said once";
  EXPECT_EQ(
      ErrorText("status", absl::UnavailableError("connection refused"), kSocket, Detail::kShort),
      "skepctl: cannot status: UNAVAILABLE: connection refused. No answer from "
      "unix:/run/skep/skepd.sock: is skepd running there (systemctl status skepd)? Another place: "
      "--endpoint.\n");
}

TEST(ErrorText, AddsDetailsWhenAskedAndForOurOwnFaults) {
  const absl::Status conflict =
      MakeError(ErrorReason::kWriteConflict, "lost", {{"winnerTxnId", "9"}, {"table", "d.t"}});
  EXPECT_THAT(ErrorText("read", conflict, kSocket, Detail::kVerbose),
              HasSubstr("\n  winnerTxnId: 9\n"));
  std::string internal =
      ErrorText("read", MakeError(ErrorReason::kInternal, "oops"), kSocket, Detail::kShort);
  EXPECT_THAT(internal, HasSubstr("Please report it"));
  EXPECT_THAT(internal, HasSubstr("endpoint unix:/run/skep/skepd.sock"));
}

// What the system refuses is the reader's to mend: no fault is confessed that is none.
TEST(ErrorText, DoesNotCallWhatTheSystemRefusesAFaultOfSkep) {
  for (const fs::Access access : {fs::Access::kRead, fs::Access::kWrite}) {
    for (const int error : {EACCES, EPERM, EIO, ESTALE, EMFILE, ENOSPC, EROFS, EXDEV}) {
      SCOPED_TRACE(error);
      const std::string text =
          ErrorText("dump", fs::PosixError(error, "list", "/w/t", access), kSocket, Detail::kShort);
      EXPECT_THAT(text, HasSubstr("cannot list /w/t"));
      EXPECT_THAT(text, Not(HasSubstr("fault of Skep")));
    }
  }
  EXPECT_EQ(
      ErrorText("dump",
                fs::PosixError(EACCES, "list", "/w/t", fs::Access::kRead),
                kSocket,
                Detail::kShort),
      "skepctl: cannot dump: STORAGE_UNREADABLE: cannot list /w/t: Permission denied (EACCES); "
      "give the user that runs this program read permission there.\n");
}

TEST(ErrorText, KeepsTheCaretOfATextError) {
  EXPECT_EQ(ErrorText("read",
                      MakeError(ErrorReason::kInvalidRequest, "line 1, column 3: no\na b\n  ^"),
                      kSocket,
                      Detail::kShort),
            "skepctl: cannot read: INVALID_REQUEST: line 1, column 3: no\na b\n  ^\n");
}

TEST(ErrorText, LetsNobodyWriteToTheTerminal) {
  std::string text = ErrorText(
      "read", MakeError(ErrorReason::kNotSupported, "evil \x1b[2J"), kSocket, Detail::kShort);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(ExitCodeOf, FollowsTheTable) {
  struct Case {
    absl::StatusCode code;
    int exit_code;
  };
  const Case cases[] = {
      {absl::StatusCode::kOk, 0},
      {absl::StatusCode::kInvalidArgument, 1},
      {absl::StatusCode::kAlreadyExists, 1},
      {absl::StatusCode::kOutOfRange, 1},
      {absl::StatusCode::kDataLoss, 1},
      {absl::StatusCode::kUnimplemented, 1},
      {absl::StatusCode::kUnknown, 1},
      {absl::StatusCode::kInternal, 1},
      {absl::StatusCode::kNotFound, 3},
      {absl::StatusCode::kAborted, 4},
      {absl::StatusCode::kFailedPrecondition, 4},
      {absl::StatusCode::kUnauthenticated, 5},
      {absl::StatusCode::kPermissionDenied, 5},
      {absl::StatusCode::kUnavailable, 6},
      {absl::StatusCode::kDeadlineExceeded, 6},
      {absl::StatusCode::kResourceExhausted, 6},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(absl::StatusCodeToString(c.code));
    EXPECT_EQ(ExitCodeOf(absl::Status(c.code, "x")), c.exit_code);
  }
}

}  // namespace
}  // namespace skep::cli

#include "server/daemon/exit_codes.h"

#include <gtest/gtest.h>

#include "storage/model/errors.h"

namespace skep::daemon {
namespace {

TEST(ExitCodeOfStore, TellsWhatIsNeededFromTheReason) {
  const auto unwritable = [](const char* name) {
    return MakeError(ErrorReason::kStorageUnwritable, "x", {{"path", "/x"}, {"errno", name}});
  };
  const auto unreadable = [](const char* name) {
    return MakeError(ErrorReason::kStorageUnreadable, "x", {{"path", "/x"}, {"errno", name}});
  };
  struct Case {
    absl::Status status;
    ExitCode code;
  };
  const Case cases[] = {
      {unwritable("EACCES"), kExitNoPermission},
      {unwritable("EPERM"), kExitNoPermission},
      {unwritable("EROFS"), kExitNoPermission},
      {unwritable("ENOSPC"), kExitCannotCreate},
      {MakeError(ErrorReason::kStorageUnwritable, "x"), kExitCannotCreate},
      {unreadable("EACCES"), kExitNoPermission},
      {unreadable("EIO"), kExitIo},
      {MakeError(ErrorReason::kStoreBusy, "x"), kExitUnavailable},
      {MakeError(ErrorReason::kNotSupported, "x"), kExitConfig},
      {MakeError(ErrorReason::kCorruptStore, "x"), kExitIo},
  };
  for (const Case& c : cases) EXPECT_EQ(ExitCodeOfStore(c.status), c.code) << c.status;
}

}  // namespace
}  // namespace skep::daemon

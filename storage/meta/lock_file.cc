#include "storage/meta/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <string_view>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/fs/posix_error.h"
#include "storage/fs/posix_retry.h"
#include "storage/meta/sqlite/file_care.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

using fs::Access;
using fs::PosixError;
using fs::RetryOnEintr;

// "pid=17 since=2026-10-01T00:00:00.000Z\n"; the value is "unknown" while the holder is still
// writing it.
std::string ValueOf(std::string_view content, std::string_view key) {
  for (const std::string_view field : SplitText(TrimBlanks(content), ' ')) {
    if (field.substr(0, key.size()) == key) return Printable(TrimBlanks(field.substr(key.size())));
  }
  return "unknown";
}

absl::Status HeldByAnother(const std::string& path) {
  const fs::UniqueFd fd(RetryOnEintr([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  char content[200];
  const ssize_t got = RetryOnEintr([&] { return ::pread(fd.get(), content, sizeof content, 0); });
  const std::string_view text(content, got > 0 ? static_cast<size_t>(got) : 0);
  const std::string pid = ValueOf(text, "pid=");
  const std::string since = ValueOf(text, "since=");
  return MakeError(
      ErrorReason::kStoreBusy,
      fmt::format("the data directory of {} is in use by process {} since {}; stop that "
                  "one or give another data directory",
                  Printable(path),
                  pid,
                  since),
      {{"path", path}, {"pid", pid}, {"since", since}});
}

}  // namespace

absl::StatusOr<LockFile> LockFile::Acquire(const std::string& path, Timestamp now) {
  const std::string dir = DirectoryOf(path);
  fs::UniqueFd held(
      RetryOnEintr([&] { return ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!held.is_open()) return PosixError(errno, "open", dir, Access::kWrite);
  if (RetryOnEintr([&] { return ::flock(held.get(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno == EWOULDBLOCK) return HeldByAnother(path);
    return PosixError(errno, "lock", dir, Access::kWrite);
  }
  const fs::UniqueFd fd(
      RetryOnEintr([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640); }));
  if (!fd.is_open()) return PosixError(errno, "open", path, Access::kWrite);
  const std::string content = fmt::format("pid={} since={}\n", ::getpid(), FormatRfc3339(now));
  if (::ftruncate(fd.get(), 0) != 0) return PosixError(errno, "write", path, Access::kWrite);
  const ssize_t put =
      RetryOnEintr([&] { return ::pwrite(fd.get(), content.data(), content.size(), 0); });
  // A full disk must not keep the daemon from starting: the lock holds without its text.
  if (put < 0 && errno != ENOSPC && errno != EDQUOT) {
    return PosixError(errno, "write", path, Access::kWrite);
  }
  return LockFile(std::move(held));
}

}  // namespace skep::meta

#include "client/cli/text_file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

constexpr size_t kLargest = 16 * 1024 * 1024;

absl::Status CannotRead(const std::string& path, int error) {
  const std::string text =
      "cannot read " + Printable(path) + ": " + std::generic_category().message(error);
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(text);
  return MakeError(ErrorReason::kInvalidRequest, text, {{"path", path}});
}

absl::StatusOr<std::string> ReadAll(const std::string& path, int file) {
  std::string text;
  char buffer[64 * 1024];
  while (true) {
    const ssize_t got = read(file, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return CannotRead(path, errno);
    if (got == 0) return text;
    text.append(buffer, static_cast<size_t>(got));
    if (text.size() > kLargest) {
      return MakeError(ErrorReason::kInvalidRequest,
                       Printable(path) + " is larger than 16 MiB: not a DDL text",
                       {{"path", path}});
    }
  }
}

}  // namespace

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  if (path == "-") return ReadAll("standard input", STDIN_FILENO);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return CannotRead(path, errno);
  absl::StatusOr<std::string> text = ReadAll(path, file);
  close(file);
  return text;
}

}  // namespace skep::cli

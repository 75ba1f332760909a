#include "server/daemon/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/fs/file_system.h"
#include "storage/fs/unique_fd.h"
#include "storage/model/errors.h"

namespace skep::daemon {
namespace {

constexpr char kPrefix[] = "unix:";

std::vector<std::string> PathsOf(const std::vector<std::string>& endpoints) {
  std::vector<std::string> paths;
  for (const std::string& endpoint : endpoints) {
    if (endpoint.starts_with(kPrefix)) paths.push_back(endpoint.substr(sizeof(kPrefix) - 1));
  }
  return paths;
}

absl::Status Unwritable(const std::string& path, int error, std::string_view way_out) {
  return MakeError(ErrorReason::kStorageUnwritable,
                   fmt::format("{}: {}; {}", path, std::strerror(error), way_out),
                   {{"path", path}, {"errno", ::strerrorname_np(error)}});
}

// Somebody accepts connections there.
bool Answers(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const fs::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

absl::Status Prepare(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return Unwritable(path, errno, "change server.listen");
    const std::string dir = fs::ParentPath(path);
    if (::access(dir.c_str(), W_OK) != 0) {
      return Unwritable(dir, errno, "make it, or change server.listen");
    }
    return absl::OkStatus();
  }
  if (!S_ISSOCK(info.st_mode)) {
    return MakeError(
        ErrorReason::kAlreadyExists,
        fmt::format("{} is there and is no socket; remove it, or change server.listen", path),
        {{"path", path}});
  }
  if (Answers(path)) {
    return MakeError(
        ErrorReason::kAlreadyExists,
        fmt::format("another process serves {}; stop it, or change server.listen", path),
        {{"path", path}});
  }
  if (::unlink(path.c_str()) != 0)
    return Unwritable(path, errno, "remove the old socket, or change server.listen");
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareUnixSockets(const std::vector<std::string>& endpoints) {
  for (const std::string& path : PathsOf(endpoints)) SKEP_RETURN_IF_ERROR(Prepare(path));
  return absl::OkStatus();
}

absl::Status OpenUnixSockets(const std::vector<std::string>& endpoints) {
  for (const std::string& path : PathsOf(endpoints)) {
    if (::chmod(path.c_str(), 0660) != 0) return Unwritable(path, errno, "change server.listen");
  }
  return absl::OkStatus();
}

void RemoveUnixSockets(const std::vector<std::string>& endpoints) {
  for (const std::string& path : PathsOf(endpoints)) ::unlink(path.c_str());
}

}  // namespace skep::daemon

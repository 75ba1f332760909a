#include "server/daemon/config_check.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "storage/fs/file_system.h"

namespace skep::daemon {
namespace {

void CheckDirectory(const std::string& key, const std::string& dir, Config* config) {
  const auto report = [&](const std::string& what) {
    config->problems.push_back(
        fmt::format("{}: {}: {} {}", config->origin.at(key), key, dir, what));
  };
  struct stat info {};
  if (::stat(dir.c_str(), &info) != 0)
    return report(fmt::format("cannot be used: {}", std::strerror(errno)));
  if (!S_ISDIR(info.st_mode)) return report("is no directory");
  if (::access(dir.c_str(), W_OK | X_OK) == 0) return;
  const bool read_only = errno == EROFS;
  report(
      fmt::format("cannot be written: {}{}",
                  std::strerror(errno),
                  read_only ? "; under systemd add ReadWritePaths=" + dir + " to the unit" : ""));
}

}  // namespace

void CheckFiles(Config* config) {
  for (const std::string& root : config->settings.warehouse.roots)
    CheckDirectory("warehouse.roots", root, config);
  CheckDirectory("store.path", fs::ParentPath(config->settings.store.path), config);
}

}  // namespace skep::daemon

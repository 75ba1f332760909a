#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include <gtest/gtest.h>

#include "storage/fs/unique_fd.h"

namespace skep::testing {

// The receiving end of sd_notify: a datagram socket, as systemd has it.
class FakeSystemd {
 public:
  explicit FakeSystemd(const std::string& path) : path_(path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      ADD_FAILURE() << "cannot bind " << path;
    }
  }

  const std::string& path() const { return path_; }

  // The next message; empty after `timeout_ms`.
  std::string Receive(int timeout_ms = 20'000) {
    pollfd wait{fd_.get(), POLLIN, 0};
    if (::poll(&wait, 1, timeout_ms) != 1) return {};
    char buffer[4096];
    const ssize_t size = ::recv(fd_.get(), buffer, sizeof(buffer), 0);
    return size < 0 ? std::string() : std::string(buffer, static_cast<size_t>(size));
  }
  // Messages up to the first that begins with `prefix`; that one, or empty where none comes.
  std::string ReceiveUntil(const std::string& prefix) {
    for (;;) {
      std::string message = Receive();
      if (message.empty() || message.starts_with(prefix)) return message;
    }
  }

 private:
  const std::string path_;
  fs::UniqueFd fd_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

}  // namespace skep::testing

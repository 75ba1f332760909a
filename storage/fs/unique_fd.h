#pragma once

#include <unistd.h>

#include <utility>

namespace skep::fs {

// Owns a file descriptor and closes it. Move-only, thread-compatible.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = other.Release();
    }
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  // What close(2) answers; 0 if nothing was open. Never repeated: on Linux the number is free
  // either way.
  int Reset() { return fd_ >= 0 ? ::close(Release()) : 0; }

 private:
  int fd_ = -1;
};

}  // namespace skep::fs

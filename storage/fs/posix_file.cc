#include "storage/fs/posix_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/fs/posix_error.h"
#include "storage/fs/posix_regular_file.h"
#include "storage/fs/posix_retry.h"
#include "storage/fs/unique_fd.h"
#include "storage/model/errors.h"

namespace skep::fs {
namespace {

class PosixRandomAccessFile final : public RandomAccessFile {
 public:
  PosixRandomAccessFile(UniqueFd fd, std::string path, int64_t size)
      : fd_(std::move(fd)), path_(std::move(path)), size_(size) {}

  int64_t size() const override { return size_; }
  const std::string& path() const override { return path_; }

  absl::Status ReadAt(int64_t offset, int64_t length, void* out) const override {
    if (offset < 0 || length < 0 || offset > size_ || length > size_ - offset) {
      return EndsEarly(offset, length, size_);
    }
    SKEP_ASSIGN_OR_RETURN(const int64_t got, ReadUpTo(fd_, path_, offset, length, out));
    if (got < length) return EndsEarly(offset, length, offset + got);
    return absl::OkStatus();
  }

 private:
  absl::Status EndsEarly(int64_t offset, int64_t length, int64_t end) const {
    return MakeError(ErrorReason::kCorruptFile,
                     fmt::format("{} ends at {}, {} bytes from offset {} were expected; it is "
                                 "truncated or damaged",
                                 Printable(path_),
                                 end,
                                 length,
                                 offset),
                     {{"path", path_}, {"offset", std::to_string(offset)}});
  }

  const UniqueFd fd_;
  const std::string path_;
  const int64_t size_;
};

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  PosixWritableFile(const PosixWritableFile&) = delete;
  PosixWritableFile& operator=(const PosixWritableFile&) = delete;
  ~PosixWritableFile() override {
    if (!kept_) RemoveOwnFile();
  }

  absl::Status Append(std::string_view bytes) override {
    if (!failure_.ok()) return failure_;
    size_ += static_cast<int64_t>(bytes.size());
    if (buffer_.size() + bytes.size() > kBufferSize) SKEP_RETURN_IF_ERROR(Flush());
    if (bytes.size() >= kBufferSize) return Write(bytes);
    buffer_ += bytes;
    return absl::OkStatus();
  }

  int64_t size() const override { return size_; }

  absl::Status Sync() override {
    if (!failure_.ok()) return failure_;
    SKEP_RETURN_IF_ERROR(Flush());
    if (RetryOnEintr([&] { return ::fsync(fd_.get()); }) != 0) return Fail("sync");
    return absl::OkStatus();
  }

  absl::Status Close() override {
    if (kept_) return absl::OkStatus();
    SKEP_RETURN_IF_ERROR(Sync());
    // The bytes are on disk, but a network filesystem may still report a refusal here.
    if (::close(fd_.get()) != 0 && errno != EINTR) {
      const absl::Status failure = Fail("close");
      fd_.Release();
      return failure;
    }
    fd_.Release();
    kept_ = true;
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kBufferSize = 64 * 1024;

  absl::Status Flush() {
    SKEP_RETURN_IF_ERROR(Write(buffer_));
    buffer_.clear();
    return absl::OkStatus();
  }

  absl::Status Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t put =
          RetryOnEintr([&] { return ::write(fd_.get(), bytes.data(), bytes.size()); });
      if (put < 0) return Fail("write");
      bytes.remove_prefix(static_cast<size_t>(put));
    }
    return absl::OkStatus();
  }

  absl::Status Fail(std::string_view doing) {
    failure_ = PosixError(errno, doing, path_, Access::kWrite);
    return failure_;
  }

  // The name may lead to another file by now (a sweep, then another writer): only the own one goes.
  void RemoveOwnFile() {
    struct stat named {};
    if (::lstat(path_.c_str(), &named) != 0) return;
    if (fd_.is_open()) {
      struct stat own {};
      if (::fstat(fd_.get(), &own) != 0) return;
      if (own.st_ino != named.st_ino || own.st_dev != named.st_dev) return;
    }
    if (::unlink(path_.c_str()) != 0 && errno != ENOENT) {
      const absl::Status status = PosixError(errno, "remove", path_, Access::kWrite);
      Log(LogLevel::kWarn, "file.abandon", {{"path", path_}, {"error", MessageOf(status)}});
    }
  }

  UniqueFd fd_;
  const std::string path_;
  std::string buffer_;
  int64_t size_ = 0;
  bool kept_ = false;
  absl::Status failure_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenPosixFileForRead(const std::string& path) {
  SKEP_ASSIGN_OR_RETURN(RegularFile file, OpenRegularFile(path, O_RDONLY, Access::kRead));
  return std::make_unique<PosixRandomAccessFile>(std::move(file.fd), path, file.size);
}

absl::StatusOr<std::unique_ptr<WritableFile>> CreatePosixFile(const std::string& path) {
  UniqueFd fd(RetryOnEintr(
      [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }));
  if (!fd.is_open()) return PosixError(errno, "create", path, Access::kWrite);
  return std::make_unique<PosixWritableFile>(std::move(fd), path);
}

}  // namespace skep::fs

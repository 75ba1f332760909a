#include "storage/fs/posix_in_place_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/fs/posix_error.h"
#include "storage/fs/posix_regular_file.h"
#include "storage/fs/posix_retry.h"
#include "storage/fs/unique_fd.h"
#include "storage/model/errors.h"

namespace skep::fs {
namespace {

class PosixInPlaceFile final : public InPlaceFile {
 public:
  PosixInPlaceFile(UniqueFd fd, std::string path, int64_t size)
      : fd_(std::move(fd)), path_(std::move(path)), size_(size) {}

  int64_t size() const override { return size_; }
  const std::string& path() const override { return path_; }

  absl::Status ReadAt(int64_t offset, int64_t length, void* out) const override {
    SKEP_RETURN_IF_ERROR(CheckRange(offset, length, ErrorReason::kCorruptFile));
    SKEP_ASSIGN_OR_RETURN(const int64_t got, ReadUpTo(fd_, path_, offset, length, out));
    if (got < length) {
      return MakeError(
          ErrorReason::kCorruptFile,
          fmt::format("{} was cut at {} while it was open", Printable(path_), offset + got),
          {{"path", path_}, {"offset", std::to_string(offset + got)}});
    }
    return absl::OkStatus();
  }

  absl::Status WriteAt(int64_t offset, std::string_view bytes) override {
    SKEP_RETURN_IF_ERROR(failure_);
    SKEP_RETURN_IF_ERROR(
        CheckRange(offset, static_cast<int64_t>(bytes.size()), ErrorReason::kInternal));
    while (!bytes.empty()) {
      const ssize_t put =
          RetryOnEintr([&] { return ::pwrite(fd_.get(), bytes.data(), bytes.size(), offset); });
      if (put < 0) return PosixError(errno, "write", path_, Access::kWrite);
      bytes.remove_prefix(static_cast<size_t>(put));
      offset += put;
    }
    return absl::OkStatus();
  }

  absl::Status SyncData() override {
    SKEP_RETURN_IF_ERROR(failure_);
    if (RetryOnEintr([&] { return ::fdatasync(fd_.get()); }) != 0) {
      failure_ = PosixError(errno, "sync", path_, Access::kWrite);
    }
    return failure_;
  }

 private:
  absl::Status CheckRange(int64_t offset, int64_t length, ErrorReason reason) const {
    if (offset >= 0 && length >= 0 && offset <= size_ && length <= size_ - offset) {
      return absl::OkStatus();
    }
    return MakeError(reason,
                     fmt::format("{} has {} bytes, {} from offset {} are not in it",
                                 Printable(path_),
                                 size_,
                                 length,
                                 offset),
                     {{"path", path_}, {"offset", std::to_string(offset)}});
  }

  const UniqueFd fd_;
  const std::string path_;
  const int64_t size_;
  absl::Status failure_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<InPlaceFile>> PosixInPlaceFiles::OpenInPlace(
    const std::string& path) {
  SKEP_ASSIGN_OR_RETURN(RegularFile file, OpenRegularFile(path, O_RDWR, Access::kWrite));
  return std::make_unique<PosixInPlaceFile>(std::move(file.fd), path, file.size);
}

}  // namespace skep::fs

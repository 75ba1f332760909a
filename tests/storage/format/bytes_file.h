#pragma once

#include <cstring>
#include <string>
#include <utility>

#include "storage/fs/file_system.h"
#include "storage/model/errors.h"

namespace skep::testing {

// A file in memory.
class BytesFile final : public fs::RandomAccessFile {
 public:
  explicit BytesFile(std::string bytes, std::string path = "/in-memory")
      : bytes_(std::move(bytes)), path_(std::move(path)) {}
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  const std::string& path() const override { return path_; }
  absl::Status ReadAt(int64_t offset, int64_t length, void* out) const override {
    if (offset < 0 || length < 0 || length > size() - offset) {
      return MakeError(ErrorReason::kCorruptFile,
                       path_ + ": ends at " + std::to_string(size()),
                       {{"path", path_}});
    }
    std::memcpy(out, bytes_.data() + offset, static_cast<size_t>(length));
    return absl::OkStatus();
  }

 private:
  std::string bytes_;
  std::string path_;
};

}  // namespace skep::testing

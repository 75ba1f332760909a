#include "tests/bench/orc/counting_fs.h"

#include "storage/model/errors.h"

namespace skep::bench {

namespace {

class CountingFile final : public fs::WritableFile {
 public:
  explicit CountingFile(std::string* bytes) : bytes_(bytes) { bytes_->clear(); }
  absl::Status Append(std::string_view bytes) override {
    bytes_->append(bytes);
    return absl::OkStatus();
  }
  int64_t size() const override { return static_cast<int64_t>(bytes_->size()); }
  absl::Status Sync() override { return absl::OkStatus(); }
  absl::Status Close() override { return absl::OkStatus(); }

 private:
  std::string* bytes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<fs::WritableFile>> CountingFs::Create(const std::string&) {
  return std::make_unique<CountingFile>(&bytes_);
}

absl::Status CountingFs::Refused() {
  return MakeError(ErrorReason::kNotSupported, "this file system only takes new files");
}

}  // namespace skep::bench

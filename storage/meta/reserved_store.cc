#include "storage/meta/reserved_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "storage/base/log.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

// How often a full disk is looked at again.
constexpr std::chrono::milliseconds kPause{5};

class FileReserveImpl final : public DiskReserve {
 public:
  FileReserveImpl(std::string path, int64_t bytes) : path_(std::move(path)), bytes_(bytes) {}
  ~FileReserveImpl() override { GiveBack(); }

  bool Take() override {
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return false;
    // A filesystem that cannot set room aside has no reserve: then a full disk is found as before.
    const int error = ::posix_fallocate(fd, 0, bytes_);
    ::close(fd);
    if (error == 0 || error == EOPNOTSUPP || error == EINVAL) return true;
    GiveBack();
    return false;
  }
  void GiveBack() override { ::unlink(path_.c_str()); }

 private:
  const std::string path_;
  const int64_t bytes_;
};

}  // namespace

std::unique_ptr<DiskReserve> FileReserve(const std::string& store_path, int64_t bytes) {
  return std::make_unique<FileReserveImpl>(store_path + "-reserve", bytes);
}

ReservedStore::ReservedStore(std::unique_ptr<MetaStore> store,
                             std::unique_ptr<DiskReserve> reserve,
                             Clock& clock)
    : store_(std::move(store)),
      reserve_(std::move(reserve)),
      clock_(clock),
      held_(reserve_->Take()),
      tried_(clock.MonoNow()) {
  if (!held_) Log(LogLevel::kWarn, "store.no_reserve", {});
}

absl::Status ReservedStore::Append(const Effects& effects) {
  absl::Status status = store_->Append(effects);
  if (ReasonOf(status) != ErrorReason::kStoreFull || !held_) return status;
  Log(LogLevel::kWarn,
      "store.full",
      {{"message", "transactions can end; nothing new is taken until there is room"}});
  held_ = false;
  tried_ = clock_.MonoNow();
  reserve_->GiveBack();
  return store_->Append(effects);
}

bool ReservedStore::HasRoom() {
  if (held_) return true;
  const MonoTime now = clock_.MonoNow();
  if (now - tried_ < kPause) return false;
  tried_ = now;
  held_ = reserve_->Take();
  if (held_) Log(LogLevel::kInfo, "store.has_room", {});
  return held_;
}

}  // namespace skep::meta

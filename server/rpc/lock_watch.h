#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/loop/batch_core.h"
#include "server/loop/grpc_stream.h"

#include "proto/skep/v1/lock_service.pb.h"

namespace skep::rpc {

// LockService.WatchLock: streams that tell when requests are decided. Confined to the loop's
// thread.
class LockWatch final : public loop::StreamHandler {
 public:
  static constexpr size_t kMaxWatchers = 1'000;

  // `core` must outlive it, and must not run any more once it is gone.
  explicit LockWatch(loop::BatchCore& core);
  ~LockWatch() override;

  // To be given to the transport; borrows this.
  std::unique_ptr<loop::StreamService> MakeStreams();
  size_t watchers() const { return watchers_.size(); }

  void Message(loop::Stream& stream, std::string bytes) override;
  void Writable(loop::Stream& stream) override;
  void HalfClosed(loop::Stream&) override {}
  void Closed(loop::Stream& stream) override;

 private:
  class Waiter;
  class Look;
  struct Watcher {
    std::unordered_map<LockId, std::unique_ptr<Waiter>> undecided;
    std::vector<v1::WatchLockResponse> untold;  // in order: at most two for each request
    bool looked = false;                        // every request was looked at once
    bool over = false;
  };

  absl::Status Begin(loop::Stream& stream, const v1::WatchLockRequest& request);
  void Looked(loop::Stream* stream, std::vector<v1::WatchLockResponse> states);
  void LookFailed(loop::Stream* stream, const absl::Status& status);
  void Decided(loop::Stream* stream, LockId lock, const absl::StatusOr<state::LockAnswer>& answer);
  void Forget(Watcher& watcher);
  void Tell(loop::Stream& stream, Watcher& watcher);

  loop::BatchCore& core_;
  std::map<loop::Stream*, Watcher> watchers_;
};

}  // namespace skep::rpc

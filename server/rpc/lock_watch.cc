#include "server/rpc/lock_watch.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "proto/wire/status_wire.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::rpc {
namespace {

constexpr int64_t kMaxLocks = 10'000;

v1::WatchLockResponse StateOf(LockId lock, const absl::StatusOr<state::LockAnswer>& answer) {
  v1::WatchLockResponse state;
  state.set_lock_id(lock.value());
  if (answer.ok()) {
    state.set_state(wire::ToProto(answer->state));
    state.set_snapshot_stale(answer->snapshot_stale);
    state.set_reason(answer->reason);
    return state;
  }
  const bool aborted = ReasonOf(answer.status()) == ErrorReason::kTxnAborted;
  state.set_state(aborted ? v1::LOCK_STATE_ABORTED : v1::LOCK_STATE_NOT_ACQUIRED);
  state.set_reason(MessageOf(answer.status()));
  return state;
}

// The server's trouble, not the lock's: the watch ends, the request may go on.
bool IsOfTheServer(const absl::Status& status) {
  switch (ReasonOf(status)) {
    case ErrorReason::kStoreBusy:
    case ErrorReason::kStoreFull:
    case ErrorReason::kOutcomeUnknown:
    case ErrorReason::kShuttingDown:
      return true;
    default:
      return false;
  }
}

}  // namespace

class LockWatch::Waiter final : public loop::LockWaiter {
 public:
  Waiter(LockWatch& watch, loop::Stream* stream, LockId lock)
      : watch_(watch), stream_(stream), lock_(lock) {}
  void Answer(const absl::StatusOr<state::LockAnswer>& answer) override {
    watch_.Decided(stream_, lock_, answer);
  }

 private:
  LockWatch& watch_;
  loop::Stream* const stream_;
  const LockId lock_;
};

// Looks at all requests at once; those that wait are waited for from the same moment on, so that no
// decision falls between.
class LockWatch::Look final : public loop::Command {
 public:
  Look(LockWatch& watch, loop::Stream* stream, std::vector<LockId> locks)
      : watch_(watch), stream_(stream), locks_(std::move(locks)) {}

  loop::Verdict Decide(state::State& state, state::Now now, state::Unit& unit) override {
    Watcher& watcher = watch_.watchers_.at(stream_);
    for (const LockId lock : locks_) {
      const auto answer = state.CheckLock(lock, now, unit);
      states_.push_back(StateOf(lock, answer));
      if (!answer.ok() || answer->state != LockState::kWaiting) continue;
      auto waiter = std::make_unique<Waiter>(watch_, stream_, lock);
      watch_.core_.Park(lock, *waiter, MonoTime::max());
      watcher.undecided[lock] = std::move(waiter);
    }
    return {};
  }
  void Durable() override { watch_.Looked(stream_, std::move(states_)); }
  void Failed(const absl::Status& status) override { watch_.LookFailed(stream_, status); }

 private:
  LockWatch& watch_;
  loop::Stream* const stream_;
  const std::vector<LockId> locks_;
  std::vector<v1::WatchLockResponse> states_;
};

LockWatch::LockWatch(loop::BatchCore& core) : core_(core) {}

LockWatch::~LockWatch() {
  for (auto& [stream, watcher] : watchers_) Forget(watcher);
}

std::unique_ptr<loop::StreamService> LockWatch::MakeStreams() {
  return std::make_unique<loop::GrpcStreamService>(
      std::vector<std::string>{"/skep.v1.LockService/WatchLock"}, *this);
}

void LockWatch::Message(loop::Stream& stream, std::string bytes) {
  if (watchers_.contains(&stream)) return;  // one request a call
  v1::WatchLockRequest request;
  if (!stream.Parse(bytes, request)) return;
  const absl::Status begun = Begin(stream, request);
  if (!begun.ok()) stream.Finish(wire::ToGrpc(begun));
}

absl::Status LockWatch::Begin(loop::Stream& stream, const v1::WatchLockRequest& request) {
  SKEP_RETURN_IF_ERROR(wire::CheckCount("lock_ids", request.lock_ids_size(), 1, kMaxLocks));
  std::vector<LockId> locks;
  for (int i = 0; i < request.lock_ids_size(); ++i) {
    SKEP_RETURN_IF_ERROR(wire::CheckId(wire::FieldOf("lock_ids", i), request.lock_ids(i)));
    locks.emplace_back(request.lock_ids(i));
  }
  std::sort(locks.begin(), locks.end());
  locks.erase(std::unique(locks.begin(), locks.end()), locks.end());
  if (watchers_.size() >= kMaxWatchers) {
    return MakeError(ErrorReason::kOverloaded,
                     fmt::format("{} watchers are the most that there can be; watch many requests "
                                 "through one stream",
                                 kMaxWatchers),
                     {{"limit", std::to_string(kMaxWatchers)}});
  }
  watchers_[&stream];
  core_.RunOwned(std::make_unique<Look>(*this, &stream, std::move(locks)));
  return absl::OkStatus();
}

void LockWatch::Looked(loop::Stream* stream, std::vector<v1::WatchLockResponse> states) {
  const auto it = watchers_.find(stream);
  if (it == watchers_.end()) return;
  Watcher& watcher = it->second;
  watcher.looked = true;
  // Before what was decided meanwhile.
  watcher.untold.insert(watcher.untold.begin(),
                        std::make_move_iterator(states.begin()),
                        std::make_move_iterator(states.end()));
  Tell(*stream, watcher);
}

void LockWatch::LookFailed(loop::Stream* stream, const absl::Status& status) {
  const auto it = watchers_.find(stream);
  if (it == watchers_.end() || it->second.over) return;
  Forget(it->second);
  it->second.over = true;
  stream->Finish(wire::ToGrpc(status));
}

void LockWatch::Decided(loop::Stream* stream,
                        LockId lock,
                        const absl::StatusOr<state::LockAnswer>& answer) {
  const auto it = watchers_.find(stream);
  if (it == watchers_.end()) return;
  Watcher& watcher = it->second;
  const auto waiter = watcher.undecided.find(lock);
  if (waiter == watcher.undecided.end()) return;
  // At a shutdown: WAITING, and nobody waits any more.
  const bool given_up = answer.ok() && answer->state == LockState::kWaiting;
  if (given_up || (!answer.ok() && IsOfTheServer(answer.status()))) {
    watcher.undecided.erase(waiter);
    return LookFailed(
        stream,
        given_up ? MakeError(ErrorReason::kShuttingDown, "the server is shutting down: watch again")
                 : answer.status());
  }
  watcher.undecided.erase(waiter);
  watcher.untold.push_back(StateOf(lock, answer));
  if (watcher.looked) Tell(*stream, watcher);
}

void LockWatch::Writable(loop::Stream& stream) {
  const auto it = watchers_.find(&stream);
  if (it != watchers_.end()) Tell(stream, it->second);
}

void LockWatch::Tell(loop::Stream& stream, Watcher& watcher) {
  // A few at a time: a stream cuts who lets too many wait.
  constexpr size_t kAtOnce = 32;
  if (watcher.over || !watcher.looked || stream.busy()) return;
  const size_t count = std::min(watcher.untold.size(), kAtOnce);
  for (size_t i = 0; i < count; ++i) stream.Write(watcher.untold[i]);
  watcher.untold.erase(watcher.untold.begin(),
                       watcher.untold.begin() + static_cast<std::ptrdiff_t>(count));
  if (!watcher.untold.empty() || !watcher.undecided.empty()) return;
  watcher.over = true;
  stream.Finish(grpc::Status::OK);
}

void LockWatch::Forget(Watcher& watcher) {
  for (const auto& [lock, waiter] : watcher.undecided) core_.Forget(*waiter);
  watcher.undecided.clear();
}

void LockWatch::Closed(loop::Stream& stream) {
  const auto it = watchers_.find(&stream);
  if (it == watchers_.end()) return;
  Forget(it->second);
  watchers_.erase(it);
}

}  // namespace skep::rpc

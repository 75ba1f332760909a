// The daemon's door: unary calls and streams come in, answers leave when their unit is on the disk.

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "server/loop/sessions.h"
#include "tests/sim/daemon.h"

namespace skep::sim {
namespace {

constexpr std::string_view kFenceMethod = "/skep.v1.SessionService/FenceSession";

}  // namespace

// ---- calls ----

Daemon::CallId Daemon::Arrive(Arrival arrival) {
  if (arrival.method == kFenceMethod) return Fence(std::move(arrival));
  const auto method = methods_.find(arrival.method);
  const CallId id = ++last_call_;
  auto call =
      std::make_unique<SimCall>(*core_, *method->second, std::move(arrival), [this](SimCall& sent) {
        outbox_.push_back(ids_.at(&sent));
      });
  ids_[call.get()] = id;
  queue_.Add([begun = call.get()] { begun->Begin(); });
  calls_.emplace(id, std::move(call));
  ScheduleRound(scheduler_.now());
  return id;
}

void Daemon::ClientGone(CallId call) {
  if (!calls_.contains(call)) return;
  queue_.Add([this, call] {
    const auto found = calls_.find(call);
    if (found != calls_.end()) found->second->ClientGone();
  });
  ScheduleRound(scheduler_.now());
}

// ---- streams ----

// A unary call that the sessions serve: production sees it as a stream of one message, too.
Daemon::CallId Daemon::Fence(Arrival arrival) {
  struct Shared {
    Arrival arrival;
    std::string answer;
  };
  const auto shared = std::make_shared<Shared>();
  std::string bytes = std::move(arrival.bytes);
  shared->arrival = std::move(arrival);
  const StreamPtr stream = OpenStream(Door::kFence, [shared](SimStream::Out out) {
    if (out.end) return shared->arrival.answer(*out.end, std::move(shared->answer));
    shared->answer = std::move(out.bytes);
  });
  Arrive(stream, std::move(bytes));
  return ++last_call_;
}

Daemon::StreamPtr Daemon::OpenStream(Door door, std::function<void(SimStream::Out)> deliver) {
  loop::StreamHandler* handler = &sessions_->sessions();
  if (door == Door::kEvents) handler = events_.get();
  if (door == Door::kLocks) handler = lock_watch_.get();
  const int method = door == Door::kFence ? loop::Sessions::kFence : 0;
  auto stream = std::make_shared<SimStream>(
      method, std::move(deliver), [this](SimStream& wrote) { written_.push_back(&wrote); });
  streams_[stream.get()] = {stream, handler};
  return stream;
}

void Daemon::Arrive(const StreamPtr& stream, std::string message) {
  if (!streams_.contains(stream.get())) return;
  queue_.Add([this, stream, message = std::move(message)]() mutable {
    const auto found = streams_.find(stream.get());
    if (found == streams_.end() || stream->ended()) return;
    found->second.handler->Message(*stream, std::move(message));
  });
  ScheduleRound(scheduler_.now());
}

void Daemon::Taken(const StreamPtr& stream) {
  if (!streams_.contains(stream.get()) || !stream->Taken()) return;
  queue_.Add([this, stream] {
    const auto found = streams_.find(stream.get());
    if (found != streams_.end() && !stream->busy()) found->second.handler->Writable(*stream);
  });
  ScheduleRound(scheduler_.now());
}

void Daemon::CloseStream(const StreamPtr& stream) {
  if (!streams_.contains(stream.get())) return;
  queue_.Add([this, stream] {
    const auto node = streams_.extract(stream.get());
    if (!node.empty()) node.mapped().handler->Closed(*stream);
  });
  ScheduleRound(scheduler_.now());
}

// ---- what leaves ----

void Daemon::SendAnswers() {
  for (const CallId id : std::exchange(outbox_, {})) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) continue;
    ids_.erase(found->second.get());
    std::shared_ptr<SimCall> call = std::move(found->second);
    calls_.erase(found);
    // Not before the unit is on the disk; a death until then takes the answer along.
    scheduler_.At(
        std::max(busy_until_, scheduler_.now()), [call] { call->Deliver(); }, process_);
  }
  for (SimStream* const wrote : std::exchange(written_, {})) {
    const auto found = streams_.find(wrote);
    if (found == streams_.end()) continue;
    wrote->LeaveFrom(std::max(busy_until_, scheduler_.now()),
                     [this, stream = found->second.stream](MonoTime when) {
                       scheduler_.At(
                           when, [stream] { stream->LeaveOne(); }, process_);
                     });
  }
}

}  // namespace skep::sim

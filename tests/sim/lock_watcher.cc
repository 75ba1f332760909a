// A request that waits, looked after by LockService.WatchLock instead of a waiting call.

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "tests/sim/raw_wire.h"

namespace skep::sim {
namespace {

using std::chrono::seconds;

struct Heard {
  std::optional<v1::WatchLockResponse> decided;
  std::optional<absl::Status> end;
};

StreamEvents Listen(RawWire& wire, LockId lock, const std::shared_ptr<Heard>& heard) {
  StreamEvents events;
  events.received = [&wire, lock, heard](const std::string& bytes) {
    v1::WatchLockResponse response;
    response.ParseFromString(bytes);
    if (response.lock_id() != lock.value()) {
      wire.world.Fail(
          fmt::format("who watches lock {} is told of lock {}", lock.value(), response.lock_id()));
    }
    if (response.state() == v1::LOCK_STATE_WAITING) return;
    if (heard->decided) {
      wire.world.Fail(fmt::format("lock {} was decided twice", lock.value()));
    }
    heard->decided = std::move(response);
  };
  events.ended = [heard](const absl::Status& status, bool) { heard->end = status; };
  return events;
}

}  // namespace

std::optional<v1::WatchLockResponse> WatchLock(RawWire& wire, LockId lock, Nanos time) {
  World& world = wire.world;
  v1::WatchLockRequest request;
  request.add_lock_ids(lock.value());
  const MonoTime until = world.scheduler().now() + time;
  bool over = false;
  const auto timer = world.scheduler().At(
      until, [&over] { over = true; }, wire.actor.process());
  std::optional<v1::WatchLockResponse> decided;
  while (!decided && !over && !world.stopping()) {
    auto heard = std::make_shared<Heard>();
    const MonoTime since = world.scheduler().now();
    const SimWatch watch(
        world.streams(), wire.life.link, Daemon::Door::kLocks, request, Listen(wire, lock, heard));
    world.Count("lock watches");
    wire.actor.WaitFor([&] { return over || heard->end || world.stopping(); });
    decided = heard->decided;
    if (heard->end && heard->end->ok() && !decided) {
      world.Fail(fmt::format("the watch of lock {} ended and nothing was decided", lock.value()));
    }
    // What was granted is told, as long as nothing happened to the stream or its server.
    const bool calm = watch.sound() && world.daemon().CalmSince(since);
    if (over && !decided && calm && world.truth().GrantedSince(lock) + 64 < world.truth().units()) {
      world.Fail(fmt::format("lock {} was granted, and who watches it is not told", lock.value()));
    }
    if (!decided && !over) wire.Think(seconds(1));
  }
  world.scheduler().Cancel(timer);
  if (decided && decided->state() == v1::LOCK_STATE_ACQUIRED &&
      world.truth().GrantedSince(lock) > world.truth().units()) {
    world.Fail(fmt::format("lock {} was said to be granted, and no unit says so", lock.value()));
  }
  if (decided) world.Count("locks decided by watch");
  return decided;
}

}  // namespace skep::sim

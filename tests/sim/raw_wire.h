#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "tests/sim/client_life.h"

namespace skep::sim {

// What a client that speaks the wire by itself has at hand. In a script; goes before its actor.
struct RawWire {
  RawWire(World& of, Actor& by)
      : world(of),
        actor(by),
        life(of, by),
        caller({*life.calls, life.executor, of.clock(), of.dice(), life.blocker}, ShortRetries()),
        beater(*life.beats, life.beat_executor, of.clock(), of.dice()) {}
  ~RawWire() { beater.Stop(); }

  Dice& dice() { return world.dice(); }
  void Say(const std::string& what) { world.Trace(actor.name() + ": " + what); }
  void Think(Nanos high) { actor.Sleep(dice().Delay(std::chrono::milliseconds(1), high)); }
  template <class Request>
  auto Call(Request request, Nanos deadline = std::chrono::seconds(6)) {
    auto answer = caller.Call(std::move(request), world.clock().MonoNow() + deadline);
    CheckRefusal(world, actor.name(), answer.status());
    return answer;
  }

  // A method that no class of the library knows by its request.
  template <class Response, class Request>
  std::shared_ptr<Response> Ask(const std::string& method, Request request) {
    auto response = std::make_shared<Response>();
    const absl::Status status = caller.Call("/skep.v1." + method,
                                            std::make_shared<Request>(std::move(request)),
                                            response,
                                            world.clock().MonoNow() + std::chrono::seconds(6));
    CheckRefusal(world, actor.name(), status);
    return status.ok() ? response : nullptr;
  }

  World& world;
  Actor& actor;
  ClientLife life;
  client::Caller caller;
  client::Heartbeater beater;
};

void SetName(const TableName& name, v1::TableName* to);
// Any kind of lock on the table, a partition of it, or its database.
HeldLock AddComponent(RawWire& wire,
                      const World::TableSpec& table,
                      v1::AcquireLocksRequest& request);
// How the request, which waits, was decided; none: it was not in that time.
std::optional<v1::WatchLockResponse> WatchLock(RawWire& wire, LockId lock, Nanos time);

}  // namespace skep::sim

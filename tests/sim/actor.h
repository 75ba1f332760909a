#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/session/blocker.h"
#include "tests/sim/fiber.h"
#include "tests/sim/scheduler.h"

namespace skep::sim {

// Somebody whose script runs on a fiber: a client, an operator, a compaction worker. It waits by
// giving the thread away; the world lets it go on when what it waits for is there and its process
// does not stand still.
class Actor {
 public:
  // `process`: one that it shares with others, as a thread of theirs; null: one of its own.
  Actor(Scheduler& scheduler,
        std::string name,
        std::function<void(Actor&)> script,
        std::shared_ptr<Process> process = nullptr)
      : scheduler_(scheduler),
        name_(std::move(name)),
        process_(process ? std::move(process)
                         : std::make_shared<Process>(Process{name_, {}, false})),
        fiber_([this, script = std::move(script)] { script(*this); }) {}

  const std::string& name() const { return name_; }
  const std::shared_ptr<Process>& process() const { return process_; }

  // The one whose script runs now.
  static Actor& Current() { return *current_; }

  // ---- inside the script ----

  void WaitFor(std::function<bool()> there) {
    waits_for_ = std::move(there);
    while (!waits_for_()) Fiber::Yield();
    waits_for_ = nullptr;
  }
  void Sleep(Nanos time) {
    bool over = false;
    scheduler_.After(
        time, [&over] { over = true; }, process_);
    WaitFor([&over] { return over; });
  }
  // The whole process stands still: its timers and its answers wait, too.
  void StandStill(Nanos time) {
    process_->paused_until = scheduler_.now() + time;
    Sleep(Nanos(1));
  }

  // ---- the world's part ----

  bool ended() const { return fiber_.ended(); }
  // Lets it go on if it can.
  bool Poll() {
    if (fiber_.ended() || process_->paused_until > scheduler_.now()) return false;
    if (waits_for_ && !waits_for_()) return false;
    current_ = this;
    fiber_.Resume();
    current_ = nullptr;
    return true;
  }

 private:
  static inline Actor* current_ = nullptr;

  Scheduler& scheduler_;
  const std::string name_;
  const std::shared_ptr<Process> process_;
  std::function<bool()> waits_for_;
  Fiber fiber_;
};

// How production code that blocks its caller waits inside a script, whoever's it is.
class ActorBlocker final : public client::Blocker {
 public:
  void Wait(absl::Notification& done) override {
    Actor::Current().WaitFor([&done] { return done.HasBeenNotified(); });
  }
};

}  // namespace skep::sim

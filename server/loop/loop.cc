#include "server/loop/loop.h"

#include <algorithm>

namespace skep::loop {
namespace {

// Wakes at least this often, so that a loop that stood still (a stopped process) can tell.
constexpr std::chrono::milliseconds kLongestSleep{500};
// How long nothing must arrive before the store may tidy up.
constexpr std::chrono::milliseconds kIdleAfter{5};
// Where many call at one time, the unit waits for those that are about to, as long as the pause
// after an arrival is short: a sync costs several times as much.
constexpr std::chrono::microseconds kLongestPause{30};
constexpr int kMostLooks = 64;
constexpr size_t kManyCallers = 4;
// Timers that are late by this much run although the queue never empties.
constexpr std::chrono::seconds kTimersOverdue{1};

}  // namespace

void Loop::Run() {
  while (Round()) {
  }
  core_.Flush();
}

MonoTime Loop::WaitUntil(MonoTime now) {
  if (core_.HasUnit() || executor_.HasPosted()) return MonoTime::min();
  MonoTime until = now + (tidy_ ? kLongestSleep : kIdleAfter);
  if (const std::optional<MonoTime> due = executor_.NextDue()) until = std::min(until, *due);
  return until;
}

bool Loop::Round() {
  const MonoTime until = WaitUntil(clock_.MonoNow());
  Transport::Got got = transport_.Next(until);
  core_.Tick();
  const bool slept = got == Transport::Got::kNothing && until != MonoTime::min();
  while (got == Transport::Got::kEvent) {
    transport_.Dispatch();
    if (core_.UnitIsFull()) break;
    got = transport_.Next(MonoTime::min());
    if (got == Transport::Got::kNothing && core_.HasUnit() && core_.last_unit() >= kManyCallers) {
      got = Linger();
    }
  }
  executor_.RunPosted();
  core_.Flush();
  RunTimers(got == Transport::Got::kNothing);
  if (units_ != core_.counts().units) {
    units_ = core_.counts().units;
    tidy_ = false;
  } else if (slept && !tidy_ && !core_.HasUnit()) {
    core_.Idle();
    tidy_ = true;
  }
  last_round_.store(clock_.MonoNow().time_since_epoch().count(), std::memory_order_relaxed);
  if (!core_.fatal().ok() && on_fatal_) std::exchange(on_fatal_, nullptr)();
  return got != Transport::Got::kClosed;
}

Transport::Got Loop::Linger() {
  const MonoTime until = clock_.MonoNow() + kLongestPause;
  Transport::Got got = Transport::Got::kNothing;
  for (int look = 0; look < kMostLooks && got == Transport::Got::kNothing; ++look) {
    if (clock_.MonoNow() >= until) break;
    got = transport_.Next(MonoTime::min());
  }
  return got;
}

void Loop::RunTimers(bool drained) {
  if (!drained) {
    const std::optional<MonoTime> due = executor_.NextDue();
    if (!due || clock_.MonoNow() - *due < kTimersOverdue) return;
  }
  executor_.RunDue();
}

}  // namespace skep::loop

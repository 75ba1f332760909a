#include "server/duties/pacer.h"

#include <algorithm>
#include <utility>

#include "storage/base/check.h"
#include "storage/base/log.h"
#include "storage/base/text.h"

namespace skep::duties {

Pacer::Pacer(Options options, Executor& executor, Clock& clock, Pass pass)
    : options_(std::move(options)), executor_(executor), clock_(clock), pass_(std::move(pass)) {}

Pacer::~Pacer() {
  absl::MutexLock lock(&mutex_);
  SKEP_CHECK(phase_ == Phase::kIdle);
}

void Pacer::Start() {
  absl::MutexLock lock(&mutex_);
  SKEP_CHECK(phase_ == Phase::kIdle && !stopping_);
  PostLocked();
}

void Pacer::Wake() {
  absl::MutexLock lock(&mutex_);
  if (stopping_) return;
  switch (phase_) {
    case Phase::kResting:
      if (status_.failures == 0 && executor_.Cancel(timer_)) PostLocked();
      return;
    case Phase::kRunning:
      woken_ = true;
      return;
    case Phase::kIdle:
    case Phase::kPosted:
      return;
  }
}

void Pacer::Stop(Executor::Task stopped) {
  absl::MutexLock lock(&mutex_);
  SKEP_CHECK(!stopping_);
  stopping_ = true;
  stopped_ = std::move(stopped);
  // Whatever runs or is posted comes by and reports; a timer is not waited for.
  if (phase_ == Phase::kIdle || (phase_ == Phase::kResting && executor_.Cancel(timer_)))
    PostLocked();
}

bool Pacer::stopping() const {
  absl::MutexLock lock(&mutex_);
  return stopping_;
}

Pacer::Status Pacer::status() const {
  absl::MutexLock lock(&mutex_);
  return status_;
}

void Pacer::PostLocked() {
  phase_ = Phase::kPosted;
  status_.next = clock_.MonoNow();
  executor_.Post([this] { RunPass(); });
}

void Pacer::RestLocked(std::chrono::milliseconds delay) {
  phase_ = Phase::kResting;
  status_.next = clock_.MonoNow() + delay;
  timer_ = executor_.PostAt(status_.next, [this] { RunPass(); });
}

void Pacer::RunPass() {
  Executor::Task stopped;
  {
    absl::MutexLock lock(&mutex_);
    if (stopping_) {
      phase_ = Phase::kIdle;
      stopped = std::move(stopped_);
    } else {
      phase_ = Phase::kRunning;
      status_.running = true;
      woken_ = false;
    }
  }
  // After this the owner may be gone.
  if (stopped) return stopped();
  pass_([this](PassResult result) { Finish(std::move(result)); });
}

void Pacer::Finish(PassResult result) {
  absl::MutexLock lock(&mutex_);
  status_.running = false;
  ++status_.passes;
  CountLocked(result.status);
  if (stopping_) return PostLocked();
  if (status_.failures > 0) return RestLocked(DelayLocked());
  if (woken_ || result.next == PassResult::Next::kGoOn) return PostLocked();
  RestLocked(options_.rest);
}

std::chrono::milliseconds Pacer::DelayLocked() const {
  const int64_t doublings = std::min<int64_t>(status_.failures - 1, 30);
  return std::min(options_.first_delay * (int64_t{1} << doublings), options_.max_delay);
}

void Pacer::CountLocked(const absl::Status& status) {
  if (status.ok()) {
    if (status_.failures > 0) {
      Log(LogLevel::kInfo, options_.name + ".recovered", {{"failures", status_.failures}});
    }
    status_.failures = 0;
    status_.last_error.clear();
    return;
  }
  const std::string text = MessageOf(status);
  const bool is_new = text != status_.last_error;
  ++status_.failures;
  status_.last_error = text;
  const bool doubled = (status_.failures & (status_.failures - 1)) == 0;
  if (!is_new && !doubled) return;
  Log(LogLevel::kWarn,
      options_.name + ".failed",
      {{"error", text}, {"failures", status_.failures}, {"retry_ms", DelayLocked().count()}});
}

}  // namespace skep::duties

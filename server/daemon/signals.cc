#include "server/daemon/signals.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

namespace skep::daemon {
namespace {

int FatalSignal() { return SIGRTMIN; }

sigset_t Handled() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, FatalSignal()})
    sigaddset(&set, signal);
  return set;
}

}  // namespace

void Signals::Block() {
  ::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = Handled();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Signal Signals::Wait(std::chrono::nanoseconds timeout) {
  const sigset_t set = Handled();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec time{seconds.count(), (timeout - seconds).count()};
  const int signal = ::sigtimedwait(&set, nullptr, &time);
  if (signal == SIGTERM || signal == SIGINT) return Signal::kStop;
  if (signal == SIGHUP) return Signal::kReload;
  if (signal == SIGUSR1) return Signal::kReopenLog;
  if (signal == SIGUSR2) return Signal::kDumpState;
  if (signal == FatalSignal()) return Signal::kFatal;
  return Signal::kNone;
}

void Signals::RaiseFatal() { ::kill(::getpid(), FatalSignal()); }

}  // namespace skep::daemon

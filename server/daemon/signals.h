#pragma once

#include <chrono>

namespace skep::daemon {

enum class Signal { kNone, kStop, kReload, kReopenLog, kDumpState, kFatal };

// The process's signals, taken by the main thread alone: every other one has them blocked.
class Signals {
 public:
  // Blocks them in this thread and those it starts later; SIGPIPE is ignored. Before any thread
  // starts.
  static void Block();
  // The next signal, or kNone after `timeout`.
  static Signal Wait(std::chrono::nanoseconds timeout);
  // Makes Wait say kFatal. Thread-safe.
  static void RaiseFatal();
};

}  // namespace skep::daemon

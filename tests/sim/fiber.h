#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace skep::sim {

// A stack of its own for code that waits in the middle: the clients' scripts are straight lines,
// and production code that blocks its caller runs unchanged. All fibers share one thread; one runs
// until it yields.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  // Its body must have ended.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs it until it yields or ends. Not from inside a fiber.
  void Resume();
  // Back to whoever resumed the fiber that runs.
  static void Yield();
  bool ended() const { return ended_; }

 private:
  static void Main();
  void SwitchIn();
  void SwitchOut(bool last);

  std::function<void()> body_;
  std::unique_ptr<char[]> stack_;
  ucontext_t context_{};
  ucontext_t caller_{};
  bool ended_ = false;
  // What AddressSanitizer must be told of.
  void* fake_stack_ = nullptr;
  const void* caller_stack_ = nullptr;
  size_t caller_stack_size_ = 0;
};

}  // namespace skep::sim

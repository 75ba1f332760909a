#include "tests/sim/fiber.h"

#include <utility>

#include "storage/base/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define SKEP_SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SKEP_SIM_ASAN 1
#endif
#endif

#ifdef SKEP_SIM_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace skep::sim {
namespace {

constexpr size_t kStackBytes = 512 << 10;

Fiber* running = nullptr;  // the thread's; there is one thread

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)), stack_(new char[kStackBytes]) {
  SKEP_CHECK(::getcontext(&context_) == 0);
  context_.uc_stack.ss_sp = stack_.get();
  context_.uc_stack.ss_size = kStackBytes;
  context_.uc_link = nullptr;
  ::makecontext(&context_, &Fiber::Main, 0);
}

Fiber::~Fiber() { SKEP_CHECK(ended_); }

void Fiber::Main() {
  Fiber& self = *running;
#ifdef SKEP_SIM_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &self.caller_stack_, &self.caller_stack_size_);
#endif
  self.body_();
  self.body_ = nullptr;
  self.ended_ = true;
  self.SwitchOut(true);
}

void Fiber::Resume() {
  SKEP_CHECK(running == nullptr && !ended_);
  running = this;
  SwitchIn();
  running = nullptr;
}

void Fiber::SwitchIn() {
#ifdef SKEP_SIM_ASAN
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack_.get(), kStackBytes);
#endif
  ::swapcontext(&caller_, &context_);
#ifdef SKEP_SIM_ASAN
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void Fiber::SwitchOut([[maybe_unused]] bool last) {
#ifdef SKEP_SIM_ASAN
  __sanitizer_start_switch_fiber(last ? nullptr : &fake_stack_, caller_stack_, caller_stack_size_);
#endif
  ::swapcontext(&context_, &caller_);
#ifdef SKEP_SIM_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, &caller_stack_, &caller_stack_size_);
#endif
}

void Fiber::Yield() {
  SKEP_CHECK(running != nullptr);
  running->SwitchOut(false);
}

}  // namespace skep::sim

#pragma once

// Logs the broken invariant and aborts. For states from which going on could corrupt data; a fault
// that hurts one request only is MakeError(ErrorReason::kInternal, …).
#define SKEP_CHECK(cond)                                         \
  do {                                                           \
    if (!(cond)) ::skep::CheckFailed(#cond, __FILE__, __LINE__); \
  } while (false)

namespace skep {
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
}  // namespace skep

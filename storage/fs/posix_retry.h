#pragma once

#include <errno.h>

namespace skep::fs {

// Repeats a system call that a signal interrupted before it did anything.
template <class Call>
auto RetryOnEintr(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace skep::fs

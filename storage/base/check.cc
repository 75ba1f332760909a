#include "storage/base/check.h"

#include <cstdlib>

#include "storage/base/log.h"

namespace skep {

void CheckFailed(const char* condition, const char* file, int line) {
  Log(LogLevel::kCritical,
      "invariant.broken",
      {{"condition", condition}, {"file", file}, {"line", line}});
  FlushLog();
  std::abort();
}

}  // namespace skep

#include "tests/e2e/crash_points.h"

#include <signal.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "storage/base/text.h"

namespace skep::e2e {

std::unique_ptr<CrashPoints> CrashPoints::Parse(std::string_view text) {
  const std::vector<std::string_view> parts = SplitText(text, ':');
  if (parts.size() < 2) return nullptr;
  const auto make = [](Kind kind, std::string_view step, std::string_view count) {
    const std::optional<int64_t> number = ParseInt64(count);
    return std::unique_ptr<CrashPoints>(
        number && *number > 0 ? new CrashPoints(kind, std::string(step), *number) : nullptr);
  };
  if (parts[0] == "step") return make(Kind::kStep, parts[1], parts.size() > 2 ? parts[2] : "1");
  if (parts.size() != 2) return nullptr;
  if (parts[0] == "before-unit") return make(Kind::kBeforeUnit, "", parts[1]);
  if (parts[0] == "after-unit") return make(Kind::kAfterUnit, "", parts[1]);
  if (parts[0] == "removal") return make(Kind::kRemoval, "", parts[1]);
  return nullptr;
}

void CrashPoints::Pass(Kind kind, std::string_view step) {
  if (kind != kind_ || step != step_) return;
  if (left_.fetch_sub(1) == 1) ::kill(::getpid(), SIGKILL);
}

absl::Status CrashingStore::Append(const Effects& effects) {
  points_.BeforeUnit();
  absl::Status status = store_.Append(effects);
  if (status.ok()) points_.AfterUnit();
  return status;
}

}  // namespace skep::e2e

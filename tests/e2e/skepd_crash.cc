// skepd with a switch that production has not: SKEP_TEST_CRASH names the point at which it kills
// itself (crash_points.h).

#include <cstdio>
#include <memory>

#include "server/daemon/config.h"
#include "server/daemon/run.h"
#include "tests/e2e/crash_points.h"

int main(int argc, char** argv) {
  using skep::e2e::CrashPoints;
  const std::string text = skep::daemon::ProcessEnvironment()["SKEP_TEST_CRASH"];
  // Shared by the hooks; ends with the process.
  const std::shared_ptr<CrashPoints> points = CrashPoints::Parse(text);
  if (points == nullptr) {
    std::fprintf(stderr, "skepd_crash: SKEP_TEST_CRASH=\"%s\" names no point\n", text.c_str());
    return 64;
  }
  skep::daemon::DaemonHooks hooks;
  hooks.wrap_store = [points](skep::meta::MetaStore& store) {
    return std::make_unique<skep::e2e::CrashingStore>(store, *points);
  };
  hooks.at_compaction_step = [points](std::string_view step) { points->Step(step); };
  hooks.before_removal = [points] { points->Removal(); };
  return skep::daemon::Run(argc, argv, std::move(hooks));
}

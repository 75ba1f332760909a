#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "storage/meta/meta_store.h"

namespace skep::daemon {

// What a program that runs the daemon puts between its parts. skepd puts nothing there; a program
// of the tests does, to end itself at a chosen point. All may be empty.
struct DaemonHooks {
  // A store in front of the real one, which outlives it.
  std::function<std::unique_ptr<meta::MetaStore>(meta::MetaStore&)> wrap_store;
  // A compaction has reached this step (compact::kStep…, "published"). On a worker's thread.
  std::function<void(std::string_view)> at_compaction_step;
  // The cleaner is about to remove something. On its thread.
  std::function<void()> before_removal;
};

}  // namespace skep::daemon

#pragma once

#include "server/daemon/settings.h"
#include "storage/base/clock.h"
#include "storage/meta/open_store.h"

namespace skep::daemon {

// The store from the configuration. `now`: the time of the start.
meta::StoreForm FormOf(const Settings& settings);
meta::LogStoreOptions StoreOptionsOf(const Settings& settings, Timestamp now);

// skepd --check-store: looks for what is wrong with a store at rest and tells it on standard
// output, one line each. kExitOk: sound; kExitIo: damaged; else as a start that fails, told on
// standard error.
enum class CheckDepth { kQuick, kDeep };
int CheckStoreFiles(const Settings& settings, CheckDepth depth);

}  // namespace skep::daemon

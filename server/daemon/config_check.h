#pragma once

#include "server/daemon/config.h"

namespace skep::daemon {

// What --check-config looks at beyond the text: warehouse roots are there and can be written, the
// store's directory too. Adds to config->problems. Makes no file and opens no store.
void CheckFiles(Config* config);

}  // namespace skep::daemon

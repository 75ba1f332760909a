#pragma once

#include <string>

namespace skep::bench {

// The comparator: skepd's own transport and loop, one thread, with handlers that answer at once
// with a message of the size that the real one has. Serves until SIGTERM.
int ServeEcho(const std::string& endpoint);

}  // namespace skep::bench

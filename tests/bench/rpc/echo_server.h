#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace skep::bench {

// The comparator: skepd's own transport and loop, one thread, with handlers that answer at once
// with a message of the size that the real one has; GetSnapshot's names `open` open transactions.
// Serves until SIGTERM.
int ServeEcho(const std::vector<std::string>& endpoints, int64_t open);

}  // namespace skep::bench

#pragma once

#include <string>
#include <vector>

#include <absl/status/status.h>

namespace skep::daemon {

// Makes room for the Unix sockets among `endpoints` ("unix:/run/skep/skepd.sock"): a socket that a
// dead daemon left is removed, one that answers is another daemon's. Errors: kAlreadyExists
// (metadata path) for that, and for what is no socket; kStorageUnwritable (metadata path, errno)
// where the directory is missing or closed to us.
absl::Status PrepareUnixSockets(const std::vector<std::string>& endpoints);

// After binding: owner and group may connect (0660).
absl::Status OpenUnixSockets(const std::vector<std::string>& endpoints);
// At the end: the files go.
void RemoveUnixSockets(const std::vector<std::string>& endpoints);

}  // namespace skep::daemon

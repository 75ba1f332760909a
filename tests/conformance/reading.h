#pragma once

// One reading of a fixture through `dump`.

#include <string>
#include <vector>

#include <absl/status/status.h>

#include "client/table/dump.h"

namespace skep::testing {

struct Reading {
  absl::Status status;
  std::vector<std::string> lines;
  client::DumpReport report;
};

Reading DumpOf(const client::DumpOptions& options);

}  // namespace skep::testing

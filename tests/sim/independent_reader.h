#pragma once

#include <functional>
#include <string>

#include <absl/status/statusor.h>

#include "tests/sim/history.h"
#include "tests/sim/warehouse.h"

namespace skep::sim {

// What a reader may see: of one snapshot.
struct Sight {
  std::function<bool(int64_t write_id)> write_id;
  std::function<bool(int64_t txn)> txn;  // of a name's `_vN`
};

// The rows of a directory by the description of the layout, the slow way: a parser of names and a
// choice of directories that share nothing with the product. Everything that is there and visible
// is read, covered or not; equal rows count once.
absl::StatusOr<Rows> ReadSlowly(Warehouse& warehouse, const std::string& dir, const Sight& sight);

}  // namespace skep::sim

#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/sim/history.h"

#include "proto/skep/v1/table.pb.h"

namespace skep::sim {

// What is stored of a materialised view of the tiny world: all rows of its sources, and the lists
// that they were read by.
struct View {
  std::map<Place, Rows> rows;
  std::vector<v1::WriteIdList> built_from;  // none: it was never built
};
// By name. Both sides of a rebuild that is committed belong together.
using Views = std::map<std::string, View>;

}  // namespace skep::sim

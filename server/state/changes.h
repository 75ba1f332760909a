#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "server/state/by_age.h"

namespace skep::state {

// When each table or partition was last written: where the initiator looks. Memory only, one entry
// per partition that was written since the load. Value type.
class ChangeLog {
 public:
  using Resource = std::pair<TableId, std::string>;  // an empty partition: the table

  // `seq` never falls.
  void Record(TableId table, const std::string& partition, CommitSeq seq) {
    changes_.Touch(table, partition).seq = seq;
  }
  void DropTable(TableId table) { changes_.DropTable(table); }
  // Oldest change first. O(answer).
  std::vector<Resource> Since(CommitSeq seq) const {
    std::vector<Resource> out;
    const auto& changes = changes_.records();
    for (auto it = changes.rbegin(); it != changes.rend() && it->seq > seq; ++it) {
      out.emplace_back(it->table, it->partition);
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

 private:
  struct Change {
    TableId table;
    std::string partition;
    CommitSeq seq;
  };
  ByAge<Change> changes_;
};

}  // namespace skep::state

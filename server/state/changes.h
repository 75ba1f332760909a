#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/model/ids.h"

namespace skep::state {

// When each table or partition was last written: where the initiator looks. Memory only, one entry
// per partition that was written since the load. Value type.
class ChangeLog {
 public:
  using Resource = std::pair<TableId, std::string>;  // an empty partition: the table

  void Record(TableId table, const std::string& partition, CommitSeq seq) {
    CommitSeq& last = last_[{table, partition}];
    Unlink(last, {table, partition});
    last = seq;
    by_seq_[seq].insert({table, partition});
  }
  void DropTable(TableId table) {
    auto it = last_.lower_bound({table, ""});
    while (it != last_.end() && it->first.first == table) {
      Unlink(it->second, it->first);
      it = last_.erase(it);
    }
  }
  // Oldest change first. O(answer).
  std::vector<Resource> Since(CommitSeq seq) const {
    std::vector<Resource> out;
    for (auto it = by_seq_.upper_bound(seq); it != by_seq_.end(); ++it) {
      out.insert(out.end(), it->second.begin(), it->second.end());
    }
    return out;
  }

 private:
  void Unlink(CommitSeq seq, const Resource& resource) {
    const auto it = by_seq_.find(seq);
    if (it == by_seq_.end()) return;
    it->second.erase(resource);
    if (it->second.empty()) by_seq_.erase(it);
  }

  std::map<Resource, CommitSeq> last_;
  std::map<CommitSeq, std::set<Resource>> by_seq_;
};

}  // namespace skep::state

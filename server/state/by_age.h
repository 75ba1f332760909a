#pragma once

#include <iterator>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <absl/container/flat_hash_map.h>

#include "storage/model/ids.h"

namespace skep::state {

// Records of tables and partitions (an empty partition: the table) in the order in which they were
// touched last. Touch, Find and PopOldest take O(1), whatever the number of records. A Record has
// fields `table` and `partition`. Thread-compatible; references hold until the record goes.
template <class Record>
class ByAge {
 public:
  // The record, made if it is new; the youngest from now on.
  Record& Touch(TableId table, std::string_view partition) {
    Names& names = tables_[table];
    const auto known = names.find(partition);
    if (known != names.end()) {
      records_.splice(records_.end(), records_, known->second);
      return *known->second;
    }
    Record& record = records_.emplace_back();
    record.table = table;
    record.partition = partition;
    // The key looks into the record, whose address does not change.
    names.emplace(record.partition, std::prev(records_.end()));
    return record;
  }
  const Record* Find(TableId table, std::string_view partition) const {
    const auto names = tables_.find(table);
    if (names == tables_.end()) return nullptr;
    const auto it = names->second.find(partition);
    return it == names->second.end() ? nullptr : &*it->second;
  }

  // Oldest touch first.
  const std::list<Record>& records() const { return records_; }
  // Youngest first, until `visit` says false.
  template <class Visit>
  void FromYoungest(Visit visit) {
    for (auto it = records_.rbegin(); it != records_.rend() && visit(*it); ++it) {
    }
  }
  bool Knows(TableId table) const { return tables_.contains(table); }

  // There must be one.
  void PopOldest() {
    const Record& oldest = records_.front();
    const auto names = tables_.find(oldest.table);
    names->second.erase(oldest.partition);
    if (names->second.empty()) tables_.erase(names);
    records_.pop_front();
  }
  void DropTable(TableId table) {
    const auto names = tables_.find(table);
    if (names == tables_.end()) return;
    const Names dropped = std::move(names->second);
    tables_.erase(names);
    for (const auto& [name, it] : dropped) records_.erase(it);
  }

 private:
  using Names = absl::flat_hash_map<std::string_view, typename std::list<Record>::iterator>;

  std::list<Record> records_;
  std::unordered_map<TableId, Names> tables_;
};

}  // namespace skep::state

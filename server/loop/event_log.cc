#include "server/loop/event_log.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "storage/model/errors.h"

namespace skep::loop {
namespace {

int64_t HeapOf(const std::string& text) {
  static const size_t kInside = std::string().capacity();
  return text.capacity() > kInside ? static_cast<int64_t>(text.capacity()) : 0;
}

// What an event holds outside itself.
struct HeapBytes {
  template <class Item>
  static int64_t Of(const std::vector<Item>& items) {
    return static_cast<int64_t>(items.capacity() * sizeof(Item));
  }
  int64_t operator()(const state::CommittedEvent& e) const {
    int64_t bytes = Of(e.tables);
    for (const state::TableCommit& table : e.tables) {
      bytes += Of(table.writes);
      for (const state::PartitionWrite& write : table.writes) bytes += HeapOf(write.partition);
    }
    return bytes;
  }
  int64_t operator()(const state::AbortedEvent& e) const { return Of(e.tables); }
  int64_t operator()(const state::AllocatedEvent& e) const { return Of(e.ids); }
  int64_t operator()(const state::PropertiesEvent& e) const {
    int64_t bytes = Of(e.properties);
    for (const auto& [key, value] : e.properties) {
      bytes += HeapOf(key) + (value ? HeapOf(*value) : 0);
    }
    return bytes;
  }
  int64_t operator()(const state::PartitionsEvent& e) const {
    int64_t bytes = Of(e.partitions);
    for (const std::string& partition : e.partitions) bytes += HeapOf(partition);
    return bytes;
  }
  int64_t operator()(const state::CompactionEvent& e) const {
    return static_cast<int64_t>(sizeof(CompactionRow)) + HeapOf(e.row->partition) +
           HeapOf(e.row->reason) + HeapOf(e.row->error);
  }
  template <class Other>
  int64_t operator()(const Other&) const {
    return 0;
  }
};

}  // namespace

void EventLog::Append(CommitSeq seq, Timestamp time, std::vector<state::Event>& events) {
  newest_ = seq;
  int32_t index = 0;
  for (state::Event& event : events) {
    const int64_t bytes =
        static_cast<int64_t>(sizeof(Kept)) + std::visit(HeapBytes(), std::as_const(event));
    bytes_ += bytes;
    entries_.push_back({{seq, ++index, false, time, std::move(event)}, bytes});
  }
  events.clear();
  if (index == 0) return;
  entries_.back().entry.last = true;
  while (entries_.front().entry.seq != seq &&
         (std::ssize(entries_) > options_.max_events || bytes_ > options_.max_bytes)) {
    DropOldestUnit();
  }
}

void EventLog::DropOldestUnit() {
  oldest_ = entries_.front().entry.seq;
  while (!entries_.empty() && entries_.front().entry.seq == oldest_) {
    bytes_ -= entries_.front().bytes;
    entries_.pop_front();
    ++begin_;
  }
}

absl::StatusOr<int64_t> EventLog::After(const Revision& revision) const {
  if (revision.seq > newest_) {
    return MakeError(ErrorReason::kInvalidRequest,
                     fmt::format("after: unit {} is not there yet, {} is the newest; a server that "
                                 "was restored from a copy counts from the copy on",
                                 revision.seq.value(),
                                 newest_.value()),
                     {{"field", "after"}, {"newestRevision", newest_.ToString()}});
  }
  // Of a unit that is gone, only its end is known.
  if (revision.seq < oldest_ || (revision.seq == oldest_ && revision.index != 0)) {
    return MakeError(ErrorReason::kWatchTooOld,
                     fmt::format("the events after unit {} are no longer kept, those after {} are; "
                                 "list what is there now, then watch from there",
                                 revision.seq.value(),
                                 oldest_.value()),
                     {{"oldestRevision", oldest_.ToString()}});
  }
  const auto after =
      std::partition_point(entries_.begin(), entries_.end(), [&revision](const Kept& kept) {
        const Entry& entry = kept.entry;
        return entry.seq < revision.seq || (entry.seq == revision.seq &&
                                            (revision.index == 0 || entry.index <= revision.index));
      });
  return begin_ + (after - entries_.begin());
}

}  // namespace skep::loop

#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include <absl/status/statusor.h>

#include "server/state/events.h"

namespace skep::loop {

// A place in the stream of events: after event `index` (from 1) of unit `seq`, or, with index 0,
// after all of the unit.
struct Revision {
  CommitSeq seq;
  int32_t index = 0;
  friend bool operator==(const Revision&, const Revision&) = default;
};

// The events of the last units, in the order of their commits: a ring in memory. What it held goes
// with the process; a new one begins after the unit that was loaded, so who had seen everything
// goes on without a gap, and who had not is told WATCH_TOO_OLD. Confined to one thread.
class EventLog {
 public:
  struct Options {
    int64_t max_events = 65'536;
    int64_t max_bytes = int64_t{16} << 20;  // roughly, of memory
  };
  struct Entry {
    CommitSeq seq;
    int32_t index = 0;  // within its unit, from 1
    bool last = false;  // of its unit
    Timestamp time{};   // of the unit, by the wall clock
    state::Event event;
    Revision revision() const { return {seq, last ? 0 : index}; }
  };

  // `begin`: the unit after which it begins.
  EventLog(const Options& options, CommitSeq begin)
      : options_(options), newest_(begin), oldest_(begin) {}

  // The events of the next durable unit, which are moved out of `events`; drops the oldest units
  // that are too many. The newest unit is always there.
  void Append(CommitSeq seq, Timestamp time, std::vector<state::Event>& events);

  CommitSeq newest() const { return newest_; }
  // Nothing after this unit is missing.
  CommitSeq oldest() const { return oldest_; }

  // The number of the first event after `revision`; numbers go on by one from event to event.
  // Errors: kWatchTooOld with oldestRevision; kInvalidRequest for a unit that is not there yet.
  absl::StatusOr<int64_t> After(const Revision& revision) const;
  // Numbers of the events that are kept: begin() … end()−1.
  int64_t begin() const { return begin_; }
  int64_t end() const { return begin_ + static_cast<int64_t>(entries_.size()); }
  const Entry& At(int64_t number) const {
    return entries_[static_cast<size_t>(number - begin_)].entry;
  }
  int64_t bytes() const { return bytes_; }

 private:
  struct Kept {
    Entry entry;
    int64_t bytes = 0;
  };
  void DropOldestUnit();

  const Options options_;
  CommitSeq newest_;
  CommitSeq oldest_;
  std::deque<Kept> entries_;
  int64_t begin_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace skep::loop

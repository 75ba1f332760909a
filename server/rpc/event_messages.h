#pragma once

// Events as messages, and which of them a watcher asked for.

#include <set>
#include <string>

#include <absl/status/statusor.h>

#include "server/loop/event_log.h"

#include "proto/skep/v1/event_service.pb.h"

namespace skep::rpc {

void ToProto(const loop::Revision& from, v1::Revision* to);
void ToProto(const loop::EventLog::Entry& from, v1::Event* to);

// Value type.
class EventFilter {
 public:
  // Errors: kInvalidRequest by field.
  static absl::StatusOr<EventFilter> FromProto(const v1::WatchEventsRequest& request);

  bool Matches(const state::Event& event) const;

 private:
  bool MatchesTable(const TableName& name) const;

  std::set<int> kinds_;         // of v1::EventKind; empty: all
  std::set<TableName> tables_;  // both empty: all, and events of no table
  std::set<std::string> databases_;
};

}  // namespace skep::rpc

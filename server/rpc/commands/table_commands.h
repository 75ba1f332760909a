#pragma once

// Requests and answers of TableService's registry as the state machine's values; see txn_commands.h
// for what is checked. Locations pass as text: whether one is allowed is decided where the
// warehouse roots are known.

#include <absl/status/statusor.h>

#include "server/state/commands.h"

#include "proto/skep/v1/table_service.pb.h"

namespace skep::wire {

void ToProto(const state::TableInfo& from, v1::Table* to);

// `location` as given: empty stands for the default.
absl::StatusOr<state::CreateTable> FromProto(const v1::CreateTableRequest& from);
// The first step of a registration. `location` as given, not empty.
absl::StatusOr<state::ReserveTable> FromProto(const v1::RegisterTableRequest& from);

struct SetProperties {
  TableName name;
  Properties set;
  std::vector<std::string> unset;
};
absl::StatusOr<SetProperties> FromProto(const v1::SetTablePropertiesRequest& from);

}  // namespace skep::wire

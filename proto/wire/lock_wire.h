#pragma once

#include <string_view>

#include <absl/status/statusor.h>

#include "storage/model/lock.h"
#include "storage/model/rows.h"

#include "proto/skep/v1/lock.pb.h"

namespace skep::wire {

void ToProto(const LockResource& from, v1::LockResource* to);
// Names lower-cased and checked, partition canonical. Errors: kInvalidRequest (a partition without
// a table).
absl::StatusOr<LockResource> FromProto(const v1::LockResource& from, std::string_view field);

// Without what only the state machine knows: beats and blockers.
void ToProto(const LockRow& from, v1::Lock* to);
// Errors: kInvalidRequest for a newer server's kind or state.
absl::StatusOr<LockRow> FromProto(const v1::Lock& from);

}  // namespace skep::wire

#pragma once

#include <absl/status/statusor.h>

#include "storage/model/rows.h"

#include "proto/skep/v1/compaction.pb.h"

namespace skep::wire {

void ToProto(const CompactionRow& from, v1::Compaction* to);
// Errors: kInvalidRequest for a newer server's type or state.
absl::StatusOr<CompactionRow> FromProto(const v1::Compaction& from);

}  // namespace skep::wire

#pragma once

#include <absl/status/statusor.h>

#include "client/session/table_info.h"
#include "skep/table.h"

#include "proto/skep/v1/table.pb.h"

namespace skep::client {

// Errors: kInvalidRequest for what this version cannot hold (a newer server's kind, format or
// type).
absl::StatusOr<TableInfo> TableInfoFromProto(const v1::Table& from);
absl::StatusOr<TableDescription> TableDescriptionFromProto(const v1::Table& from);

}  // namespace skep::client

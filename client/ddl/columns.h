#pragma once

#include <vector>

#include <absl/status/statusor.h>

#include "client/ddl/token_stream.h"
#include "storage/model/hive_type.h"

namespace skep::ddl {

// A type at the cursor: array<…>, map<…>, struct<name:…>, uniontype<…> nested at most 64 deep, or
// one of the plain types of ParseHiveType. Field names keep no quotes.
absl::StatusOr<HiveType> TakeType(TokenStream& tokens);

// "( name type [COMMENT 'text'] [constraints], … )". Constraints of columns and of the table are
// passed over: they bind writers, not files. Errors also for a name that occurs twice.
absl::StatusOr<std::vector<Column>> TakeColumnList(TokenStream& tokens);

}  // namespace skep::ddl

#pragma once

// Enumerations both ways. ToProto cannot fail. FromProto of a request's field refuses UNSPECIFIED
// and unknown numbers, unless it says otherwise; a reader of answers gets the refusal too and may
// skip what a newer server sends.

#include <optional>
#include <string_view>

#include <absl/status/statusor.h>

#include "storage/model/compaction.h"
#include "storage/model/lock.h"
#include "storage/model/table.h"
#include "storage/model/txn.h"

#include "proto/skep/v1/compaction.pb.h"
#include "proto/skep/v1/lock.pb.h"
#include "proto/skep/v1/table.pb.h"
#include "proto/skep/v1/transaction.pb.h"

namespace skep::wire {

v1::TransactionType ToProto(TxnType from);
v1::TransactionState ToProto(TxnState from);
v1::AbortCause ToProto(AbortCause from);
v1::WriteOperation ToProto(WriteOp from);
v1::LockKind ToProto(LockKind from);
v1::LockState ToProto(LockState from);
v1::CompactionType ToProto(CompactionType from);
v1::CompactionState ToProto(CompactionState from);
v1::TableKind ToProto(TableKind from);
v1::FileFormat ToProto(FileFormat from);

absl::StatusOr<TxnType> FromProto(v1::TransactionType from,
                                  std::string_view field);  // UNSPECIFIED: DEFAULT
absl::StatusOr<TxnState> FromProto(v1::TransactionState from, std::string_view field);
absl::StatusOr<AbortCause> FromProto(v1::AbortCause from,
                                     std::string_view field);  // UNSPECIFIED: kNone
absl::StatusOr<WriteOp> FromProto(v1::WriteOperation from, std::string_view field);
absl::StatusOr<LockKind> FromProto(v1::LockKind from, std::string_view field);
absl::StatusOr<LockState> FromProto(v1::LockState from, std::string_view field);
absl::StatusOr<CompactionType> FromProto(v1::CompactionType from, std::string_view field);
absl::StatusOr<CompactionState> FromProto(v1::CompactionState from, std::string_view field);
absl::StatusOr<TableKind> FromProto(v1::TableKind from, std::string_view field);
absl::StatusOr<FileFormat> FromProto(v1::FileFormat from,
                                     std::string_view field);  // UNSPECIFIED: ORC

}  // namespace skep::wire

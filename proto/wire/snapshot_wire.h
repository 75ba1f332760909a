#pragma once

#include <absl/status/statusor.h>

#include "storage/model/snapshot.h"
#include "storage/model/snapshot_change.h"

#include "proto/skep/v1/table.pb.h"
#include "proto/skep/v1/transaction.pb.h"
#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::wire {

// Aborted ids travel as ranges and are lists of ids in memory: a message that would need more ids
// than this is refused rather than expanded.
inline constexpr int64_t kMaxExpandedIds = 50'000'000;

void ToProto(const ValidIds& from, v1::ValidIds* to);
// Errors: kInvalidRequest for lists that are not ascending, pass the high mark, or name an id
// twice.
absl::StatusOr<ValidIds> FromProto(const v1::ValidIds& from);

// `since` is the version that the asker named.
void ToProto(const ValidIdsChange& from, CommitSeq since, v1::ValidIdsChange* to);
// Errors: as for ValidIds. `high`: the mark that comes with it.
absl::StatusOr<ValidIdsChange> FromProto(const v1::ValidIdsChange& from, int64_t high);

// `own` does not travel: the asker knows it.
void ToProto(const TxnSnapshot& from, v1::GetSnapshotResponse* to);
absl::StatusOr<TxnSnapshot> FromProto(const v1::GetSnapshotResponse& from, TxnId own);

// The role does not travel: lists on the wire are a reader's.
void ToProto(const WriteIdSnapshot& from, v1::WriteIdList* to);
absl::StatusOr<WriteIdSnapshot> FromProto(const v1::WriteIdList& from);

}  // namespace skep::wire

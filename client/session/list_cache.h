#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include "storage/model/names.h"
#include "storage/model/snapshot.h"

#include "proto/skep/v1/table_service.pb.h"
#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::client {

// The newest lists that a server gave, whoever asked: a question that names their versions is
// answered by what changed since. Bounded: short lists are not kept, and those of few tables.
// Thread-safe.
class ListCache {
 public:
  struct List {
    int64_t table_id = 0;  // 0: of transactions
    int64_t version = 0;
    ValidIds ids;
  };
  // What one question named, kept until its answer is read; by table id, 0 for transactions.
  using Named = std::map<int64_t, std::shared_ptr<const List>>;

  // Names what is known of what is asked for.
  Named Name(v1::GetSnapshotRequest& request) const;
  Named Name(v1::GetValidWriteIdsRequest& request) const;

  // The lists of an answer, whole, and kept. Errors: kInvalidRequest for lists that cannot be;
  // kInternal for a change of a list that was not named.
  absl::StatusOr<TxnSnapshot> Read(const v1::GetSnapshotResponse& answer,
                                   TxnId own,
                                   const Named& named);
  absl::StatusOr<WriteIdSnapshot> Read(const v1::WriteIdList& answer, const Named& named);

 private:
  void Keep(const TableName& table, List list);

  mutable absl::Mutex mutex_;
  // By name: who asks does not know the id yet. The nameless one is that of transactions.
  std::map<TableName, std::shared_ptr<const List>> lists_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skep::client

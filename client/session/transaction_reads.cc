// What a transaction sees: tables, partitions, lists. Answers belong to its snapshot and are kept.
#include <algorithm>
#include <utility>

#include "client/session/remote_transaction.h"
#include "client/session/table_wire.h"
#include "proto/wire/base_wire.h"
#include "proto/wire/snapshot_wire.h"
#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::client {
namespace {

constexpr int kPageSize = 1'000;
// Beyond that many the answer with all lists would cost more than pins that a restart spread.
constexpr size_t kTablesNamedAtOnce = 16;

}  // namespace

absl::StatusOr<TableInfo> RemoteTransaction::GetTable(const TableName& name) {
  SKEP_RETURN_IF_ERROR(CheckOpen());
  {
    absl::MutexLock lock(&mutex_);
    if (auto known = tables_.find(name); known != tables_.end()) return known->second;
  }
  v1::GetTableRequest request;
  wire::ToProto(name, request.mutable_name());
  request.set_txn_id(id().value());
  SKEP_ASSIGN_OR_RETURN(v1::GetTableResponse answer, Call(std::move(request)));
  SKEP_ASSIGN_OR_RETURN(TableInfo table, TableInfoFromProto(answer.table()));
  absl::MutexLock lock(&mutex_);
  tables_[name] = table;
  return table;
}

absl::StatusOr<std::vector<std::string>> RemoteTransaction::ListPartitions(const TableName& name) {
  std::vector<std::string> partitions;
  v1::ListPartitionsRequest request;
  wire::ToProto(name, request.mutable_table());
  request.set_txn_id(id().value());
  request.set_page_size(kPageSize);
  do {
    SKEP_ASSIGN_OR_RETURN(v1::ListPartitionsResponse page, Call(request));
    partitions.insert(partitions.end(), page.partitions().begin(), page.partitions().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  std::sort(partitions.begin(), partitions.end());
  return partitions;
}

absl::StatusOr<WriteIdSnapshot> RemoteTransaction::GetValidWriteIds(const TableName& name) {
  SKEP_RETURN_IF_ERROR(CheckOpen());
  v1::GetValidWriteIdsRequest request;
  request.set_txn_id(id().value());
  wire::ToProto(name, request.add_tables());
  {
    absl::MutexLock lock(&mutex_);
    auto known = lists_.find(name);
    if (known != lists_.end()) {
      WriteIdSnapshot list = known->second;
      // Own ids are beside the list and may have come after it.
      auto own = write_ids_.find(name);
      if (own != write_ids_.end()) list.own = {own->second.value()};
      return list;
    }
    // Naming all held tables in one call ends the pins on all others that a restart of the server
    // set. Tables that another thread is asking for right now are named as well.
    named_.insert(name);
    request.set_names_all(named_.size() <= kTablesNamedAtOnce);
    for (const TableName& other : named_) {
      if (request.names_all() && other != name) wire::ToProto(other, request.add_tables());
    }
  }
  const ListCache::Named known = session_->lists().Name(request);
  SKEP_ASSIGN_OR_RETURN(v1::GetValidWriteIdsResponse answer, Call(std::move(request)));
  if (answer.lists_size() == 0) {
    return MakeError(ErrorReason::kInternal, "the server sent no list for " + name.ToString());
  }
  SKEP_ASSIGN_OR_RETURN(WriteIdSnapshot list, session_->lists().Read(answer.lists(0), known));
  absl::MutexLock lock(&mutex_);
  auto own = write_ids_.find(name);
  if (own != write_ids_.end()) list.own = {own->second.value()};
  lists_[name] = list;
  return list;
}

absl::StatusOr<TxnSnapshot> RemoteTransaction::GetTxnSnapshot() {
  SKEP_RETURN_IF_ERROR(CheckOpen());
  {
    absl::MutexLock lock(&mutex_);
    if (txns_.has_value()) return *txns_;
  }
  v1::GetSnapshotRequest request;
  request.set_txn_id(id().value());
  const ListCache::Named known = session_->lists().Name(request);
  SKEP_ASSIGN_OR_RETURN(v1::GetSnapshotResponse answer, Call(std::move(request)));
  SKEP_ASSIGN_OR_RETURN(TxnSnapshot txns, session_->lists().Read(answer, id(), known));
  absl::MutexLock lock(&mutex_);
  txns_ = txns;
  return txns;
}

}  // namespace skep::client

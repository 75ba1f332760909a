#include "client/session/list_cache.h"

#include <string>
#include <utility>

#include "proto/wire/snapshot_wire.h"
#include "storage/base/status_macros.h"
#include "storage/model/errors.h"
#include "storage/model/snapshot_change.h"

namespace skep::client {
namespace {

constexpr size_t kShortList = 16;  // ids: a change of it would be no shorter
constexpr size_t kLists = 256;

absl::StatusOr<ValidIds> Follow(const v1::ValidIdsChange& wire_change,
                                int64_t high,
                                int64_t table_id,
                                const ListCache::Named& named) {
  const auto found = named.find(table_id);
  if (found == named.end() || found->second->version != wire_change.since_version()) {
    return MakeError(ErrorReason::kInternal,
                     "the server sent a change of list version " +
                         std::to_string(wire_change.since_version()) + ", which nobody named");
  }
  SKEP_ASSIGN_OR_RETURN(const ValidIdsChange change, wire::FromProto(wire_change, high));
  return ApplyChange(found->second->ids, change, high);
}

}  // namespace

ListCache::Named ListCache::Name(v1::GetSnapshotRequest& request) const {
  absl::MutexLock lock(&mutex_);
  const auto found = lists_.find(TableName());
  if (found == lists_.end() || request.refresh()) return {};
  request.set_known_version(found->second->version);
  return {{0, found->second}};
}

ListCache::Named ListCache::Name(v1::GetValidWriteIdsRequest& request) const {
  absl::MutexLock lock(&mutex_);
  Named named;
  for (const v1::TableName& table : request.tables()) {
    const auto found = lists_.find(TableName{table.database(), table.table()});
    if (found == lists_.end()) continue;
    if (!named.emplace(found->second->table_id, found->second).second) continue;
    auto* known = request.add_known();
    known->set_table_id(found->second->table_id);
    known->set_version(found->second->version);
  }
  return named;
}

absl::StatusOr<TxnSnapshot> ListCache::Read(const v1::GetSnapshotResponse& answer,
                                            TxnId own,
                                            const Named& named) {
  SKEP_ASSIGN_OR_RETURN(TxnSnapshot txns, wire::FromProto(answer, own));
  if (answer.has_change()) {
    SKEP_ASSIGN_OR_RETURN(txns.ids, Follow(answer.change(), txns.ids.high, 0, named));
  }
  Keep(TableName(), {0, answer.version(), txns.ids});
  return txns;
}

absl::StatusOr<WriteIdSnapshot> ListCache::Read(const v1::WriteIdList& answer, const Named& named) {
  SKEP_ASSIGN_OR_RETURN(WriteIdSnapshot list, wire::FromProto(answer));
  if (answer.has_change()) {
    SKEP_ASSIGN_OR_RETURN(list.ids,
                          Follow(answer.change(), list.ids.high, answer.table_id(), named));
  }
  Keep(list.table, {answer.table_id(), answer.version(), list.ids});
  return list;
}

void ListCache::Keep(const TableName& table, List list) {
  absl::MutexLock lock(&mutex_);
  const auto found = lists_.find(table);
  if (list.version == 0) return;
  // Transactions are of many ages: the newest list is nearest to what the next one sees.
  if (found != lists_.end() && found->second->table_id == list.table_id &&
      found->second->version >= list.version) {
    return;
  }
  if (list.ids.open.size() + list.ids.aborted.size() < kShortList) {
    if (found != lists_.end()) lists_.erase(found);
    return;
  }
  if (found == lists_.end() && lists_.size() >= kLists) lists_.erase(lists_.begin());
  lists_[table] = std::make_shared<const List>(std::move(list));
}

}  // namespace skep::client

#include "proto/wire/lock_wire.h"

#include <fmt/format.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"

namespace skep::wire {

void ToProto(const LockResource& from, v1::LockResource* to) {
  to->set_database(from.database);
  to->set_table(from.table);
  to->set_partition(from.partition);
}

absl::StatusOr<LockResource> FromProto(const v1::LockResource& from, std::string_view field) {
  LockResource resource;
  if (from.table().empty()) {
    if (!from.partition().empty()) return BadField(field, "a partition without its table");
    absl::StatusOr<std::string> database = MakeDatabaseName(from.database());
    if (!database.ok())
      return BadField(fmt::format("{}.database", field), MessageOf(database.status()));
    resource.database = *std::move(database);
    return resource;
  }
  absl::StatusOr<TableName> name = MakeTableName(from.database(), from.table());
  if (!name.ok()) return BadField(field, MessageOf(name.status()));
  resource.database = std::move(name->database);
  resource.table = std::move(name->table);
  SKEP_ASSIGN_OR_RETURN(resource.partition,
                        PartitionFromProto(from.partition(), fmt::format("{}.partition", field)));
  return resource;
}

void ToProto(const LockRow& from, v1::Lock* to) {
  to->set_lock_id(from.lock.value());
  to->set_component(from.component);
  to->set_txn_id(from.txn.value());
  ToProto(from.resource, to->mutable_resource());
  to->set_kind(ToProto(from.kind));
  to->set_state(ToProto(from.state));
  ToProto(from.request_time, to->mutable_request_time());
  if (from.state == LockState::kAcquired) ToProto(from.acquire_time, to->mutable_acquire_time());
  to->set_user(from.user);
  to->set_host(from.host);
  to->set_agent(from.agent);
}

absl::StatusOr<LockRow> FromProto(const v1::Lock& from) {
  LockRow row;
  row.lock = LockId(from.lock_id());
  row.component = from.component();
  row.txn = TxnId(from.txn_id());
  SKEP_ASSIGN_OR_RETURN(row.resource, FromProto(from.resource(), "resource"));
  SKEP_ASSIGN_OR_RETURN(row.kind, FromProto(from.kind(), "kind"));
  SKEP_ASSIGN_OR_RETURN(row.state, FromProto(from.state(), "state"));
  row.request_time = FromProto(from.request_time());
  row.acquire_time = FromProto(from.acquire_time());
  row.user = from.user();
  row.host = from.host();
  row.agent = from.agent();
  return row;
}

}  // namespace skep::wire

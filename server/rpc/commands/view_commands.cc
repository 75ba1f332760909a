#include "server/rpc/commands/view_commands.h"

#include <utility>

#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "proto/wire/snapshot_wire.h"
#include "storage/base/status_macros.h"

namespace skep::wire {
namespace {

v1::TableChange::Kind ToProto(state::TableChange::Kind kind) {
  switch (kind) {
    case state::TableChange::Kind::kUnchanged:
      return v1::TableChange::KIND_UNCHANGED;
    case state::TableChange::Kind::kInsertsOnly:
      return v1::TableChange::KIND_INSERTS_ONLY;
    case state::TableChange::Kind::kRowsChanged:
      return v1::TableChange::KIND_ROWS_CHANGED;
    case state::TableChange::Kind::kUnknown:
      return v1::TableChange::KIND_UNKNOWN;
  }
  return v1::TableChange::KIND_UNSPECIFIED;
}

absl::StatusOr<WriteIdSnapshot> ReadSource(const v1::WriteIdList& from, int64_t index) {
  const auto field = [index](std::string_view name) { return FieldOf("built_from", index, name); };
  SKEP_RETURN_IF_ERROR(CheckId(field("table_id"), from.table_id()));
  SKEP_RETURN_IF_ERROR(CheckId(field("snapshot_seq"), from.snapshot_seq()));
  if (from.has_change()) return BadField(field("change"), "is no list; give the list in whole");
  return FromProto(from);
}

}  // namespace

absl::StatusOr<state::LockViewRebuild> FromProto(const v1::LockViewRebuildRequest& from) {
  SKEP_RETURN_IF_ERROR(CheckId("txn_id", from.txn_id()));
  SKEP_ASSIGN_OR_RETURN(TableName view, FromProto(from.view(), "view"));
  return state::LockViewRebuild{TxnId(from.txn_id()), std::move(view)};
}

void ToProto(const state::ViewLockAnswer& from, v1::LockViewRebuildResponse* to) {
  to->set_state(ToProto(from.state));
  ToProto(from.holder, to->mutable_holder());
}

void ToProto(const state::ViewLock& from, v1::ViewRebuild* to) {
  ToProto(from.view, to->mutable_view());
  to->set_txn_id(from.txn.value());
  to->set_user(from.user);
  to->set_host(from.host);
  to->set_agent(from.agent);
  ToProto(from.since, to->mutable_since_time());
}

absl::StatusOr<state::GetTableChanges> FromProto(const v1::GetTableChangesRequest& from) {
  SKEP_RETURN_IF_ERROR(CheckOptionalId("txn_id", from.txn_id()));
  SKEP_RETURN_IF_ERROR(CheckCount("built_from", from.built_from_size(), 1, kMaxTablesPerCall));
  state::GetTableChanges command;
  command.txn = TxnId(from.txn_id());
  for (int i = 0; i < from.built_from_size(); ++i) {
    SKEP_ASSIGN_OR_RETURN(WriteIdSnapshot list, ReadSource(from.built_from(i), i));
    command.built_from.push_back(std::move(list));
  }
  return command;
}

void ToProto(const state::TableChanges& from, v1::GetTableChangesResponse* to) {
  to->set_snapshot_seq(from.seq.value());
  for (const state::TableChange& change : from.tables) {
    v1::TableChange* const c = to->add_changes();
    c->set_table_id(change.table.value());
    c->set_kind(ToProto(change.kind));
    for (const auto& [first, last] : change.now_visible) {
      v1::IdRange* const range = c->add_now_visible();
      range->set_first(first);
      range->set_last(last);
    }
    c->set_compacted(change.compacted);
    c->set_reason(change.reason);
  }
}

}  // namespace skep::wire

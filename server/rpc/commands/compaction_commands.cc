#include "server/rpc/commands/compaction_commands.h"

#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "proto/wire/page_token.h"
#include "server/rpc/commands/txn_commands.h"
#include "storage/base/status_macros.h"

namespace skep::wire {

absl::StatusOr<state::EnqueueCompaction> FromProto(const v1::EnqueueCompactionRequest& from) {
  state::EnqueueCompaction command;
  SKEP_ASSIGN_OR_RETURN(command.table, FromProto(from.table(), "table"));
  SKEP_ASSIGN_OR_RETURN(command.partition, PartitionFromProto(from.partition(), "partition"));
  SKEP_ASSIGN_OR_RETURN(command.type, FromProto(from.type(), "type"));
  SKEP_RETURN_IF_ERROR(CheckText("initiator", from.initiator(), kMaxHostBytes));
  command.initiator = from.initiator().empty() ? "manual" : from.initiator() + "-manual";
  command.reason = "asked for by " + (from.initiator().empty() ? "a client" : from.initiator());
  SKEP_ASSIGN_OR_RETURN(command.request, RequestKeyFromProto(from.request_id(), from.repeat()));
  return command;
}

void ToProto(const state::EnqueuedCompaction& from, v1::EnqueueCompactionResponse* to) {
  to->set_compaction_id(from.id.value());
  to->set_accepted(from.accepted);
  to->set_state(ToProto(from.state));
  to->set_message(from.message);
}

absl::StatusOr<state::ListCompactions> FromProto(const v1::ListCompactionsRequest& from) {
  state::ListCompactions command;
  if (from.has_table()) {
    SKEP_ASSIGN_OR_RETURN(command.table, FromProto(from.table(), "table"));
  }
  if (!from.partition().empty()) {
    if (!from.has_table()) return BadField("partition", "given without `table`");
    SKEP_ASSIGN_OR_RETURN(command.partition, PartitionFromProto(from.partition(), "partition"));
  }
  for (int i = 0; i < from.states_size(); ++i) {
    SKEP_ASSIGN_OR_RETURN(const CompactionState state,
                          FromProto(from.states(i), FieldOf("states", i)));
    command.states.push_back(state);
  }
  SKEP_ASSIGN_OR_RETURN(const int64_t after, ReadIdPageToken(FilterOf(from), from.page_token()));
  command.after = CompactionId(after);
  SKEP_ASSIGN_OR_RETURN(command.limit, PageSizeFromProto(from.page_size()));
  return command;
}

void ToProto(const state::Pin& from, v1::ExplainCleanerResponse::Pin* to) {
  to->set_txn_id(from.txn.value());
  to->set_snapshot_seq(from.snapshot_seq.value());
  to->set_every_table(from.every_table);
  to->set_ended(from.ended);
  to->set_user(from.user);
  to->set_host(from.host);
  to->set_agent(from.agent);
  if (from.open_time != Timestamp()) ToProto(from.open_time, to->mutable_open_time());
}

}  // namespace skep::wire

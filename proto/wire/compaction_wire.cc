#include "proto/wire/compaction_wire.h"

#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "storage/base/status_macros.h"

namespace skep::wire {
namespace {

// A time that has not come yet is left out.
bool IsSet(Timestamp time) { return time != Timestamp{}; }

}  // namespace

void ToProto(const CompactionRow& from, v1::Compaction* to) {
  to->set_compaction_id(from.id.value());
  ToProto(from.name, to->mutable_table());
  to->set_partition(from.partition);
  to->set_type(ToProto(from.type));
  to->set_state(ToProto(from.state));
  to->set_reason(WireText(from.reason));
  to->set_error_message(WireText(from.error));
  to->set_initiator(from.initiator);
  to->set_worker(from.worker);
  to->set_txn_id(from.txn.value());
  to->set_highest_write_id(from.highest_write_id.value());
  to->set_published_seq(from.published_seq.value());
  ToProto(from.enqueue_time, to->mutable_enqueue_time());
  if (IsSet(from.start_time)) ToProto(from.start_time, to->mutable_start_time());
  if (IsSet(from.commit_time)) ToProto(from.commit_time, to->mutable_commit_time());
  if (IsSet(from.end_time)) ToProto(from.end_time, to->mutable_end_time());
  to->set_clean_attempt_count(from.clean_attempts);
  if (IsSet(from.next_clean_time)) ToProto(from.next_clean_time, to->mutable_next_clean_time());
}

absl::StatusOr<CompactionRow> FromProto(const v1::Compaction& from) {
  CompactionRow row;
  row.id = CompactionId(from.compaction_id());
  SKEP_ASSIGN_OR_RETURN(row.name, FromProto(from.table(), "table"));
  row.partition = from.partition();
  SKEP_ASSIGN_OR_RETURN(row.type, FromProto(from.type(), "type"));
  SKEP_ASSIGN_OR_RETURN(row.state, FromProto(from.state(), "state"));
  row.reason = from.reason();
  row.error = from.error_message();
  row.initiator = from.initiator();
  row.worker = from.worker();
  row.txn = TxnId(from.txn_id());
  row.highest_write_id = WriteId(from.highest_write_id());
  row.published_seq = CommitSeq(from.published_seq());
  row.enqueue_time = FromProto(from.enqueue_time());
  row.start_time = FromProto(from.start_time());
  row.commit_time = FromProto(from.commit_time());
  row.end_time = FromProto(from.end_time());
  row.clean_attempts = from.clean_attempt_count();
  row.next_clean_time = FromProto(from.next_clean_time());
  return row;
}

}  // namespace skep::wire

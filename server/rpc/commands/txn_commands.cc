#include "server/rpc/commands/txn_commands.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "proto/wire/page_token.h"
#include "proto/wire/snapshot_wire.h"
#include "storage/base/status_macros.h"

namespace skep::wire {
namespace {

constexpr std::chrono::hours kMaxTimeout{24};
constexpr int64_t kMaxCommitProperties = 100;
constexpr int64_t kMaxPropertyBytes = 4000;

absl::StatusOr<state::TableWrites> ReadWrites(const v1::TableWrites& from,
                                              const std::string& field) {
  state::TableWrites writes;
  SKEP_ASSIGN_OR_RETURN(writes.table, FromProto(from.table(), field + ".table"));
  SKEP_RETURN_IF_ERROR(CheckCount(field + ".writes", from.writes_size(), 0, kMaxPartitionsPerCall));
  writes.writes.reserve(from.writes_size());
  for (int i = 0; i < from.writes_size(); ++i) {
    const v1::PartitionWrite& write = from.writes(i);
    state::PartitionWrite& to = writes.writes.emplace_back();
    SKEP_ASSIGN_OR_RETURN(
        to.partition,
        PartitionFromProto(write.partition(), FieldOf(field + ".writes", i, "partition")));
    // The most restrictive where the caller does not say.
    to.op = WriteOp::kUpdate;
    if (write.operation() != v1::WRITE_OPERATION_UNSPECIFIED) {
      SKEP_ASSIGN_OR_RETURN(
          to.op, FromProto(write.operation(), FieldOf(field + ".writes", i, "operation")));
    }
  }
  return writes;
}

// A table named twice would have two write sets, and which of them is complete nobody could say.
absl::Status CheckEachOnce(const std::vector<state::TableWrites>& write_set) {
  if (write_set.size() < 2) return absl::OkStatus();
  std::map<TableName, size_t> first;
  for (size_t i = 0; i < write_set.size(); ++i) {
    const auto [other, added] = first.emplace(write_set[i].table, i);
    if (added) continue;
    return BadField(
        FieldOf("write_set", static_cast<int64_t>(i), "table"),
        fmt::format("{} is write_set[{}] already; name a table once, with all its writes",
                    write_set[i].table.ToString(),
                    other->second));
  }
  return absl::OkStatus();
}

template <class Ids>
void AddIds(const Ids& from, google::protobuf::RepeatedField<int64_t>* to) {
  to->Reserve(to->size() + static_cast<int>(from.size()));
  for (const auto id : from) to->Add(id.value());
}

template <class Id>
std::vector<Id> ReadIds(const google::protobuf::RepeatedField<int64_t>& from) {
  std::vector<Id> ids;
  ids.reserve(from.size());
  for (const int64_t id : from) ids.emplace_back(id);
  return ids;
}

absl::Status CheckPolicy(const std::string& policy) {
  if (policy.empty()) return BadField("replication_policy", "missing");
  return CheckText("replication_policy", policy, kMaxPolicyBytes);
}

// nullopt where the message names no policy.
absl::StatusOr<std::optional<state::SourceTxns>> ReadSources(
    const std::string& policy, const google::protobuf::RepeatedField<int64_t>& ids, int64_t max) {
  if (policy.empty() && ids.empty()) return std::nullopt;
  SKEP_RETURN_IF_ERROR(CheckPolicy(policy));
  SKEP_RETURN_IF_ERROR(CheckCount("source_txn_ids", ids.size(), 1, max));
  return state::SourceTxns{policy, ReadIds<TxnId>(ids)};
}

}  // namespace

absl::StatusOr<std::optional<state::CommitTxn::Source>> SourceFromProto(const std::string& policy,
                                                                        int64_t source_txn,
                                                                        int64_t txn) {
  if (policy.empty() && source_txn == 0) {
    SKEP_RETURN_IF_ERROR(CheckId("txn_id", txn));
    return std::nullopt;
  }
  if (txn != 0) return BadField("txn_id", "given beside replication_policy: one of them names it");
  SKEP_RETURN_IF_ERROR(CheckPolicy(policy));
  SKEP_RETURN_IF_ERROR(CheckId("source_txn_id", source_txn));
  return state::CommitTxn::Source{policy, TxnId(source_txn)};
}

absl::StatusOr<state::RequestKey> RequestKeyFromProto(const std::string& request_id, bool repeat) {
  state::RequestKey key;
  key.repeat = repeat;
  if (request_id.empty()) {
    if (repeat) return BadField("request_id", "missing: `repeat` says which request is repeated");
    return key;
  }
  if (request_id.size() != key.id.size()) {
    return BadField("request_id",
                    fmt::format("{} bytes given, a request id has 16", request_id.size()));
  }
  std::transform(request_id.begin(), request_id.end(), key.id.begin(), [](char c) {
    return static_cast<uint8_t>(c);
  });
  if (std::all_of(key.id.begin(), key.id.end(), [](uint8_t byte) { return byte == 0; })) {
    return BadField("request_id", "all zero");
  }
  return key;
}

absl::StatusOr<state::OpenTxns> FromProto(const v1::OpenTransactionsRequest& from) {
  state::OpenTxns command;
  SKEP_RETURN_IF_ERROR(CheckCount("count", from.count(), 0, kMaxOpenPerCall));
  command.count = std::max(from.count(), 1);
  SKEP_ASSIGN_OR_RETURN(command.type, FromProto(from.type(), "type"));
  if (command.type == TxnType::kCompaction || command.type == TxnType::kRebalanceCompaction) {
    return BadField("type", "transactions of compactions are opened by the server alone");
  }
  if (from.user().empty()) return BadField("user", "missing");
  SKEP_RETURN_IF_ERROR(CheckText("user", from.user(), kMaxUserBytes));
  SKEP_RETURN_IF_ERROR(CheckText("host", from.host(), kMaxHostBytes));
  SKEP_RETURN_IF_ERROR(CheckText("agent", from.agent(), kMaxAgentBytes));
  command.user = from.user();
  command.host = from.host();
  command.agent = from.agent();
  if (from.has_txn_timeout()) {
    SKEP_ASSIGN_OR_RETURN(const std::chrono::milliseconds timeout,
                          FromProto(from.txn_timeout(), "txn_timeout"));
    if (timeout <= std::chrono::milliseconds(0) || timeout > kMaxTimeout) {
      return BadField(
          "txn_timeout",
          fmt::format("{} ms given, above zero to one day is allowed", timeout.count()));
    }
    command.timeout = timeout;
  }
  command.keep_all_pinned = from.keep_all_pinned();
  SKEP_ASSIGN_OR_RETURN(
      command.sources,
      ReadSources(from.replication_policy(), from.source_txn_ids(), kMaxOpenPerCall));
  if (command.sources && from.count() != 0) {
    return BadField("count", "given beside source_txn_ids, each of which gets a transaction");
  }
  SKEP_ASSIGN_OR_RETURN(command.request, RequestKeyFromProto(from.request_id(), from.repeat()));
  return command;
}

void ToProto(const state::OpenedTxns& from, v1::OpenTransactionsResponse* to) {
  to->set_first_txn_id(from.first.value());
  to->set_count(static_cast<int32_t>(from.count));
  to->set_snapshot_seq(from.snapshot_seq.value());
  ToProto(from.timeout, to->mutable_txn_timeout());
  for (const auto& [source, txn] : from.replicated) {
    auto* out = to->add_replicated();
    out->set_source_txn_id(source.value());
    out->set_txn_id(txn.value());
  }
}

void ToProto(const state::TxnInfo& from, v1::Transaction* to) {
  to->set_txn_id(from.id.value());
  to->set_state(ToProto(from.state));
  to->set_abort_cause(ToProto(from.cause));
  if (from.open) {
    to->set_type(ToProto(from.open->type));
    to->set_user(from.open->user);
    to->set_host(from.open->host);
    to->set_agent(from.open->agent);
    ToProto(from.open->open_time, to->mutable_open_time());
    ToProto(std::chrono::milliseconds(from.open->timeout_ms), to->mutable_txn_timeout());
    to->set_snapshot_seq(from.open->snapshot_seq.value());
  }
  if (from.last_heartbeat) ToProto(*from.last_heartbeat, to->mutable_last_heartbeat_time());
  if (from.lease_left) ToProto(*from.lease_left, to->mutable_lease_left());
  for (const TableName& table : from.tables) to->add_tables(table.ToString());
  AddIds(from.locks, to->mutable_lock_ids());
  if (from.stands_for) {
    to->set_replication_policy(from.stands_for->policy);
    to->set_source_txn_id(from.stands_for->txn.value());
  }
}

absl::StatusOr<state::ListTxns> FromProto(const v1::ListTransactionsRequest& from) {
  state::ListTxns command;
  for (int i = 0; i < from.states_size(); ++i) {
    SKEP_ASSIGN_OR_RETURN(const TxnState state, FromProto(from.states(i), FieldOf("states", i)));
    if (state == TxnState::kCommitted) {
      return BadField(FieldOf("states", i),
                      "committed transactions are not listed: ask GetTransaction for one");
    }
    command.states.push_back(state);
  }
  SKEP_RETURN_IF_ERROR(CheckText("user", from.user(), kMaxUserBytes));
  command.user = from.user();
  SKEP_RETURN_IF_ERROR(CheckText("replication_policy", from.replication_policy(), kMaxPolicyBytes));
  command.policy = from.replication_policy();
  SKEP_ASSIGN_OR_RETURN(const int64_t after, ReadIdPageToken(FilterOf(from), from.page_token()));
  command.after = TxnId(after);
  SKEP_ASSIGN_OR_RETURN(command.limit, PageSizeFromProto(from.page_size()));
  return command;
}

absl::StatusOr<state::Heartbeat> FromProto(const v1::HeartbeatTransactionsRequest& from) {
  SKEP_RETURN_IF_ERROR(CheckCount("txn_ids", from.txn_ids_size(), 0, kMaxIdsPerCall));
  SKEP_RETURN_IF_ERROR(CheckCount("lock_ids", from.lock_ids_size(), 0, kMaxIdsPerCall));
  SKEP_RETURN_IF_ERROR(CheckCount("left_txn_ids", from.left_txn_ids_size(), 0, kMaxIdsPerCall));
  return state::Heartbeat{ReadIds<TxnId>(from.txn_ids()), ReadIds<LockId>(from.lock_ids())};
}

void ToProto(const state::HeartbeatResult& from, v1::HeartbeatTransactionsResponse* to) {
  for (const state::HeartbeatResult::Ended& ended : from.aborted) {
    auto* out = to->add_aborted();
    out->set_txn_id(ended.txn.value());
    out->set_abort_cause(ToProto(ended.cause));
  }
  AddIds(from.committed, to->mutable_committed());
  AddIds(from.not_found, to->mutable_not_found());
  AddIds(from.locks_not_found, to->mutable_locks_not_found());
}

absl::StatusOr<state::CommitTxn> FromProto(const v1::CommitTransactionRequest& from) {
  SKEP_RETURN_IF_ERROR(CheckCount("write_set", from.write_set_size(), 0, kMaxTablesPerCall));
  state::CommitTxn command;
  SKEP_ASSIGN_OR_RETURN(
      command.source,
      SourceFromProto(from.replication_policy(), from.source_txn_id(), from.txn_id()));
  command.txn = TxnId(from.txn_id());
  command.write_set.reserve(from.write_set_size());
  for (int i = 0; i < from.write_set_size(); ++i) {
    SKEP_ASSIGN_OR_RETURN(state::TableWrites writes,
                          ReadWrites(from.write_set(i), FieldOf("write_set", i)));
    command.write_set.push_back(std::move(writes));
  }
  SKEP_RETURN_IF_ERROR(CheckEachOnce(command.write_set));
  SKEP_RETURN_IF_ERROR(CheckCount("properties", from.properties_size(), 0, kMaxCommitProperties));
  for (int i = 0; i < from.properties_size(); ++i) {
    const v1::CommitProperty& property = from.properties(i);
    state::CommitTxn::Property& to = command.properties.emplace_back();
    SKEP_ASSIGN_OR_RETURN(to.table, FromProto(property.table(), FieldOf("properties", i, "table")));
    SKEP_RETURN_IF_ERROR(
        CheckText(FieldOf("properties", i, "key"), property.key(), kMaxPropertyBytes));
    SKEP_RETURN_IF_ERROR(CheckCount(
        FieldOf("properties", i, "value"), property.value().size(), 0, kMaxPropertyBytes));
    to.key = property.key();
    to.value = property.value();
  }
  return command;
}

void ToProto(const state::CommittedTxn& from, v1::CommitTransactionResponse* to) {
  to->set_commit_seq(from.seq.value());
  to->set_unknown_source(from.unknown_source);
}

absl::StatusOr<state::AbortTxns> FromProto(const v1::AbortTransactionsRequest& from) {
  state::AbortTxns command;
  command.cause = from.by_operator() ? AbortCause::kOperator : AbortCause::kUser;
  SKEP_RETURN_IF_ERROR(CheckText("user", from.user(), kMaxUserBytes));
  command.user = from.user();
  if (from.has_min_age()) {
    SKEP_ASSIGN_OR_RETURN(command.min_age, FromProto(from.min_age(), "min_age"));
    if (command.min_age->count() < 0) return BadField("min_age", "below zero");
  }
  SKEP_ASSIGN_OR_RETURN(
      command.sources,
      ReadSources(from.replication_policy(), from.source_txn_ids(), kMaxIdsPerCall));
  const int ways =
      int{from.txn_ids_size() > 0} + int{command.by_filter()} + int{command.sources.has_value()};
  if (ways > 1) {
    return BadField("txn_ids", "one of: ids, owner and age, or ids of another server");
  }
  if (ways == 1 && from.txn_ids().empty()) return command;
  SKEP_RETURN_IF_ERROR(CheckCount("txn_ids", from.txn_ids_size(), 1, kMaxIdsPerCall));
  command.txns = ReadIds<TxnId>(from.txn_ids());
  return command;
}

void ToProto(const state::AbortedTxns& from, v1::AbortTransactionsResponse* to) {
  AddIds(from.aborted, to->mutable_aborted());
  AddIds(from.not_found, to->mutable_not_found());
  AddIds(from.already_committed, to->mutable_already_committed());
  to->set_more(from.more);
}

absl::StatusOr<state::AddPartitions> FromProto(const v1::AddPartitionsRequest& from) {
  SKEP_RETURN_IF_ERROR(CheckId("txn_id", from.txn_id()));
  SKEP_RETURN_IF_ERROR(CheckCount("partitions", from.partitions_size(), 0, kMaxPartitionsPerCall));
  state::AddPartitions command;
  command.txn = TxnId(from.txn_id());
  SKEP_ASSIGN_OR_RETURN(command.table, FromProto(from.table(), "table"));
  command.partitions.reserve(from.partitions_size());
  for (int i = 0; i < from.partitions_size(); ++i) {
    const std::string field = FieldOf("partitions", i);
    SKEP_ASSIGN_OR_RETURN(std::string partition, PartitionFromProto(from.partitions(i), field));
    if (partition.empty()) return BadField(field, "empty");
    command.partitions.push_back(std::move(partition));
  }
  if (from.operation() != v1::WRITE_OPERATION_UNSPECIFIED) {
    SKEP_ASSIGN_OR_RETURN(command.op, FromProto(from.operation(), "operation"));
  }
  return command;
}

absl::StatusOr<state::AllocateWriteIds> FromProto(const v1::AllocateWriteIdsRequest& from) {
  SKEP_RETURN_IF_ERROR(CheckCount("txn_ids", from.txn_ids_size(), 1, kMaxAllocatePerCall));
  state::AllocateWriteIds command;
  SKEP_ASSIGN_OR_RETURN(command.table, FromProto(from.table(), "table"));
  for (int i = 0; i < from.txn_ids_size(); ++i) {
    SKEP_RETURN_IF_ERROR(CheckId(FieldOf("txn_ids", i), from.txn_ids(i)));
  }
  command.txns = ReadIds<TxnId>(from.txn_ids());
  command.reallocate = from.reallocate();
  return command;
}

absl::StatusOr<state::ReplicateWriteIds> ReplicateFromProto(
    const v1::AllocateWriteIdsRequest& from) {
  SKEP_RETURN_IF_ERROR(CheckPolicy(from.replication_policy()));
  if (!from.txn_ids().empty() || from.reallocate()) {
    return BadField("txn_ids", "or reallocate given beside replication_policy");
  }
  SKEP_RETURN_IF_ERROR(CheckCount("sources", from.sources_size(), 1, kMaxAllocatePerCall));
  state::ReplicateWriteIds command;
  command.policy = from.replication_policy();
  SKEP_ASSIGN_OR_RETURN(command.table, FromProto(from.table(), "table"));
  for (int i = 0; i < from.sources_size(); ++i) {
    const auto& source = from.sources(i);
    SKEP_RETURN_IF_ERROR(CheckId(FieldOf("sources", i, "source_txn_id"), source.source_txn_id()));
    SKEP_RETURN_IF_ERROR(CheckId(FieldOf("sources", i, "write_id"), source.write_id()));
    command.sources.emplace_back(TxnId(source.source_txn_id()), WriteId(source.write_id()));
  }
  return command;
}

absl::StatusOr<state::AdoptWriteIds> FromProto(const v1::AdoptWriteIdsRequest& from) {
  state::AdoptWriteIds command;
  SKEP_ASSIGN_OR_RETURN(command.table, FromProto(from.table(), "table"));
  SKEP_ASSIGN_OR_RETURN(WriteIdSnapshot list, ParseWriteIdList(from.valid_write_ids()));
  if (!list.ids.open.empty()) {
    return BadField(
        "valid_write_ids",
        fmt::format("{} is open there: wait until it has ended", list.ids.open.front()));
  }
  command.highest = WriteId(list.ids.high);
  command.aborted = std::move(list.ids.aborted);
  return command;
}

void ToProto(const state::AdoptedWriteIds& from, v1::AdoptWriteIdsResponse* to) {
  to->set_adopted(from.adopted);
  to->set_next_write_id(from.next.value());
  AddIds(from.compactions, to->mutable_compaction_ids());
}

void ToProto(const state::AllocatedWriteIds& from, v1::AllocateWriteIdsResponse* to) {
  to->set_table_id(from.table.value());
  for (const auto& [txn, write_id] : from.ids) {
    auto* allocation = to->add_allocations();
    allocation->set_txn_id(txn.value());
    allocation->set_write_id(write_id.value());
  }
}

absl::StatusOr<state::GetValidWriteIds> FromProto(const v1::GetValidWriteIdsRequest& from) {
  SKEP_RETURN_IF_ERROR(CheckId("txn_id", from.txn_id()));
  SKEP_RETURN_IF_ERROR(
      CheckCount("tables", from.tables_size(), from.names_all() ? 0 : 1, kMaxTablesPerCall));
  state::GetValidWriteIds command;
  command.txn = TxnId(from.txn_id());
  command.tables.reserve(from.tables_size());
  for (int i = 0; i < from.tables_size(); ++i) {
    SKEP_ASSIGN_OR_RETURN(TableName name, FromProto(from.tables(i), FieldOf("tables", i)));
    command.tables.push_back(std::move(name));
  }
  command.names_all = from.names_all();
  SKEP_RETURN_IF_ERROR(CheckCount("known", from.known_size(), 0, kMaxTablesPerCall));
  for (const auto& known : from.known()) {
    command.known[TableId(known.table_id())] = CommitSeq(known.version());
  }
  return command;
}

void ToProto(const state::VersionedTxns& from, v1::GetSnapshotResponse* to) {
  to->set_version(from.version.version.value());
  if (!from.version.change) return ToProto(from.list, to);
  to->set_snapshot_seq(from.list.seq.value());
  to->mutable_txns()->set_high_watermark(from.list.ids.high);
  ToProto(*from.version.change, from.version.since, to->mutable_change());
}

void ToProto(const state::ValidWriteIds& from, v1::GetValidWriteIdsResponse* to) {
  for (size_t i = 0; i < from.tables.size(); ++i) {
    const state::ListVersion& version = from.versions[i];
    v1::WriteIdList* const list = to->add_lists();
    if (version.change) {
      WriteIdSnapshot rest = from.tables[i];
      rest.ids = {rest.ids.high, {}, {}};
      ToProto(rest, list);
      ToProto(*version.change, version.since, list->mutable_change());
    } else {
      ToProto(from.tables[i], list);
    }
    list->set_version(version.version.value());
  }
}

std::string HiveText(TxnId txn, const state::ValidWriteIds& lists) {
  std::string text = txn.ToString();
  for (const WriteIdSnapshot& list : lists.tables) text += "$" + FormatWriteIdList(list);
  return text;
}

}  // namespace skep::wire

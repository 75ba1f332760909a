#include <utility>

#include "proto/wire/base_wire.h"
#include "proto/wire/page_token.h"
#include "proto/wire/snapshot_wire.h"
#include "server/rpc/commands/txn_commands.h"
#include "server/rpc/services.h"
#include "server/rpc/unary.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::rpc {
namespace {

absl::Status Open(const v1::OpenTransactionsRequest& request,
                  Context& context,
                  v1::OpenTransactionsResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const state::OpenTxns command, wire::FromProto(request));
  SKEP_ASSIGN_OR_RETURN(const state::OpenedTxns opened,
                        context.state.Open(command, context.now, context.unit));
  context.call.call.Opens(opened.first, opened.count);
  wire::ToProto(opened, response);
  return absl::OkStatus();
}

absl::Status Get(const v1::GetTransactionRequest& request,
                 Context& context,
                 v1::GetTransactionResponse* response) {
  SKEP_ASSIGN_OR_RETURN(
      const auto source,
      wire::SourceFromProto(
          request.replication_policy(), request.source_txn_id(), request.txn_id()));
  SKEP_ASSIGN_OR_RETURN(const state::TxnInfo info,
                        source ? context.state.GetReplica(*source, context.now)
                               : context.state.GetTxn(TxnId(request.txn_id()), context.now));
  wire::ToProto(info, response->mutable_transaction());
  return absl::OkStatus();
}

absl::Status List(const v1::ListTransactionsRequest& request,
                  Context& context,
                  v1::ListTransactionsResponse* response) {
  SKEP_ASSIGN_OR_RETURN(state::ListTxns command, wire::FromProto(request));
  if (request.has_table()) {
    SKEP_ASSIGN_OR_RETURN(const TableName name, wire::FromProto(request.table(), "table"));
    SKEP_ASSIGN_OR_RETURN(const state::TableInfo table, context.state.GetTable(name));
    command.table = table.row.id;
  }
  const int64_t page = command.limit++;  // one more shows whether there is a next page
  const std::vector<state::TxnInfo> found = context.state.Txns(command, context.now);
  for (const state::TxnInfo& info : found) {
    if (response->transactions_size() == page) {
      const int64_t last = response->transactions(response->transactions_size() - 1).txn_id();
      response->set_next_page_token(
          wire::MakePageToken(wire::FilterOf(request), std::to_string(last)));
      break;
    }
    wire::ToProto(info, response->add_transactions());
  }
  return absl::OkStatus();
}

absl::Status Heartbeat(const v1::HeartbeatTransactionsRequest& request,
                       Context& context,
                       v1::HeartbeatTransactionsResponse* response) {
  SKEP_ASSIGN_OR_RETURN(state::Heartbeat command, wire::FromProto(request));
  loop::Call& call = context.call.call;
  std::vector<TxnId> left;
  for (const int64_t txn : request.left_txn_ids()) left.emplace_back(txn);
  if (request.session() && !call.AddOwn(left, &command)) {
    return wire::BadField("session", "a call that comes alone has no session; name the ids");
  }
  const state::HeartbeatResult result = context.state.Beat(command, context.now, context.unit);
  wire::ToProto(result, response);
  std::vector<TxnId> ended = result.committed;
  ended.insert(ended.end(), result.not_found.begin(), result.not_found.end());
  for (const state::HeartbeatResult::Ended& aborted : result.aborted) ended.push_back(aborted.txn);
  call.Ends(std::move(ended), result.locks_not_found);
  context.release = loop::Release::kAtOnce;
  context.about.swap(command.txns);
  return absl::OkStatus();
}

absl::Status Commit(const v1::CommitTransactionRequest& request,
                    Context& context,
                    v1::CommitTransactionResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const state::CommitTxn command, wire::FromProto(request));
  SKEP_ASSIGN_OR_RETURN(const state::CommittedTxn committed,
                        context.state.Commit(command, context.now, context.unit));
  wire::ToProto(committed, response);
  return absl::OkStatus();
}

absl::Status Abort(const v1::AbortTransactionsRequest& request,
                   Context& context,
                   v1::AbortTransactionsResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const state::AbortTxns command, wire::FromProto(request));
  SKEP_ASSIGN_OR_RETURN(const state::AbortedTxns aborted,
                        context.state.Abort(command, context.now, context.unit));
  wire::ToProto(aborted, response);
  return absl::OkStatus();
}

absl::Status AddPartitions(const v1::AddPartitionsRequest& request,
                           Context& context,
                           v1::AddPartitionsResponse*) {
  SKEP_ASSIGN_OR_RETURN(const state::AddPartitions command, wire::FromProto(request));
  return context.state.AddWrites(command, context.now, context.unit);
}

// The list that a refreshed snapshot shows is known only when its unit is published: the second
// step of the call.
void SendSnapshot(loop::Call& call, loop::BatchCore& core, TxnId txn, bool hive_text) {
  struct Answer {
    absl::StatusOr<state::VersionedTxns> snapshot = absl::UnknownError("not decided");
  };
  auto answer = std::make_shared<Answer>();  // of the command and its end
  core.RunOwned(loop::MakeCommand(
      [answer, txn](state::State& state, state::Now now, state::Unit& unit) {
        answer->snapshot = state.SnapshotSince(txn, CommitSeq(), now, unit);
      },
      [answer, &call, hive_text](const absl::Status& status) {
        if (!status.ok()) {
          call.Refuse(status);
        } else if (!answer->snapshot.ok()) {
          call.Refuse(answer->snapshot.status());
        } else {
          v1::GetSnapshotResponse response;
          wire::ToProto(*answer->snapshot, &response);
          if (hive_text) response.set_hive_text(FormatTxnList(answer->snapshot->list));
          call.Reply(response);
        }
        call.Send();
      }));
}

absl::Status Refresh(TxnId txn, CommitSeq instead_of, bool hive_text, Context& context) {
  SKEP_RETURN_IF_ERROR(
      context.state.RefreshSnapshot(txn, context.now, context.unit, instead_of).status());
  loop::Call& call = context.call.call;
  loop::BatchCore& core = context.call.core;
  core.RunOwned(loop::MakeCommand([](state::State&, state::Now, state::Unit&) {},
                                  [&call, &core, txn, hive_text](const absl::Status& status) {
                                    if (status.ok()) {
                                      SendSnapshot(call, core, txn, hive_text);
                                    } else {
                                      call.Refuse(status);
                                      call.Send();
                                    }
                                  }));
  context.release = loop::Release::kLater;
  return absl::OkStatus();
}

absl::Status GetSnapshot(const v1::GetSnapshotRequest& request,
                         Context& context,
                         v1::GetSnapshotResponse* response) {
  SKEP_RETURN_IF_ERROR(wire::CheckOptionalId("txn_id", request.txn_id()));
  const TxnId txn(request.txn_id());
  SKEP_RETURN_IF_ERROR(wire::CheckOptionalId("known_version", request.known_version()));
  if (request.refresh()) {
    if (txn.is_none())
      return wire::BadField("refresh", "without a transaction there is nothing to refresh");
    SKEP_RETURN_IF_ERROR(wire::CheckOptionalId("snapshot_seq", request.snapshot_seq()));
    return Refresh(txn, CommitSeq(request.snapshot_seq()), request.hive_text(), context);
  }
  const CommitSeq known(request.known_version());
  SKEP_ASSIGN_OR_RETURN(const state::VersionedTxns snapshot,
                        context.state.SnapshotSince(txn, known, context.now, context.unit));
  wire::ToProto(snapshot, response);
  if (request.hive_text()) response->set_hive_text(FormatTxnList(snapshot.list));
  context.AtOnce(txn);
  return absl::OkStatus();
}

std::string Path(std::string_view method) {
  return "/skep.v1.TransactionService/" + std::string(method);
}

}  // namespace

loop::Service MakeTransactionService() {
  using loop::CallClass;
  loop::Service service{"skep.v1.TransactionService", {}};
  auto& methods = service.methods;
  methods.push_back(MakeMethod<v1::OpenTransactionsRequest, v1::OpenTransactionsResponse>(
      Path("OpenTransactions"), {.registered = kHot, .makes = true}, Open));
  methods.push_back(MakeMethod<v1::GetTransactionRequest, v1::GetTransactionResponse>(
      Path("GetTransaction"), {.call_class = CallClass::kOperator}, Get));
  methods.push_back(MakeMethod<v1::ListTransactionsRequest, v1::ListTransactionsResponse>(
      Path("ListTransactions"), {.call_class = CallClass::kOperator}, List));
  methods.push_back(MakeMethod<v1::HeartbeatTransactionsRequest, v1::HeartbeatTransactionsResponse>(
      Path("HeartbeatTransactions"),
      {.call_class = CallClass::kReserved, .registered = kHot},
      Heartbeat));
  methods.push_back(MakeMethod<v1::CommitTransactionRequest, v1::CommitTransactionResponse>(
      Path("CommitTransaction"), {.call_class = CallClass::kReserved, .registered = kHot}, Commit));
  methods.push_back(MakeMethod<v1::AbortTransactionsRequest, v1::AbortTransactionsResponse>(
      Path("AbortTransactions"), {.call_class = CallClass::kReserved, .registered = kHot}, Abort));
  methods.push_back(MakeMethod<v1::AddPartitionsRequest, v1::AddPartitionsResponse>(
      Path("AddPartitions"), {.registered = kHot, .makes = true}, AddPartitions));
  methods.push_back(MakeMethod<v1::GetSnapshotRequest, v1::GetSnapshotResponse>(
      Path("GetSnapshot"), {.registered = kHot}, GetSnapshot));
  return service;
}

}  // namespace skep::rpc

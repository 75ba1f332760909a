#include <utility>

#include "proto/wire/base_wire.h"
#include "server/rpc/commands/compaction_commands.h"
#include "proto/wire/compaction_wire.h"
#include "proto/wire/page_token.h"
#include "server/rpc/services.h"
#include "server/rpc/unary.h"
#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

#include "proto/skep/v1/compaction_service.pb.h"

namespace skep::rpc {
namespace {

absl::Status Enqueue(const v1::EnqueueCompactionRequest& request,
                     Context& context,
                     v1::EnqueueCompactionResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const state::EnqueueCompaction command, wire::FromProto(request));
  SKEP_ASSIGN_OR_RETURN(const state::EnqueuedCompaction enqueued,
                        context.state.Enqueue(command, context.now, context.unit));
  wire::ToProto(enqueued, response);
  return absl::OkStatus();
}

absl::Status Get(const v1::GetCompactionRequest& request,
                 Context& context,
                 v1::GetCompactionResponse* response) {
  SKEP_RETURN_IF_ERROR(wire::CheckId("compaction_id", request.compaction_id()));
  state::ListCompactions query;
  query.id = CompactionId(request.compaction_id());
  const std::vector<CompactionRow> found = context.state.Compactions(query);
  if (found.empty()) {
    const std::string id = std::to_string(request.compaction_id());
    return MakeError(ErrorReason::kNoSuchCompaction,
                     "there is no compaction " + id + ", or its history is no longer kept",
                     {{"compactionId", id}});
  }
  wire::ToProto(found.front(), response->mutable_compaction());
  return absl::OkStatus();
}

absl::Status List(const v1::ListCompactionsRequest& request,
                  Context& context,
                  v1::ListCompactionsResponse* response) {
  SKEP_ASSIGN_OR_RETURN(state::ListCompactions command, wire::FromProto(request));
  const int64_t page = command.limit++;  // one more shows whether there is a next page
  for (const CompactionRow& row : context.state.Compactions(command)) {
    if (response->compactions_size() == page) {
      const int64_t last = response->compactions(response->compactions_size() - 1).compaction_id();
      response->set_next_page_token(
          wire::MakePageToken(wire::FilterOf(request), std::to_string(last)));
      break;
    }
    wire::ToProto(row, response->add_compactions());
  }
  return absl::OkStatus();
}

absl::Status Cancel(const v1::CancelCompactionRequest& request,
                    Context& context,
                    v1::CancelCompactionResponse* response) {
  SKEP_RETURN_IF_ERROR(wire::CheckId("compaction_id", request.compaction_id()));
  SKEP_ASSIGN_OR_RETURN(
      const CompactionRow row,
      context.state.Cancel(CompactionId(request.compaction_id()), context.now, context.unit));
  wire::ToProto(row, response->mutable_compaction());
  return absl::OkStatus();
}

std::string Path(std::string_view method) {
  return "/skep.v1.CompactionService/" + std::string(method);
}

}  // namespace

loop::Service MakeCompactionService() {
  loop::Service service{"skep.v1.CompactionService", {}};
  auto& methods = service.methods;
  methods.push_back(MakeMethod<v1::EnqueueCompactionRequest, v1::EnqueueCompactionResponse>(
      Path("EnqueueCompaction"), {.makes = true}, Enqueue));
  methods.push_back(MakeMethod<v1::GetCompactionRequest, v1::GetCompactionResponse>(
      Path("GetCompaction"), {}, Get));
  methods.push_back(MakeMethod<v1::ListCompactionsRequest, v1::ListCompactionsResponse>(
      Path("ListCompactions"), {}, List));
  methods.push_back(MakeMethod<v1::CancelCompactionRequest, v1::CancelCompactionResponse>(
      Path("CancelCompaction"), {}, Cancel));
  return service;
}

}  // namespace skep::rpc

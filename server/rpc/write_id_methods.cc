#include "server/rpc/write_id_methods.h"

#include "server/rpc/commands/txn_commands.h"
#include "server/rpc/commands/view_commands.h"
#include "server/rpc/unary.h"
#include "storage/base/status_macros.h"

#include "proto/skep/v1/table_service.pb.h"

namespace skep::rpc {
namespace {

absl::Status Allocate(const v1::AllocateWriteIdsRequest& request,
                      Context& context,
                      v1::AllocateWriteIdsResponse* response) {
  if (!request.replication_policy().empty()) {
    SKEP_ASSIGN_OR_RETURN(const state::ReplicateWriteIds replicate,
                          wire::ReplicateFromProto(request));
    SKEP_ASSIGN_OR_RETURN(const state::AllocatedWriteIds replicated,
                          context.state.Replicate(replicate, context.now, context.unit));
    wire::ToProto(replicated, response);
    return absl::OkStatus();
  }
  SKEP_ASSIGN_OR_RETURN(const state::AllocateWriteIds command, wire::FromProto(request));
  SKEP_ASSIGN_OR_RETURN(const state::AllocatedWriteIds allocated,
                        context.state.Allocate(command, context.now, context.unit));
  wire::ToProto(allocated, response);
  return absl::OkStatus();
}

absl::Status GetValid(const v1::GetValidWriteIdsRequest& request,
                      Context& context,
                      v1::GetValidWriteIdsResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const state::GetValidWriteIds command, wire::FromProto(request));
  SKEP_ASSIGN_OR_RETURN(const state::ValidWriteIds lists,
                        context.state.ValidWriteIdsOf(command, context.now, context.unit));
  wire::ToProto(lists, response);
  if (request.hive_text()) response->set_hive_text(wire::HiveText(command.txn, lists));
  context.AtOnce(command.txn);
  return absl::OkStatus();
}

absl::Status GetChanges(const v1::GetTableChangesRequest& request,
                        Context& context,
                        v1::GetTableChangesResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const state::GetTableChanges command, wire::FromProto(request));
  SKEP_ASSIGN_OR_RETURN(const state::TableChanges changes,
                        context.state.TableChangesSince(command, context.now, context.unit));
  wire::ToProto(changes, response);
  return absl::OkStatus();
}

absl::Status Adopt(const v1::AdoptWriteIdsRequest& request,
                   Context& context,
                   v1::AdoptWriteIdsResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const state::AdoptWriteIds command, wire::FromProto(request));
  SKEP_ASSIGN_OR_RETURN(const state::AdoptedWriteIds adopted,
                        context.state.Adopt(command, context.now, context.unit));
  wire::ToProto(adopted, response);
  return absl::OkStatus();
}

}  // namespace

void AddWriteIdMethods(loop::Service* service) {
  service->methods.push_back(MakeMethod<v1::AllocateWriteIdsRequest, v1::AllocateWriteIdsResponse>(
      "/skep.v1.TableService/AllocateWriteIds", {.registered = kHot, .makes = true}, Allocate));
  service->methods.push_back(MakeMethod<v1::GetValidWriteIdsRequest, v1::GetValidWriteIdsResponse>(
      "/skep.v1.TableService/GetValidWriteIds", {.registered = kHot}, GetValid));
  service->methods.push_back(MakeMethod<v1::GetTableChangesRequest, v1::GetTableChangesResponse>(
      "/skep.v1.TableService/GetTableChanges", {}, GetChanges));
  service->methods.push_back(MakeMethod<v1::AdoptWriteIdsRequest, v1::AdoptWriteIdsResponse>(
      "/skep.v1.TableService/AdoptWriteIds", {.makes = true}, Adopt));
}

}  // namespace skep::rpc

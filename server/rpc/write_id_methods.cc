#include "server/rpc/write_id_methods.h"

#include "server/rpc/commands/txn_commands.h"
#include "server/rpc/unary.h"
#include "storage/base/status_macros.h"

#include "proto/skep/v1/table_service.pb.h"

namespace skep::rpc {
namespace {

absl::Status Allocate(const v1::AllocateWriteIdsRequest& request,
                      Context& context,
                      v1::AllocateWriteIdsResponse* response) {
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
  context.AtOnce(command.txn);
  return absl::OkStatus();
}

}  // namespace

void AddWriteIdMethods(loop::Service* service) {
  service->methods.push_back(MakeMethod<v1::AllocateWriteIdsRequest, v1::AllocateWriteIdsResponse>(
      "/skep.v1.TableService/AllocateWriteIds", {.registered = kHot}, Allocate));
  service->methods.push_back(MakeMethod<v1::GetValidWriteIdsRequest, v1::GetValidWriteIdsResponse>(
      "/skep.v1.TableService/GetValidWriteIds", {.registered = kHot}, GetValid));
}

}  // namespace skep::rpc

#include "client/session/event_watch.h"

#include <grpcpp/grpcpp.h>

#include "client/session/message_json.h"
#include "proto/wire/status_wire.h"
#include "storage/base/status_macros.h"

#include "proto/skep/v1/event_service.grpc.pb.h"

namespace skep::client {

absl::Status WatchEvents(const std::string& endpoint,
                         std::string_view request_json,
                         const ToldEvents& told) {
  v1::WatchEventsRequest request;
  SKEP_RETURN_IF_ERROR(MessageFromJson(request_json, "EventService.WatchEvents", &request));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  const auto stub = v1::EventService::NewStub(
      grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  const auto reader = stub->WatchEvents(&context, request);
  v1::WatchEventsResponse response;
  while (reader->Read(&response)) {
    absl::StatusOr<std::string> json = MessageToJson(response);
    if (json.ok() && told(*json)) continue;
    context.TryCancel();
    reader->Finish();  // CANCELLED, by us
    return json.status();
  }
  return wire::FromGrpc(reader->Finish());
}

}  // namespace skep::client

#include "client/session/json_calls.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "client/session/message_json.h"
#include "client/session/session_impl.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

#include "proto/skep/v1/admin_service.pb.h"
#include "proto/skep/v1/compaction_service.pb.h"
#include "proto/skep/v1/lock_service.pb.h"
#include "proto/skep/v1/table_service.pb.h"
#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::client {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

constexpr int32_t kLargestPage = 1'000;

// One call about to be made.
struct Prepared {
  std::string path;
  std::shared_ptr<Message> request;
  std::shared_ptr<Message> response;
};

std::shared_ptr<Message> NewMessage(const Descriptor* type) {
  return std::shared_ptr<Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
}

// Named file by file: generated code that nothing refers to is not linked.
const MethodDescriptor* FindMethod(std::string_view name) {
  const FileDescriptor* files[] = {v1::GetStatusRequest::descriptor()->file(),
                                   v1::EnqueueCompactionRequest::descriptor()->file(),
                                   v1::AcquireLocksRequest::descriptor()->file(),
                                   v1::CreateTableRequest::descriptor()->file(),
                                   v1::OpenTransactionsRequest::descriptor()->file()};
  const std::string full = "skep.v1." + std::string(name);
  for (const FileDescriptor* file : files) {
    for (int i = 0; i < file->service_count(); ++i) {
      for (int j = 0; j < file->service(i)->method_count(); ++j) {
        const MethodDescriptor* method = file->service(i)->method(j);
        if (method->full_name() == full) return method;
      }
    }
  }
  return nullptr;
}

absl::StatusOr<Prepared> Prepare(std::string_view name, std::string_view request_json) {
  const MethodDescriptor* method = FindMethod(name);
  if (method == nullptr) {
    return MakeError(ErrorReason::kInvalidRequest,
                     "there is no method " + Printable(name) +
                         "; they are SERVICE.METHOD, for example "
                         "AdminService.GetStatus",
                     {{"field", "method"}});
  }
  Prepared prepared;
  prepared.path = "/" + method->service()->full_name() + "/" + method->name();
  prepared.request = NewMessage(method->input_type());
  prepared.response = NewMessage(method->output_type());
  SKEP_RETURN_IF_ERROR(MessageFromJson(request_json, name, prepared.request.get()));
  return prepared;
}

}  // namespace

absl::StatusOr<std::string> JsonCalls::Call(std::string_view method,
                                            std::string_view request_json) {
  SKEP_ASSIGN_OR_RETURN(Prepared call, Prepare(method, request_json));
  SKEP_RETURN_IF_ERROR(
      session_.caller().Call(call.path, call.request, call.response, session_.CallDeadline()));
  return MessageToJson(*call.response);
}

absl::StatusOr<std::string> JsonCalls::List(std::string_view method,
                                            std::string_view request_json,
                                            int64_t limit) {
  SKEP_ASSIGN_OR_RETURN(Prepared call, Prepare(method, request_json));
  const FieldDescriptor* size = call.request->GetDescriptor()->FindFieldByName("page_size");
  const FieldDescriptor* token = call.request->GetDescriptor()->FindFieldByName("page_token");
  const FieldDescriptor* items = call.response->GetDescriptor()->FindFieldByNumber(1);
  const FieldDescriptor* next = call.response->GetDescriptor()->FindFieldByName("next_page_token");
  if (size == nullptr || token == nullptr || next == nullptr || items == nullptr ||
      !items->is_repeated()) {
    return MakeError(
        ErrorReason::kInvalidRequest, std::string(method) + " has no pages", {{"field", "method"}});
  }
  std::shared_ptr<Message> all = NewMessage(call.response->GetDescriptor());
  const google::protobuf::Reflection* reflection = all->GetReflection();
  while (true) {
    const int64_t have = reflection->FieldSize(*all, items);
    const int64_t page = limit == 0 ? kLargestPage : std::min<int64_t>(kLargestPage, limit - have);
    call.request->GetReflection()->SetInt32(call.request.get(), size, static_cast<int32_t>(page));
    SKEP_RETURN_IF_ERROR(
        session_.caller().Call(call.path, call.request, call.response, session_.CallDeadline()));
    const std::string next_token = reflection->GetString(*call.response, next);
    reflection->ClearField(call.response.get(), next);
    all->MergeFrom(*call.response);
    if (next_token.empty()) break;
    if (limit != 0 && reflection->FieldSize(*all, items) >= limit) {
      reflection->SetString(all.get(), next, next_token);
      break;
    }
    call.request->GetReflection()->SetString(call.request.get(), token, next_token);
    call.response->Clear();
  }
  return MessageToJson(*all);
}

}  // namespace skep::client

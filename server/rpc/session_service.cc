#include "server/rpc/session_service.h"

#include <string>
#include <unordered_map>
#include <utility>

#include <google/protobuf/descriptor.h>

#include "server/rpc/begin_operation.h"
#include "storage/base/check.h"

#include "proto/skep/v1/lock_service.pb.h"
#include "proto/skep/v1/session_service.pb.h"
#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::MessageLite;
using Methods = std::unordered_map<std::string, loop::Method>;  // by path

template <class Request>
void GiveRequestId(MessageLite& request, const std::string& id) {
  auto& typed = static_cast<Request&>(request);
  if (typed.request_id().empty()) typed.set_request_id(id);
}

void GiveBeginRequestId(MessageLite& request, const std::string& id) {
  GiveRequestId<v1::OpenTransactionsRequest>(
      *static_cast<v1::BeginTransactionRequest&>(request).mutable_open(), id);
}

// "/skep.v1.LockService/AcquireLocks" of the unary method that takes this request.
std::string PathFor(const Methods& methods, const Descriptor* request) {
  for (const auto& [path, method] : methods) {
    std::string name = path.substr(1);
    name[name.find('/')] = '.';
    const auto* found = DescriptorPool::generated_pool()->FindMethodByName(name);
    if (found != nullptr && found->input_type() == request) return path;
  }
  return {};
}

// Where a request says whose transaction it is about.
int TxnFieldOf(const Descriptor* request) {
  for (const char* name : {"txn_id", "txn_ids"}) {
    const FieldDescriptor* field = request->FindFieldByName(name);
    if (field != nullptr) return field->number();
  }
  return 0;
}

loop::SessionMethod MethodFor(const FieldDescriptor* field, Methods* methods) {
  const Descriptor* const request = field->message_type();
  loop::SessionMethod method;
  method.field = field->number();
  method.txn_field = TxnFieldOf(request);
  if (request == v1::BeginTransactionRequest::descriptor()) {
    method.method = MakeMethod<v1::BeginTransactionRequest, v1::BeginTransactionResponse>(
        "/skep.v1.SessionService/BeginTransaction", {.makes = true}, BeginTransaction);
    method.give_request_id = GiveBeginRequestId;
    return method;
  }
  const std::string path = PathFor(*methods, request);
  SKEP_CHECK(!path.empty());  // the contract names an operation that nobody serves
  method.method = std::move(methods->at(path));
  methods->erase(path);
  method.first = request == v1::HeartbeatTransactionsRequest::descriptor();
  method.commits = request == v1::CommitTransactionRequest::descriptor();
  method.ends = method.commits || request == v1::AbortTransactionsRequest::descriptor();
  method.changes = request == v1::AddPartitionsRequest::descriptor() ||
                   request == v1::AllocateWriteIdsRequest::descriptor() ||
                   request == v1::AcquireLocksRequest::descriptor() ||
                   request == v1::DropTableRequest::descriptor();
  if (request == v1::OpenTransactionsRequest::descriptor()) {
    method.give_request_id = GiveRequestId<v1::OpenTransactionsRequest>;
  } else if (request == v1::AcquireLocksRequest::descriptor()) {
    method.give_request_id = GiveRequestId<v1::AcquireLocksRequest>;
  }
  return method;
}

std::vector<loop::SessionMethod> SessionMethods(std::vector<loop::Service> services) {
  Methods methods;
  for (loop::Service& service : services) {
    for (loop::Method& method : service.methods) {
      std::string path = method.path;
      methods.emplace(std::move(path), std::move(method));
    }
  }
  std::vector<loop::SessionMethod> operations;
  const auto* const requests = v1::SessionOperation::descriptor()->FindOneofByName("request");
  for (int i = 0; i < requests->field_count(); ++i) {
    operations.push_back(MethodFor(requests->field(i), &methods));
  }
  return operations;
}

}  // namespace

SessionService::SessionService(const loop::Sessions::Options& options,
                               std::vector<loop::Service> services,
                               loop::BatchCore& core)
    : sessions_(options, SessionMethods(std::move(services)), core) {}

std::unique_ptr<loop::StreamService> SessionService::MakeStreams() {
  return std::make_unique<loop::GrpcStreamService>(
      std::vector<std::string>{"/skep.v1.SessionService/Session",
                               "/skep.v1.SessionService/FenceSession"},
      sessions_);
}

}  // namespace skep::rpc

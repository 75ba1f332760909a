#include "client/session/request_identity.h"

#include <string>

namespace skep::client {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const FieldDescriptor* RequestIdField(const Message& message) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName("request_id");
  return field != nullptr && field->type() == FieldDescriptor::TYPE_BYTES ? field : nullptr;
}

// The part of a request that has the fields: of a fused begin its opening.
Message& Identified(Message& request) {
  const FieldDescriptor* open = request.GetDescriptor()->FindFieldByName("open");
  if (open == nullptr || open->type() != FieldDescriptor::TYPE_MESSAGE) return request;
  return *request.GetReflection()->MutableMessage(&request, open);
}

}  // namespace

void GiveRequestId(Message& whole, Random& random) {
  Message& request = Identified(whole);
  const FieldDescriptor* field = RequestIdField(request);
  if (field == nullptr || !request.GetReflection()->GetString(request, field).empty()) return;
  const Uuid id = MakeUuid(random);
  request.GetReflection()->SetString(&request, field, std::string(id.begin(), id.end()));
}

void MarkAsRepeat(Message& whole) {
  Message& request = Identified(whole);
  const FieldDescriptor* field = request.GetDescriptor()->FindFieldByName("repeat");
  if (field == nullptr || RequestIdField(request) == nullptr) return;
  request.GetReflection()->SetBool(&request, field, true);
}

}  // namespace skep::client

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

}  // namespace

void GiveRequestId(Message& request, Random& random) {
  const FieldDescriptor* field = RequestIdField(request);
  if (field == nullptr || !request.GetReflection()->GetString(request, field).empty()) return;
  const Uuid id = MakeUuid(random);
  request.GetReflection()->SetString(&request, field, std::string(id.begin(), id.end()));
}

void MarkAsRepeat(Message& request) {
  const FieldDescriptor* field = request.GetDescriptor()->FindFieldByName("repeat");
  if (field == nullptr || RequestIdField(request) == nullptr) return;
  request.GetReflection()->SetBool(&request, field, true);
}

}  // namespace skep::client

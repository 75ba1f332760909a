#pragma once

#include <google/protobuf/message.h>

#include "storage/base/random.h"

namespace skep::client {

// What makes a request one that can be repeated, for whichever type has the fields.
void GiveRequestId(google::protobuf::Message& request, Random& random);
void MarkAsRepeat(google::protobuf::Message& request);

}  // namespace skep::client

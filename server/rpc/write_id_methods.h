#pragma once

#include "server/loop/call.h"

namespace skep::rpc {

// AllocateWriteIds and GetValidWriteIds of TableService: the hot half.
void AddWriteIdMethods(loop::Service* service);

}  // namespace skep::rpc

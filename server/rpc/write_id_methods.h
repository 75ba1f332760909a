#pragma once

#include "server/loop/call.h"

namespace skep::rpc {

// AllocateWriteIds, GetValidWriteIds and AdoptWriteIds of TableService.
void AddWriteIdMethods(loop::Service* service);

}  // namespace skep::rpc

#pragma once

#include <absl/status/statusor.h>

#include "client/cli/context.h"
#include "client/cli/options.h"
#include "client/cli/reply.h"

namespace skep::cli {

// The server's ListTransactions reply for these filters, all pages joined; type and age are looked
// at here.
absl::StatusOr<Json> ListTransactions(Run& run, const ShowTransactions& options);

}  // namespace skep::cli

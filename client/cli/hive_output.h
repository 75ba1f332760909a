#pragma once

#include <string>

#include "client/cli/reply.h"

namespace skep::cli {

// What Hive's SHOW TRANSACTIONS, SHOW LOCKS and SHOW COMPACTIONS print for the same facts: a header
// line, then tab-separated rows. Times are milliseconds since the epoch.
std::string HiveTransactions(const Json& transactions);
std::string HiveLocks(const Json& locks);
std::string HiveCompactions(const Json& compactions);

}  // namespace skep::cli

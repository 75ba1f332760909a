#include "server/rpc/services.h"

#include "server/rpc/unary.h"
#include "storage/model/errors.h"

namespace skep::rpc {

absl::Status NoRoom() {
  return MakeError(ErrorReason::kStoreFull,
                   "the disk of the store is full, and what is left of it is for transactions to "
                   "end: free space on the filesystem of the data directory",
                   {{"limit", "free space on the filesystem of the data directory"}});
}

std::vector<loop::Service> MakeServices(const Dependencies& dependencies) {
  std::vector<loop::Service> services;
  services.push_back(MakeTransactionService());
  services.push_back(MakeTableService(dependencies));
  services.push_back(MakeLockService());
  services.push_back(MakeCompactionService());
  services.push_back(MakeAdminService(dependencies));
  return services;
}

}  // namespace skep::rpc

#include "server/rpc/services.h"

namespace skep::rpc {

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

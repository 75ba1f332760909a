#pragma once

#include <string>
#include <vector>

#include "server/loop/call.h"
#include "server/loop/loop_port.h"
#include "server/rpc/directory_port.h"
#include "storage/base/clock.h"
#include "storage/base/executor.h"
#include "storage/fs/file_system.h"

namespace skep::rpc {

// What an operator is told about the server itself.
struct ServerFacts {
  std::string version;
  Timestamp start_time{};
  std::string store_path;
  std::vector<std::string> warehouse_roots;  // normalised
  std::vector<std::string> endpoints;        // filled in once they are bound
  std::chrono::milliseconds txn_timeout{0};
  bool initiator = false;
  int64_t workers = 0;
  bool cleaner = false;
  bool draining = false;
};

// What the services stand on. All must outlive them; `facts` is read on the loop's thread.
struct Dependencies {
  loop::LoopPort& port;
  Executor& pool;  // for what touches the filesystem
  fs::FileSystem& fs;
  DirectoryPort& directories;
  const ServerFacts& facts;
};

// Every service of skep.v1 with unary methods. A set of its own for each caller: SessionService
// serves its operations by a second one.
std::vector<loop::Service> MakeServices(const Dependencies& dependencies);

// The parts.
loop::Service MakeTransactionService();
loop::Service MakeTableService(const Dependencies& dependencies);
loop::Service MakeLockService();
loop::Service MakeCompactionService();
loop::Service MakeAdminService(const Dependencies& dependencies);

}  // namespace skep::rpc

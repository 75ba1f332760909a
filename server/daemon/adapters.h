#pragma once

// The two seams between rooms that do not know each other: duties speak with the loop, services
// with the duties.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/duties/command_port.h"
#include "server/duties/directory_desk.h"
#include "server/loop/loop_server.h"
#include "server/rpc/directory_port.h"

namespace skep::daemon {

// The duties' way into the loop. Thread-safe; the server must outlive it.
class LoopCommandPort final : public duties::CommandPort {
 public:
  explicit LoopCommandPort(loop::LoopServer& server) : server_(server) {}

  void Run(Command command, Done done) override {
    server_.port().Run(std::move(command), std::move(done));
  }
  void WatchCompactions(std::function<void()> changed) override {
    server_.port().Post([this, changed = std::move(changed)]() mutable {
      server_.core().OnCompactions(std::move(changed));
    });
  }

 private:
  loop::LoopServer& server_;
};

// The services' view of what looks at directories. Thread-safe; the desk must outlive it.
class DeskPort final : public rpc::DirectoryPort {
 public:
  explicit DeskPort(duties::DirectoryDesk& desk) : desk_(desk) {}

  void Scan(rpc::RegisterScan scan, Done<rpc::RegisterFindings> done) override;
  void ListDirectories(TableName table,
                       std::string partition,
                       Done<std::vector<rpc::DirectoryEntry>> done) override;
  void ExplainCleaner(std::optional<TableName> table,
                      Done<std::vector<rpc::CleanerEntry>> done) override;
  void ExplainCompaction(TableName table,
                         std::string partition,
                         Done<std::vector<rpc::CompactionDecision>> done) override;

 private:
  duties::DirectoryDesk& desk_;
};

}  // namespace skep::daemon

#pragma once

#include <memory>
#include <string>

#include <sqlite3.h>

#include "tests/sim/sim_disk.h"

namespace skep::sim {

// SQLite on a SimDisk, for one connection at a time: no locks between processes, the index of the
// write-ahead log in memory. As with SQLite's own VFS, the first sync of a log makes its name
// durable. Registered under a name of its own while it lives. Confined to one thread.
class SimVfs {
 public:
  SimVfs(SimDisk& disk, SimClock& clock);
  ~SimVfs();
  SimVfs(const SimVfs&) = delete;
  SimVfs& operator=(const SimVfs&) = delete;

  const std::string& name() const { return name_; }

 private:
  friend struct SimVfsHooks;

  SimDisk& disk_;
  SimClock& clock_;
  std::string name_;
  sqlite3_vfs vfs_{};
};

}  // namespace skep::sim

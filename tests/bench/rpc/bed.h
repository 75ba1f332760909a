#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/rpc/load.h"
#include "tests/bench/rpc/processes.h"

namespace skep::bench {

// Where the parts of a run lie.
struct Places {
  std::string self;   // this program: it is the echo as well
  std::string skepd;  // the daemon that is measured
  std::string dir;    // fresh, for stores and sockets
};

// A daemon, or an echo, on a Unix socket and on a port of the loopback, with clients of it. Ends
// with the object.
class Bed {
 public:
  // A skepd whose limits no line meets, on the store dir/NAME (fresh unless somebody made one).
  static std::unique_ptr<Bed> Daemon(const Places& places, const std::string& name);
  // An echo whose GetSnapshot answers with `open` open transactions.
  static std::unique_ptr<Bed> Echo(const Places& places, int64_t open = 0);

  const Child& server() const { return *server_; }
  const std::string& endpoint() const { return endpoint_; }
  // Milliseconds until the socket accepted.
  double start_ms() const { return start_ms_; }
  LoadGenerator& load() { return *load_; }
  LoadGenerator& tcp_load() { return *tcp_load_; }

  // Makes the tables bench.quiet and bench.busy.
  void MakeTables();
  // Opens `count` transactions in batches of 1 000; the first id.
  int64_t OpenMany(int64_t count);
  int64_t OpenOne();

 private:
  Bed(std::vector<std::string> arguments, const std::string& socket, int port);

  std::string endpoint_;
  std::optional<Child> server_;
  double start_ms_ = 0;
  std::unique_ptr<LoadGenerator> load_;
  std::unique_ptr<LoadGenerator> tcp_load_;
};

// The command of a skepd on the store dir/NAME and the socket dir/NAME.sock whose limits no line
// meets. Makes the directories.
std::vector<std::string> DaemonArguments(const Places& places, const std::string& name);

// A port of the loopback that nobody has now.
int FreePort();

}  // namespace skep::bench

#include "tests/bench/rpc/processes.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stop_token>

#include "storage/base/clock.h"
#include "storage/fs/unique_fd.h"
#include "tests/bench/rpc/histogram.h"

extern char** environ;

namespace skep::bench {

Child::Child(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  if (::posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
    std::perror(argv[0]);
    std::exit(1);
  }
}

Child::~Child() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

double Child::CpuSeconds() const {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

int64_t Child::ResidentKilobytes() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) return std::atoll(line.c_str() + 6);
  }
  return 0;
}

double AwaitSocket(const std::string& path) {
  const auto begin = std::chrono::steady_clock::now();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  SystemClock clock;
  for (;;) {
    const fs::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const bool there =
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    const double took =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    if (there) return took;
    if (took > 20'000) return -1;
    clock.SleepUntil(clock.MonoNow() + std::chrono::milliseconds(1), std::stop_token());
  }
}

double ProbeSync(const std::string& dir, int syncs) {
  const std::string path = dir + "/sync.probe";
  const fs::UniqueFd fd(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  const std::string zeros(1 << 20, '\0');
  if (::pwrite(fd.get(), zeros.data(), zeros.size(), 0) < 0 || ::fdatasync(fd.get()) != 0)
    return -1;
  Histogram times;
  for (int i = 0; i < syncs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (::pwrite(fd.get(), zeros.data(), 4096, (i % 256) * 4096) < 0 || ::fdatasync(fd.get()) != 0)
      return -1;
    times.Add((std::chrono::steady_clock::now() - begin).count());
  }
  ::unlink(path.c_str());
  return static_cast<double>(times.Percentile(0.5)) / 1000;
}

}  // namespace skep::bench

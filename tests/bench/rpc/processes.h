#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace skep::bench {

// A child process; ended by SIGTERM and waited for.
class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // User and system time so far, in seconds.
  double CpuSeconds() const;
  int64_t ResidentKilobytes() const;

 private:
  pid_t pid_ = 0;
};

// Milliseconds from the start of the process until the socket at `path` accepts; negative after 20
// s.
double AwaitSocket(const std::string& path);

// Median time of one fdatasync of a preallocated file in `dir`, in microseconds.
double ProbeSync(const std::string& dir, int syncs);

}  // namespace skep::bench

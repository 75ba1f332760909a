#pragma once

// Real programs under test: `skepd` as a child process and `skepctl` as a command. Paths come from
// the build.

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "storage/base/clock.h"

namespace skep::e2e {

struct Finished {
  int exit_code = -1;  // −signal where a signal ended it
  std::string out;
  std::string err;
};

// Runs a program to its end; `input` goes to its standard input.
Finished RunProgram(const std::string& program,
                    const std::vector<std::string>& args,
                    const std::string& input = "",
                    const std::map<std::string, std::string>& env = {});

// A program that runs beside the test; its standard output goes to a file. Killed by the
// destructor.
class BackgroundProgram {
 public:
  BackgroundProgram(const std::string& program,
                    const std::vector<std::string>& args,
                    std::string output_file);
  ~BackgroundProgram();
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;

  bool Running();
  void Kill();
  std::string Output() const;  // so far

 private:
  std::string output_file_;
  pid_t pid_ = -1;
};

struct DaemonOptions {
  std::string program;            // empty: skepd
  std::string directory;          // store, socket, log and warehouse live below it
  std::vector<std::string> args;  // after the harness's own
  std::map<std::string, std::string> env;
};

// One daemon on a directory. Start and Restart return when it answers, or has ended. Confined to
// one thread.
class DaemonProcess {
 public:
  explicit DaemonProcess(DaemonOptions options);
  ~DaemonProcess();  // kills
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  // True when it serves; false when it ended before that (see exit_code and log).
  bool Start();
  void Kill();      // SIGKILL, waits
  int Terminate();  // SIGTERM, waits; exit code
  void Signal(int signal);
  bool Running();  // reaps
  int exit_code() const { return exit_code_; }
  pid_t pid() const { return pid_; }

  std::string endpoint() const;  // "unix:…"
  std::string warehouse() const;
  std::string store() const;
  std::string Log() const;  // what it wrote to stderr, over all starts

  // skepctl against this daemon.
  Finished Tool(const std::vector<std::string>& args, const std::string& input = "") const;

 private:
  DaemonOptions options_;
  SystemClock clock_;
  pid_t pid_ = -1;
  int exit_code_ = 0;
};

std::string SkepdPath();
std::string SkepdCrashPath();  // takes SKEP_TEST_CRASH (crash_points.h)
std::string SkepctlPath();
std::string ExamplePath();  // the worked example

std::string ReadWholeFile(const std::string& path);  // empty if absent

// Every file and directory below `dir`, relative, in byte order; directories end with '/'.
std::vector<std::string> ListTree(const std::string& dir);

}  // namespace skep::e2e

#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

extern char** environ;

namespace skep::testing {

// A program that runs beside the test; its standard error and output go to files. Killed at the end
// if need be.
class ChildProcess {
 public:
  // `environment`: "NAME=value", added to the test's own.
  ChildProcess(const std::vector<std::string>& arguments,
               const std::string& out_path,
               const std::vector<std::string>& environment = {})
      : out_path_(out_path) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(
        &actions, 1, out_path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    std::vector<char*> argv = Pointers(arguments);
    std::vector<char*> env = Pointers(environment);
    env.pop_back();
    for (char** own = environ; *own != nullptr; ++own) env.push_back(*own);
    env.push_back(nullptr);
    EXPECT_EQ(::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), env.data()), 0)
        << arguments[0];
    posix_spawn_file_actions_destroy(&actions);
  }
  ~ChildProcess() {
    if (pid_ > 0) Kill();
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) { ::kill(pid_, signal); }
  // The exit status; 128 + n where signal n ended it.
  int Wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void Kill() {
    Signal(SIGKILL);
    Wait();
  }
  std::string Output() const {
    std::ifstream file(out_path_);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  static std::vector<char*> Pointers(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
  }

  const std::string out_path_;
  pid_t pid_ = 0;
};

}  // namespace skep::testing

#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "client/cli/exit_codes.h"
#include "client/cli/tool.h"
#include "storage/base/log.h"
#include "storage/fs/posix_file_system.h"

namespace {

std::atomic<bool> interrupted{false};

// The first Ctrl-C asks the waiting command to detach, the second ends the process at once.
void OnInterrupt(int) {
  if (interrupted.exchange(true)) _exit(skep::cli::kInterrupted);
}

void CatchInterrupts(bool on) {
  struct sigaction action {};
  action.sa_handler = on ? OnInterrupt : SIG_DFL;
  sigaction(SIGINT, &action, nullptr);
}

std::string UserName() {
  if (const passwd* entry = getpwuid(getuid())) return entry->pw_name;
  return "uid-" + std::to_string(getuid());
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that closes its end is seen as a failed write, not as a signal.
  signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  skep::ConfigureLogging({.level = skep::LogLevel::kError});
  skep::SystemClock clock;
  skep::fs::PosixFileSystem files;
  const char* endpoint = std::getenv("SKEP_ENDPOINT");
  std::error_code error;
  skep::cli::Context context{
      .in = std::cin,
      .out = std::cout,
      .err = std::cerr,
      .in_is_terminal = isatty(STDIN_FILENO) == 1,
      .err_is_terminal = isatty(STDERR_FILENO) == 1,
      .endpoint = endpoint != nullptr && *endpoint != '\0' ? endpoint : "unix:/run/skep/skepd.sock",
      .user = UserName(),
      .working_directory = std::filesystem::current_path(error).string(),
      .clock = clock,
      .fs = files,
      .connect = skep::client::Session::Connect,
      .watch_events = skep::client::WatchEvents,
      .interrupted = interrupted,
      .catch_interrupts = CatchInterrupts,
  };
  return skep::cli::RunTool(std::vector<std::string>(argv + 1, argv + argc), context);
}

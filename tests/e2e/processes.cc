#include "tests/e2e/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "storage/base/check.h"

extern char** environ;

namespace skep::e2e {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<std::string> MergedEnvironment(const std::map<std::string, std::string>& extra) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!extra.contains(text.substr(0, text.find('=')))) merged.push_back(text);
  }
  for (const auto& [key, value] : extra) merged.push_back(key + "=" + value);
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts `program`; the three descriptors become its standard ones.
pid_t Spawn(const std::string& program,
            const std::vector<std::string>& args,
            const std::map<std::string, std::string>& env,
            int in,
            int out,
            int err) {
  std::vector<std::string> argv_text = {program};
  argv_text.insert(argv_text.end(), args.begin(), args.end());
  std::vector<std::string> env_text = MergedEnvironment(env);
  const std::vector<char*> argv = Pointers(argv_text);
  const std::vector<char*> envp = Pointers(env_text);
  const pid_t pid = fork();
  SKEP_CHECK(pid >= 0);
  if (pid == 0) {
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execve(program.c_str(), argv.data(), envp.data());
    _exit(127);
  }
  return pid;
}

int ExitCodeOf(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

struct Pipe {
  Pipe() { SKEP_CHECK(pipe2(fd, O_CLOEXEC) == 0); }
  ~Pipe() {
    CloseRead();
    CloseWrite();
  }
  void CloseRead() {
    if (fd[0] >= 0) close(fd[0]);
    fd[0] = -1;
  }
  void CloseWrite() {
    if (fd[1] >= 0) close(fd[1]);
    fd[1] = -1;
  }
  int fd[2] = {-1, -1};
};

// Appends what can be read; false at the end of the stream.
bool Drain(int fd, std::string* text) {
  char buffer[65536];
  const ssize_t got = read(fd, buffer, sizeof(buffer));
  if (got > 0) text->append(buffer, static_cast<size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

bool SocketAnswers(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  SKEP_CHECK(fd >= 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  SKEP_CHECK(path.size() < sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const bool connected =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return connected;
}

}  // namespace

Finished RunProgram(const std::string& program,
                    const std::vector<std::string>& args,
                    const std::string& input,
                    const std::map<std::string, std::string>& env) {
  Pipe in;
  Pipe out;
  Pipe err;
  const pid_t pid = Spawn(program, args, env, in.fd[0], out.fd[1], err.fd[1]);
  in.CloseRead();
  out.CloseWrite();
  err.CloseWrite();
  if (!input.empty()) {
    const ssize_t written = write(in.fd[1], input.data(), input.size());
    SKEP_CHECK(written == static_cast<ssize_t>(input.size()));
  }
  in.CloseWrite();

  Finished finished;
  bool out_open = true;
  bool err_open = true;
  while (out_open || err_open) {
    pollfd fds[2] = {{out_open ? out.fd[0] : -1, POLLIN, 0},
                     {err_open ? err.fd[0] : -1, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR) break;
    if (out_open && fds[0].revents != 0) out_open = Drain(out.fd[0], &finished.out);
    if (err_open && fds[1].revents != 0) err_open = Drain(err.fd[0], &finished.err);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  finished.exit_code = ExitCodeOf(status);
  return finished;
}

BackgroundProgram::BackgroundProgram(const std::string& program,
                                     const std::vector<std::string>& args,
                                     std::string output_file)
    : output_file_(std::move(output_file)) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int out = open(output_file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  SKEP_CHECK(null >= 0 && out >= 0);
  pid_ = Spawn(program, args, {}, null, out, null);
  close(null);
  close(out);
}

BackgroundProgram::~BackgroundProgram() { Kill(); }

bool BackgroundProgram::Running() {
  if (pid_ < 0) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  pid_ = -1;
  return false;
}

void BackgroundProgram::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string BackgroundProgram::Output() const { return ReadWholeFile(output_file_); }

DaemonProcess::DaemonProcess(DaemonOptions options) : options_(std::move(options)) {
  if (options_.program.empty()) options_.program = SkepdPath();
  std::filesystem::create_directories(warehouse());
  std::filesystem::create_directories(options_.directory + "/store");
}

DaemonProcess::~DaemonProcess() { Kill(); }

bool DaemonProcess::Start() {
  SKEP_CHECK(!Running());
  std::vector<std::string> args = {"--server.listen",
                                   endpoint(),
                                   "--store.path",
                                   store(),
                                   "--warehouse.roots",
                                   warehouse(),
                                   "--log.level",
                                   "info"};
  args.insert(args.end(), options_.args.begin(), options_.args.end());
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int log = open(
      (options_.directory + "/skepd.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  SKEP_CHECK(null >= 0 && log >= 0);
  pid_ = Spawn(options_.program, args, options_.env, null, null, log);
  close(null);
  close(log);
  const std::string socket_path = endpoint().substr(std::string("unix:").size());
  const MonoTime deadline = clock_.MonoNow() + seconds(30);
  while (Running() && clock_.MonoNow() < deadline) {
    if (SocketAnswers(socket_path)) return true;
    clock_.SleepUntil(clock_.MonoNow() + milliseconds(5), {});
  }
  return false;
}

bool DaemonProcess::Running() {
  if (pid_ < 0) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  exit_code_ = ExitCodeOf(status);
  pid_ = -1;
  return false;
}

void DaemonProcess::Signal(int signal) {
  if (pid_ > 0) kill(pid_, signal);
}

void DaemonProcess::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  exit_code_ = ExitCodeOf(status);
  pid_ = -1;
}

int DaemonProcess::Terminate() {
  if (pid_ < 0) return exit_code_;
  kill(pid_, SIGTERM);
  const MonoTime deadline = clock_.MonoNow() + seconds(60);
  while (Running()) {
    if (clock_.MonoNow() > deadline) Kill();
    clock_.SleepUntil(clock_.MonoNow() + milliseconds(5), {});
  }
  return exit_code_;
}

std::string DaemonProcess::endpoint() const { return "unix:" + options_.directory + "/skepd.sock"; }
std::string DaemonProcess::warehouse() const { return options_.directory + "/warehouse"; }
std::string DaemonProcess::store() const { return options_.directory + "/store/skep.db"; }

std::string DaemonProcess::Log() const { return ReadWholeFile(options_.directory + "/skepd.log"); }

Finished DaemonProcess::Tool(const std::vector<std::string>& args, const std::string& input) const {
  std::vector<std::string> all = {"--endpoint", endpoint()};
  all.insert(all.end(), args.begin(), args.end());
  return RunProgram(SkepctlPath(), all, input);
}

std::string SkepdPath() { return SKEP_SKEPD; }
std::string SkepdCrashPath() { return SKEP_SKEPD_CRASH; }
std::string SkepctlPath() { return SKEP_SKEPCTL; }
std::string ExamplePath() { return SKEP_EXAMPLE; }

std::string ReadWholeFile(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> ListTree(const std::string& dir) {
  std::vector<std::string> entries;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir, error)) {
    std::string name = entry.path().lexically_relative(dir).string();
    if (entry.is_directory(error)) name += '/';
    entries.push_back(std::move(name));
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace skep::e2e

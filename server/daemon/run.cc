#include "server/daemon/run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <grpc/support/log.h>

#include "proto/wire/protobuf_log.h"
#include "server/daemon/command_line.h"
#include "server/daemon/config.h"
#include "server/daemon/config_check.h"
#include "server/daemon/daemon.h"
#include "server/daemon/signals.h"
#include "server/daemon/store_options.h"
#include "server/daemon/version.h"
#include "storage/base/log.h"
#include "storage/base/text.h"

namespace skep::daemon {
namespace {

constexpr std::chrono::seconds kTick{1};

void ConfigureLog(const Settings::Log& log) {
  LogOptions options;
  const char* const names[] = {"trace", "debug", "info", "warn", "error", "critical"};
  for (int i = 0; i < 6; ++i) {
    if (log.level == names[i]) options.level = static_cast<LogLevel>(i);
  }
  options.format = log.format == "json" ? LogOptions::Format::kJson : LogOptions::Format::kText;
  if (log.target.starts_with('/')) options.file = log.target;
  ConfigureLogging(options);
  // What gRPC says is of use when something is wrong only.
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  gpr_set_log_function([](gpr_log_func_args* args) {
    Log(LogLevel::kWarn, "grpc.message", {{"text", args->message}});
  });
}

int ReportProblems(const Config& config) {
  for (const std::string& problem : config.problems) std::fputs((problem + "\n").c_str(), stderr);
  std::fputs("skepd: the configuration is wrong; correct the above and run skepd --check-config\n",
             stderr);
  return config.only_flags_are_wrong ? kExitUsage : kExitConfig;
}

// Stops in a thread of its own: this one hears a second signal, which ends the waiting.
void StopOnSignal(Daemon& daemon, std::chrono::milliseconds timeout) {
  std::atomic<bool> stopped{false};
  std::thread stopper([&] {
    daemon.Stop(std::chrono::system_clock::now() + timeout);
    stopped = true;
  });
  while (!stopped) {
    if (Signals::Wait(std::chrono::milliseconds(20)) == Signal::kStop) {
      Log(LogLevel::kWarn, "daemon.hurry");
      daemon.Hurry();
    }
  }
  stopper.join();
}

// Until it is told to end.
int Serve(Daemon& daemon, const Settings& settings) {
  const auto interval = Notifier::WatchdogInterval();
  SystemClock clock;
  MonoTime next_proof = clock.MonoNow();
  for (;;) {
    if (interval && clock.MonoNow() >= next_proof) {
      daemon.ProveLife();
      next_proof = clock.MonoNow() + *interval;
    }
    const auto wait =
        interval ? std::min<std::chrono::nanoseconds>(kTick, next_proof - clock.MonoNow()) : kTick;
    switch (Signals::Wait(std::max(wait, std::chrono::nanoseconds(0)))) {
      case Signal::kStop:
        Log(LogLevel::kInfo, "daemon.stopping");
        StopOnSignal(daemon, settings.server.drain_timeout);
        return kExitOk;
      case Signal::kReload:
        Log(LogLevel::kWarn,
            "config.reload_not_supported",
            {{"message",
              "this version reads its configuration at the start only: nothing was changed"}});
        break;
      case Signal::kReopenLog:
        ReopenLogFile();
        break;
      case Signal::kDumpState:
        daemon.DumpState();
        break;
      case Signal::kFatal:
        Log(LogLevel::kCritical, "daemon.store_outcome_unknown");
        daemon.Stop(std::chrono::system_clock::now() + std::chrono::seconds(1));
        return kExitIo;
      case Signal::kNone:
        break;
    }
  }
}

// Not a reason to refuse the start: what lies elsewhere is served, and it may be mounted later.
void WarnOfMissingRoots(const Settings& settings) {
  for (const std::string& root : settings.warehouse.roots) {
    if (::access(root.c_str(), X_OK) == 0) continue;
    const int error = errno;
    Log(LogLevel::kWarn,
        "warehouse.unreachable",
        {{"root", root}, {"error", std::strerror(error)}});
  }
}

int RunDaemon(const Settings& settings, DaemonHooks hooks) {
  ConfigureLog(settings.log);
  wire::LogWhatProtobufSays();
  SystemClock clock;
  const MonoTime begin = clock.MonoNow();
  Log(LogLevel::kInfo,
      "daemon.start",
      {{"version", kVersion}, {"pid", static_cast<int64_t>(::getpid())}});
  WarnOfMissingRoots(settings);
  Daemon daemon(settings, std::move(hooks));
  daemon.OnFatal(&Signals::RaiseFatal);
  const Daemon::StartResult started = daemon.Start();
  if (started.code != kExitOk) {
    std::fputs(fmt::format("skepd: cannot start: {}\n", MessageOf(started.status)).c_str(), stderr);
    return started.code;
  }
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(clock.MonoNow() - begin);
  Log(LogLevel::kInfo,
      "daemon.ready",
      {{"endpoints", JoinText(daemon.endpoints(), ",")},
       {"took_ms", static_cast<double>(took.count()) / 1000}});
  return Serve(daemon, settings);
}

}  // namespace

int Run(int argc, char** argv, DaemonHooks hooks) {
  const CommandLine line = ParseCommandLine(argc, argv);
  if (!line.message.empty()) {
    std::fputs(line.message.c_str(), line.exit_code == kExitOk ? stdout : stderr);
    return line.exit_code;
  }
  if (line.version) {
    std::fputs(fmt::format("skepd {}\n", kVersion).c_str(), stdout);
    return kExitOk;
  }
  if (line.print_default_config) {
    std::fputs(PrintDefaultConfig().c_str(), stdout);
    return kExitOk;
  }
  Config config = LoadConfig(line, ProcessEnvironment());
  if (line.check_config && config.problems.empty()) CheckFiles(&config);
  if (!config.problems.empty()) return ReportProblems(config);
  if (!line.print_config.empty()) {
    std::fputs(PrintConfig(config, line.print_config).c_str(), stdout);
    return kExitOk;
  }
  if (line.check_config) {
    std::fputs("skepd: the configuration is right\n", stdout);
    return kExitOk;
  }
  if (!line.check_store.empty()) {
    return CheckStoreFiles(config.settings,
                           line.check_store == "deep" ? CheckDepth::kDeep : CheckDepth::kQuick);
  }
  Signals::Block();
  const int code = RunDaemon(config.settings, std::move(hooks));
  FlushLog();
  return code;
}

}  // namespace skep::daemon

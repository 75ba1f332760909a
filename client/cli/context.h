#pragma once

#include <atomic>
#include <functional>
#include <iostream>
#include <memory>
#include <string>

#include <absl/status/statusor.h>

#include "client/cli/options.h"
#include "client/session/event_watch.h"
#include "client/session/json_calls.h"
#include "client/session/session_impl.h"
#include "skep/session.h"
#include "storage/base/clock.h"
#include "storage/fs/file_system.h"

namespace skep::cli {

// What a command works with: the caller's terminal and machine, replaced in tests. All references
// must outlive it.
struct Context {
  std::istream& in;
  std::ostream& out;  // results
  std::ostream& err;  // messages, questions, progress
  bool in_is_terminal = false;
  bool err_is_terminal = false;

  std::string endpoint;  // where --endpoint and SKEP_ENDPOINT say nothing
  std::string user;
  std::string working_directory;  // absolute

  Clock& clock;
  fs::FileSystem& fs;
  std::function<absl::StatusOr<std::unique_ptr<client::Session>>(const client::SessionOptions&)>
      connect;
  // client::WatchEvents.
  std::function<absl::Status(
      const std::string& endpoint, std::string_view request_json, const client::ToldEvents& told)>
      watch_events;
  // Set by Ctrl-C while `catching_interrupts`; otherwise Ctrl-C ends the process as usual.
  const std::atomic<bool>& interrupted;
  std::function<void(bool)> catch_interrupts;
};

// A command under way: its options, and the server once it is asked for. Thread-compatible.
class Run {
 public:
  Run(Context& context, const Invocation& invocation)
      : context_(context), invocation_(invocation) {}

  Context& io() { return context_; }
  const GlobalOptions& global() const { return invocation_.global; }
  const std::string& words() const { return invocation_.words; }

  // Of the server.
  std::string endpoint() const;
  // Connects at the first use. Errors: kInvalidRequest for an endpoint that is none.
  absl::StatusOr<client::Session*> session();
  // JSON in, JSON out (client/session/json_calls.h).
  absl::StatusOr<std::string> Call(std::string_view method, const std::string& request);
  absl::StatusOr<std::string> List(std::string_view method,
                                   const std::string& request,
                                   int64_t limit);

  // A message for people, on stderr; nothing with -q.
  void Say(const std::string& line);

 private:
  Context& context_;
  const Invocation& invocation_;
  std::unique_ptr<client::Session> session_;
};

}  // namespace skep::cli

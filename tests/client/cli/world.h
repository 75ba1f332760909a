#pragma once

// skepctl in a test: its streams are strings, its server is the scripted one of the session's
// tests. It is 2026-10-01 00:00:00Z.

#include <sstream>
#include <string>
#include <vector>

#include "client/cli/reply.h"
#include "client/cli/tool.h"
#include "storage/fs/posix_file_system.h"
#include "tests/client/session/fakes.h"

#include "proto/skep/v1/admin_service.pb.h"

namespace skep::client {

template <>
struct Rpc<v1::GetStatusRequest> {
  using Response = v1::GetStatusResponse;
  static constexpr char kMethod[] = "/skep.v1.AdminService/GetStatus";
};
template <>
struct Rpc<v1::ExplainLockRequest> {
  using Response = v1::ExplainLockResponse;
  static constexpr char kMethod[] = "/skep.v1.AdminService/ExplainLock";
};
template <>
struct Rpc<v1::ExplainCleanerRequest> {
  using Response = v1::ExplainCleanerResponse;
  static constexpr char kMethod[] = "/skep.v1.AdminService/ExplainCleaner";
};
template <>
struct Rpc<v1::ExplainCompactionRequest> {
  using Response = v1::ExplainCompactionResponse;
  static constexpr char kMethod[] = "/skep.v1.AdminService/ExplainCompaction";
};
template <>
struct Rpc<v1::ListTransactionsRequest> {
  using Response = v1::ListTransactionsResponse;
  static constexpr char kMethod[] = "/skep.v1.TransactionService/ListTransactions";
};
template <>
struct Rpc<v1::ListLocksRequest> {
  using Response = v1::ListLocksResponse;
  static constexpr char kMethod[] = "/skep.v1.LockService/ListLocks";
};
template <>
struct Rpc<v1::ListCompactionsRequest> {
  using Response = v1::ListCompactionsResponse;
  static constexpr char kMethod[] = "/skep.v1.CompactionService/ListCompactions";
};
template <>
struct Rpc<v1::ListTablesRequest> {
  using Response = v1::ListTablesResponse;
  static constexpr char kMethod[] = "/skep.v1.TableService/ListTables";
};
template <>
struct Rpc<v1::RegisterTableRequest> {
  using Response = v1::RegisterTableResponse;
  static constexpr char kMethod[] = "/skep.v1.TableService/RegisterTable";
};
template <>
struct Rpc<v1::SetTablePropertiesRequest> {
  using Response = v1::SetTablePropertiesResponse;
  static constexpr char kMethod[] = "/skep.v1.TableService/SetTableProperties";
};
template <>
struct Rpc<v1::ListDirectoriesRequest> {
  using Response = v1::ListDirectoriesResponse;
  static constexpr char kMethod[] = "/skep.v1.TableService/ListDirectories";
};

}  // namespace skep::client

namespace skep::cli {

struct ToolWorld : client::World {
  // Runs one command line. What it printed is in `out` and `err`.
  int Run(const std::vector<std::string>& arguments, const std::string& input = "") {
    std::istringstream in(input);
    std::ostringstream out_stream;
    std::ostringstream err_stream;
    Context context{
        .in = in,
        .out = out_stream,
        .err = err_stream,
        .in_is_terminal = terminal,
        .endpoint = "unix:/run/skep/skepd.sock",
        .user = "ann",
        .working_directory = "/home/ann",
        .clock = clock,
        .fs = files,
        .connect = [this](const client::SessionOptions& options)
            -> absl::StatusOr<std::unique_ptr<client::Session>> {
          connected = options;
          connected.host = "desk";  // as Session::Connect finds it
          return std::make_unique<client::Session>(std::make_shared<client::SessionImpl>(
              connected,
              client::SessionPorts{
                  server, server, executor, executor, clock, random, blocker, nullptr}));
        },
        .watch_events = [this](const std::string& endpoint,
                               std::string_view request,
                               const client::ToldEvents& told) -> absl::Status {
          watched_endpoint = endpoint;
          watched.emplace_back(request);
          for (const std::string& message : told_events) {
            if (!told(message)) return absl::OkStatus();
          }
          return watch_end;
        },
        .interrupted = interrupted,
        .catch_interrupts = [](bool) {},
    };
    int code = RunTool(arguments, context);
    out = out_stream.str();
    err = err_stream.str();
    return code;
  }
  // `ago` before now, as messages carry it.
  google::protobuf::Timestamp Ago(std::chrono::seconds ago) const {
    google::protobuf::Timestamp time;
    time.set_seconds((clock.Now().time_since_epoch() - ago) / std::chrono::seconds(1));
    return time;
  }

  bool terminal = true;
  std::atomic<bool> interrupted{false};
  fs::PosixFileSystem files;
  client::SessionOptions connected;
  // What a watcher is told, and how it ends then.
  std::vector<std::string> told_events;
  absl::Status watch_end;
  std::string watched_endpoint;
  std::vector<std::string> watched;  // requests
  std::string out;
  std::string err;
};

}  // namespace skep::cli

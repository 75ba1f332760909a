#include "tests/bench/rpc/bed.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include "storage/fs/unique_fd.h"
#include "tests/bench/rpc/measure.h"

#include "proto/skep/v1/table_service.grpc.pb.h"
#include "proto/skep/v1/transaction_service.grpc.pb.h"

namespace skep::bench {
namespace {

constexpr int kConnections = 4;
constexpr int64_t kPerBatch = 1000;

std::string SocketOf(const Places& places, const std::string& name) {
  return places.dir + "/" + name + ".sock";
}

std::string Tcp(int port) { return fmt::format("127.0.0.1:{}", port); }

}  // namespace

int FreePort() {
  const fs::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("a port of the loopback");
    std::exit(1);
  }
  return ntohs(address.sin_port);
}

std::vector<std::string> DaemonArguments(const Places& places, const std::string& name) {
  const std::string home = places.dir + "/" + name;
  std::filesystem::create_directories(home + "/w");
  return {places.skepd,
          "--server.listen",
          "unix:" + SocketOf(places, name),
          "--store.path",
          home + "/skep.db",
          "--warehouse.roots",
          home + "/w",
          "--server.max-in-flight",
          "1000000",
          "--server.max-in-flight-per-client",
          "1000000",
          "--txn.max-open",
          "10000000",
          "--initiator.enabled",
          "false"};
}

std::unique_ptr<Bed> Bed::Daemon(const Places& places, const std::string& name) {
  const int port = FreePort();
  std::vector<std::string> arguments = DaemonArguments(places, name);
  for (const std::string& more : {std::string("--server.listen"),
                                  Tcp(port),
                                  std::string("--log.level"),
                                  std::string("error")})
    arguments.push_back(more);
  return std::unique_ptr<Bed>(new Bed(std::move(arguments), SocketOf(places, name), port));
}

std::unique_ptr<Bed> Bed::Echo(const Places& places, int64_t open) {
  const int port = FreePort();
  const std::string name = fmt::format("echo{}", open);
  return std::unique_ptr<Bed>(new Bed({places.self,
                                       "--serve-echo",
                                       "unix:" + SocketOf(places, name),
                                       Tcp(port),
                                       std::to_string(open)},
                                      SocketOf(places, name),
                                      port));
}

Bed::Bed(std::vector<std::string> arguments, const std::string& socket, int port)
    : endpoint_("unix:" + socket), server_(std::in_place, arguments) {
  start_ms_ = AwaitSocket(socket);
  if (start_ms_ < 0) {
    std::fprintf(stderr, "%s does not answer on %s\n", arguments[0].c_str(), socket.c_str());
    std::exit(1);
  }
  load_ = std::make_unique<LoadGenerator>(endpoint_, kConnections);
  tcp_load_ = std::make_unique<LoadGenerator>(Tcp(port), kConnections);
}

void Bed::MakeTables() {
  auto tables = v1::TableService::NewStub(load_->channel(0));
  for (const char* name : {"quiet", "busy"}) {
    grpc::ClientContext context;
    v1::CreateTableRequest request;
    request.mutable_name()->set_database("bench");
    request.mutable_name()->set_table(name);
    auto* column = request.add_columns();
    column->set_name("id");
    column->set_type("bigint");
    v1::CreateTableResponse response;
    Must(tables->CreateTable(&context, request, &response), "create");
  }
}

int64_t Bed::OpenMany(int64_t count) {
  auto txns = v1::TransactionService::NewStub(load_->channel(0));
  int64_t first = 0;
  for (int64_t opened = 0; opened < count; opened += kPerBatch) {
    grpc::ClientContext context;
    v1::OpenTransactionsRequest request;
    request.set_count(static_cast<int32_t>(std::min(kPerBatch, count - opened)));
    request.set_user("bench");
    request.set_host("host.example");
    request.set_agent("core_bench");
    v1::OpenTransactionsResponse response;
    Must(txns->OpenTransactions(&context, request, &response), "open");
    if (first == 0) first = response.first_txn_id();
  }
  return first;
}

int64_t Bed::OpenOne() { return OpenMany(1); }

}  // namespace skep::bench

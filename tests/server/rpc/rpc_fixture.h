#pragma once

// A server in this process: the real loop, gRPC over a Unix socket, a store in memory, directories
// of the test's choosing.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <absl/synchronization/notification.h>
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "proto/wire/status_wire.h"
#include "server/loop/loop_server.h"
#include "server/rpc/event_service.h"
#include "server/rpc/health_service.h"
#include "server/rpc/lock_watch.h"
#include "server/rpc/reflection_service.h"
#include "server/rpc/services.h"
#include "server/rpc/session_service.h"
#include "storage/base/thread_executor.h"
#include "storage/fs/posix_file_system.h"
#include "tests/server/rpc/fake_directories.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

#include "proto/skep/v1/admin_service.grpc.pb.h"
#include "proto/skep/v1/compaction_service.grpc.pb.h"
#include "proto/skep/v1/event_service.grpc.pb.h"
#include "proto/skep/v1/lock_service.grpc.pb.h"
#include "proto/skep/v1/session_service.grpc.pb.h"
#include "proto/skep/v1/table_service.grpc.pb.h"
#include "proto/skep/v1/transaction_service.grpc.pb.h"

namespace skep::rpc {

class RpcFixture : public ::testing::Test {
 protected:
  RpcFixture() { facts_.warehouse_roots = {dir_.path() + "/w"}; }
  ~RpcFixture() override { Stop(); }

  void SetUp() override {
    ASSERT_TRUE(fs_.CreateDirectories(facts_.warehouse_roots[0]).ok());
    Start();
  }

  void Start() {
    options_.transport.listen = {"unix:" + dir_.path() + "/skepd.sock"};
    auto server = loop::LoopServer::Open(options_, store_, clock_);
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = *std::move(server);
    server_->OnFatal([this] { fatal_.Notify(); });
    pool_ = std::make_unique<ThreadExecutor>("pool", 2, clock_);
    dependencies_ = std::make_unique<Dependencies>(
        Dependencies{server_->port(), *pool_, fs_, directories_, facts_});
    std::vector<loop::Service> services = MakeServices(*dependencies_);
    std::vector<std::string> names;
    for (const loop::Service& service : services) names.push_back(service.name);
    names.push_back(kSessionServiceName);
    names.push_back(kEventServiceName);
    health_ = std::make_unique<HealthService>(names);
    reflection_ = std::make_unique<ReflectionService>(names);
    std::vector<std::unique_ptr<loop::StreamService>> streams;
    streams.push_back(health_->MakeStreams());
    streams.push_back(reflection_->MakeStreams());
    sessions_service_ = std::make_unique<SessionService>(
        session_options_, MakeServices(*dependencies_), server_->core());
    streams.push_back(sessions_service_->MakeStreams());
    event_service_ = std::make_unique<EventService>(event_options_, server_->core());
    streams.push_back(event_service_->MakeStreams());
    lock_watch_ = std::make_unique<LockWatch>(server_->core());
    streams.push_back(lock_watch_->MakeStreams());
    const absl::Status started = server_->Start(std::move(services), std::move(streams));
    ASSERT_TRUE(started.ok()) << started.ToString();
    channel_ = grpc::CreateChannel(server_->endpoints()[0], grpc::InsecureChannelCredentials());
    txns_ = v1::TransactionService::NewStub(channel_);
    tables_ = v1::TableService::NewStub(channel_);
    locks_ = v1::LockService::NewStub(channel_);
    compactions_ = v1::CompactionService::NewStub(channel_);
    admin_ = v1::AdminService::NewStub(channel_);
    sessions_ = v1::SessionService::NewStub(channel_);
    events_ = v1::EventService::NewStub(channel_);
  }

  void Stop() {
    if (!server_) return;
    pool_->Stop();
    server_->Stop(std::chrono::system_clock::now() + std::chrono::seconds(5));
    sessions_service_.reset();  // these use the core to its end
    event_service_.reset();
    lock_watch_.reset();
    server_.reset();
  }

  // Runs `task` on the loop's thread and waits for its end.
  template <class Task>
  void OnLoop(Task task) {
    absl::Notification done;
    server_->port().Post([&] {
      task();
      done.Notify();
    });
    done.WaitForNotification();
  }

  // One call with a deadline; the answer's status in our terms.
  template <class Stub, class Request, class Response>
  absl::Status Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    Stub& stub,
                    const Request& request,
                    Response* response,
                    std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    last_ = (stub.*method)(&context, request, response);
    return wire::FromGrpc(last_);
  }

  int64_t OpenTxn(v1::TransactionType type = v1::TRANSACTION_TYPE_DEFAULT) {
    v1::OpenTransactionsRequest request;
    request.set_user("ada");
    request.set_host("h");
    request.set_type(type);
    v1::OpenTransactionsResponse response;
    EXPECT_THAT(Call(&Txns::OpenTransactions, *txns_, request, &response), testing::IsOk());
    return response.first_txn_id();
  }
  absl::Status Commit(int64_t txn) {
    v1::CommitTransactionRequest request;
    request.set_txn_id(txn);
    v1::CommitTransactionResponse response;
    return Call(&Txns::CommitTransaction, *txns_, request, &response);
  }
  absl::Status Abort(int64_t txn) {
    v1::AbortTransactionsRequest request;
    request.add_txn_ids(txn);
    v1::AbortTransactionsResponse response;
    return Call(&Txns::AbortTransactions, *txns_, request, &response);
  }

  v1::CreateTableRequest TableRequest(const std::string& table) {
    v1::CreateTableRequest request;
    request.mutable_name()->set_database("sales");
    request.mutable_name()->set_table(table);
    auto* column = request.add_columns();
    column->set_name("order_id");
    column->set_type("bigint");
    return request;
  }
  absl::Status Create(const v1::CreateTableRequest& request, v1::Table* table = nullptr) {
    v1::CreateTableResponse response;
    const absl::Status status = Call(&Tables::CreateTable, *tables_, request, &response);
    if (table != nullptr) *table = response.table();
    return status;
  }
  void CreateTable(const std::string& table) {
    ASSERT_THAT(Create(TableRequest(table)), testing::IsOk());
  }
  absl::Status Allocate(int64_t txn, const std::string& table, int64_t* write_id = nullptr) {
    v1::AllocateWriteIdsRequest request;
    request.mutable_table()->set_database("sales");
    request.mutable_table()->set_table(table);
    request.add_txn_ids(txn);
    v1::AllocateWriteIdsResponse response;
    const absl::Status status = Call(&Tables::AllocateWriteIds, *tables_, request, &response);
    if (status.ok() && write_id != nullptr) *write_id = response.allocations(0).write_id();
    return status;
  }
  // A transaction that writes to an unpartitioned table and commits. Its id.
  int64_t Write(const std::string& table, v1::WriteOperation operation) {
    const int64_t txn = OpenTxn();
    EXPECT_THAT(Allocate(txn, table), testing::IsOk());
    v1::CommitTransactionRequest request;
    request.set_txn_id(txn);
    auto* writes = request.add_write_set();
    writes->mutable_table()->set_database("sales");
    writes->mutable_table()->set_table(table);
    writes->add_writes()->set_operation(operation);
    v1::CommitTransactionResponse response;
    EXPECT_THAT(Call(&Txns::CommitTransaction, *txns_, request, &response), testing::IsOk());
    return txn;
  }
  v1::AcquireLocksRequest LockRequest(int64_t txn, const std::string& table, v1::LockKind kind) {
    v1::AcquireLocksRequest request;
    request.set_txn_id(txn);
    auto* component = request.add_components();
    component->mutable_resource()->set_database("sales");
    component->mutable_resource()->set_table(table);
    component->set_kind(kind);
    return request;
  }

  using Txns = v1::TransactionService::StubInterface;
  using Tables = v1::TableService::StubInterface;
  using Locks = v1::LockService::StubInterface;
  using Compactions = v1::CompactionService::StubInterface;
  using Admin = v1::AdminService::StubInterface;

  testing::TempDir dir_;
  SystemClock clock_;
  fs::PosixFileSystem fs_;
  testing::MemoryStore store_;
  FakeDirectories directories_;
  ServerFacts facts_;
  loop::LoopServer::Options options_;
  absl::Notification fatal_;
  std::unique_ptr<ThreadExecutor> pool_;
  std::unique_ptr<Dependencies> dependencies_;
  std::unique_ptr<HealthService> health_;
  std::unique_ptr<ReflectionService> reflection_;
  loop::Sessions::Options session_options_;
  EventService::Options event_options_;
  std::unique_ptr<SessionService> sessions_service_;
  std::unique_ptr<EventService> event_service_;
  std::unique_ptr<LockWatch> lock_watch_;
  std::unique_ptr<loop::LoopServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Txns> txns_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<Locks> locks_;
  std::unique_ptr<Compactions> compactions_;
  std::unique_ptr<Admin> admin_;
  std::unique_ptr<v1::SessionService::StubInterface> sessions_;
  std::unique_ptr<v1::EventService::StubInterface> events_;
  grpc::Status last_;
};

}  // namespace skep::rpc

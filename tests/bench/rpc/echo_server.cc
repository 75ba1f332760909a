#include "tests/bench/rpc/echo_server.h"

#include <pthread.h>
#include <signal.h>

#include <cstdio>

#include "server/loop/loop_server.h"
#include "storage/base/text.h"
#include "tests/bench/rpc/methods.h"

#include "proto/skep/v1/table_service.pb.h"
#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::bench {
namespace {

// Nothing is ever stored.
class NoStore final : public meta::MetaStore {
 public:
  absl::StatusOr<StoredState> Load() override { return StoredState{}; }
  absl::Status Append(const Effects&) override { return absl::OkStatus(); }
  bool HasRoom() override { return true; }
  Lag TablesLag() const override { return {}; }
  void Idle() override {}
};

template <class Response>
loop::Method Echo(std::string path, Response response) {
  loop::Method method;
  method.path = std::move(path);
  method.registered = 64;
  method.run = [response = std::move(response)](loop::CallContext& context) {
    context.call.Reply(response);
    return loop::Verdict{};
  };
  return method;
}

std::vector<loop::Service> EchoServices(int64_t open_count) {
  v1::OpenTransactionsResponse open;
  open.set_first_txn_id(123'456);
  open.set_count(1);
  open.set_snapshot_seq(54'321);
  open.mutable_txn_timeout()->set_seconds(300);
  v1::CommitTransactionResponse commit;
  commit.set_commit_seq(54'321);
  v1::GetValidWriteIdsResponse valid;
  auto* list = valid.add_lists();
  list->mutable_table()->set_database("bench");
  list->mutable_table()->set_table("orders");
  list->set_table_id(1);
  list->set_snapshot_seq(54'321);
  list->set_high_watermark(123'456);
  v1::AllocateWriteIdsResponse allocated;
  allocated.set_table_id(1);
  auto* allocation = allocated.add_allocations();
  allocation->set_txn_id(123'456);
  allocation->set_write_id(123'456);
  v1::GetTransactionResponse transaction;
  transaction.mutable_transaction()->set_txn_id(123'456);
  transaction.mutable_transaction()->set_user("bench");
  transaction.mutable_transaction()->set_host("host.example");
  transaction.mutable_transaction()->set_agent("core_bench");
  v1::GetSnapshotResponse snapshot;
  snapshot.set_snapshot_seq(54'321);
  snapshot.mutable_txns()->set_high_watermark(1'000'000 + open_count);
  for (int64_t i = 0; i < open_count; ++i) snapshot.mutable_txns()->add_open(1'000'000 + i);
  std::vector<loop::Service> services(2);
  services[0].name = "skep.v1.TransactionService";
  services[0].methods.push_back(Echo(kOpen, open));
  services[0].methods.push_back(Echo(kCommit, commit));
  services[0].methods.push_back(Echo(kHeartbeat, v1::HeartbeatTransactionsResponse()));
  services[0].methods.push_back(Echo(kGetTransaction, transaction));
  services[0].methods.push_back(Echo(kGetSnapshot, snapshot));
  services[1].name = "skep.v1.TableService";
  services[1].methods.push_back(Echo(kGetValidWriteIds, valid));
  services[1].methods.push_back(Echo(kAllocate, allocated));
  return services;
}

}  // namespace

int ServeEcho(const std::vector<std::string>& endpoints, int64_t open) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  NoStore store;
  SystemClock clock;
  loop::LoopServer::Options options;
  options.transport.listen = endpoints;
  options.transport.limits = {1'000'000, 1'000'000};
  auto server = loop::LoopServer::Open(options, store, clock);
  absl::Status status = server.status();
  if (status.ok()) status = (*server)->Start(EchoServices(open), {});
  if (!status.ok()) {
    std::fputs((MessageOf(status) + "\n").c_str(), stderr);
    return 1;
  }
  int signal = 0;
  sigwait(&set, &signal);
  (*server)->Stop(std::chrono::system_clock::now());
  return 0;
}

}  // namespace skep::bench

#include "tests/bench/rpc/workloads.h"

#include <algorithm>

#include "tests/bench/rpc/measure.h"
#include "tests/bench/rpc/methods.h"

#include "proto/skep/v1/table_service.grpc.pb.h"
#include "proto/skep/v1/transaction_service.grpc.pb.h"

namespace skep::bench {
namespace {

constexpr int kPerCall = 1000;

std::string PartitionOf(int64_t i) { return "p=" + std::to_string(i); }

void SetName(const char* table, v1::TableName* name) {
  name->set_database("bench");
  name->set_table(table);
}

int64_t OpenOne(v1::TransactionService::Stub& txns) {
  grpc::ClientContext context;
  v1::OpenTransactionsRequest request;
  request.set_user("bench");
  v1::OpenTransactionsResponse response;
  Must(txns.OpenTransactions(&context, request, &response), "open");
  return response.first_txn_id();
}

void CommitOne(v1::TransactionService::Stub& txns, const v1::CommitTransactionRequest& request) {
  grpc::ClientContext context;
  v1::CommitTransactionResponse response;
  Must(txns.CommitTransaction(&context, request, &response), "commit");
}

void Create(v1::TableService::Stub& tables, const char* name, bool partitioned) {
  grpc::ClientContext context;
  v1::CreateTableRequest request;
  SetName(name, request.mutable_name());
  auto* column = request.add_columns();
  column->set_name("id");
  column->set_type("bigint");
  if (partitioned) {
    auto* partition = request.add_partition_columns();
    partition->set_name("p");
    partition->set_type("int");
  }
  v1::CreateTableResponse response;
  Must(tables.CreateTable(&context, request, &response), "create");
}

}  // namespace

Workloads::Workloads(const std::string& endpoint, int64_t calls)
    : channel_(grpc::CreateChannel(endpoint, grpc::InsecureChannelCredentials())), calls_(calls) {}

void Workloads::Prepare() {
  auto tables = v1::TableService::NewStub(channel_);
  auto txns = v1::TransactionService::NewStub(channel_);
  Create(*tables, "orders", true);
  Create(*tables, "quiet", false);
  // One commit that writes every partition, so that later commits find them there.
  for (int64_t begin = 0; begin < calls_; begin += kPerCall) {
    v1::CommitTransactionRequest commit;
    commit.set_txn_id(OpenOne(*txns));
    grpc::ClientContext context;
    v1::AllocateWriteIdsRequest allocate;
    SetName("orders", allocate.mutable_table());
    allocate.add_txn_ids(commit.txn_id());
    v1::AllocateWriteIdsResponse allocated;
    Must(tables->AllocateWriteIds(&context, allocate, &allocated), "allocate");
    auto* writes = commit.add_write_set();
    SetName("orders", writes->mutable_table());
    for (int64_t i = begin; i < std::min(begin + kPerCall, calls_); ++i) {
      auto* write = writes->add_writes();
      write->set_partition(PartitionOf(i));
      write->set_operation(v1::WRITE_OPERATION_INSERT);
    }
    CommitOne(*txns, commit);
  }
  reader_ = OpenOne(*txns);
}

Workload Workloads::Open() {
  opened_.assign(calls_, 0);
  v1::OpenTransactionsRequest request;
  request.set_count(1);
  request.set_user("bench");
  request.set_host("host.example");
  request.set_agent("skep_bench");
  return {[bytes = request.SerializeAsString()](int64_t) {
            return Request{kOpen, bytes};
          },
          [this](int64_t i, const std::string& answer) {
            v1::OpenTransactionsResponse response;
            if (response.ParseFromString(answer)) opened_[i] = response.first_txn_id();
          }};
}

void Workloads::AllocateForAll() {
  auto tables = v1::TableService::NewStub(channel_);
  for (size_t begin = 0; begin < opened_.size(); begin += kPerCall) {
    grpc::ClientContext context;
    v1::AllocateWriteIdsRequest request;
    SetName("orders", request.mutable_table());
    for (size_t i = begin; i < std::min(begin + kPerCall, opened_.size()); ++i)
      request.add_txn_ids(opened_[i]);
    v1::AllocateWriteIdsResponse response;
    Must(tables->AllocateWriteIds(&context, request, &response), "allocate");
  }
}

Workload Workloads::Commit() {
  return {[this](int64_t i) {
            v1::CommitTransactionRequest request;
            request.set_txn_id(opened_[i]);
            auto* writes = request.add_write_set();
            SetName("orders", writes->mutable_table());
            auto* write = writes->add_writes();
            write->set_partition(PartitionOf(i));
            write->set_operation(v1::WRITE_OPERATION_UPDATE);
            return Request{kCommit, request.SerializeAsString()};
          },
          {}};
}

Workload Workloads::ValidWriteIds() {
  v1::GetValidWriteIdsRequest request;
  request.set_txn_id(reader_);
  SetName("quiet", request.add_tables());
  return {[bytes = request.SerializeAsString()](int64_t) {
            return Request{kGetValidWriteIds, bytes};
          },
          {}};
}

}  // namespace skep::bench

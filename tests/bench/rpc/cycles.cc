#include "tests/bench/rpc/cycles.h"

#include "tests/bench/rpc/methods.h"

#include "proto/skep/v1/table_service.pb.h"
#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::bench {

Workload Cycles::Calls() {
  return {[this](int64_t i) { return Next(i); },
          [this](int64_t i, const std::string& answer) { Took(i, answer); }};
}

Request Cycles::Next(int64_t i) {
  if (i == 0) {
    sent_.clear();
    first_ = 0;
  }
  Step step;
  if (!ready_.empty()) {
    step = ready_.front();
    ready_.pop_front();
  }
  sent_.push_back(step);
  switch (step.kind) {
    case Step::Kind::kAllocate: {
      v1::AllocateWriteIdsRequest request;
      request.mutable_table()->set_database("bench");
      request.mutable_table()->set_table("quiet");
      request.add_txn_ids(step.txn);
      return {kAllocate, request.SerializeAsString()};
    }
    case Step::Kind::kCommit: {
      v1::CommitTransactionRequest request;
      request.set_txn_id(step.txn);
      if (allocate_) {
        auto* writes = request.add_write_set();
        writes->mutable_table()->set_database("bench");
        writes->mutable_table()->set_table("quiet");
        writes->add_writes()->set_operation(v1::WRITE_OPERATION_INSERT);
      }
      return {kCommit, request.SerializeAsString()};
    }
    case Step::Kind::kOpen:
      break;
  }
  v1::OpenTransactionsRequest request;
  request.set_count(1);
  request.set_user("bench");
  request.set_host("host.example");
  request.set_agent("core_bench");
  return {kOpen, request.SerializeAsString()};
}

void Cycles::Took(int64_t i, const std::string& answer) {
  Step& step = sent_[static_cast<size_t>(i - first_)];
  if (step.kind == Step::Kind::kOpen) {
    v1::OpenTransactionsResponse response;
    if (response.ParseFromString(answer)) {
      ready_.push_back(
          {allocate_ ? Step::Kind::kAllocate : Step::Kind::kCommit, response.first_txn_id()});
    }
  } else if (step.kind == Step::Kind::kAllocate) {
    ready_.push_back({Step::Kind::kCommit, step.txn});
  }
  step.txn = -1;
  while (!sent_.empty() && sent_.front().txn < 0) {
    sent_.pop_front();
    ++first_;
  }
}

}  // namespace skep::bench

#pragma once

// A transaction in memory over one table on a temporary directory: the files are real, the server
// is not. Each statement commits when it ends, unless the test opens it under a snapshot that does
// not see it.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "client/session/transaction_core.h"
#include "storage/model/errors.h"

namespace skep::testing {

// Confined to one thread.
class FakeTransaction final : public client::TransactionCore {
 public:
  explicit FakeTransaction(client::TableInfo table) : table(std::move(table)) {
    write_ids.ids.high = 0;
    txns.ids.high = 1000;
  }

  // What the server would know; tests set it.
  client::TableInfo table;
  WriteIdSnapshot write_ids;
  TxnSnapshot txns;
  std::vector<std::string> partitions;
  int64_t write_id = 1;
  int leases_left = 1'000'000;  // CheckLease is OK so many times

  // What was done.
  std::vector<std::string> calls;
  int statements = 0;

  TxnId id() const override { return TxnId(7); }
  absl::Status CheckLease() const override {
    FakeTransaction* self = const_cast<FakeTransaction*>(this);
    if (self->leases_left-- > 0) return absl::OkStatus();
    return MakeError(ErrorReason::kTxnAborted, "the lease ran out", {{"cause", "timeout"}});
  }
  absl::StatusOr<client::TableInfo> GetTable(const TableName& name) override {
    if (name == table.name) return table;
    return MakeError(ErrorReason::kNoSuchTable, name.ToString());
  }
  absl::StatusOr<std::vector<std::string>> ListPartitions(const TableName&) override {
    calls.push_back("list partitions");
    return partitions;
  }
  absl::StatusOr<WriteIdSnapshot> GetValidWriteIds(const TableName&) override {
    calls.push_back("pin");
    return write_ids;
  }
  absl::StatusOr<TxnSnapshot> GetTxnSnapshot() override { return txns; }
  absl::StatusOr<client::WriteStatement> BeginWrite(const TableName& name, WriteOp op) override {
    if (!(name == table.name)) return MakeError(ErrorReason::kNoSuchTable, name.ToString());
    calls.push_back("begin " + std::string(WriteOpName(op)));
    return client::WriteStatement{
        .table = table, .write_id = WriteId(write_id), .statement_id = statements++, .op = op};
  }
  absl::Status DeclarePartitions(const client::WriteStatement&,
                                 const std::vector<std::string>& names) override {
    for (const std::string& name : names) {
      calls.push_back("declare " + name);
      if (std::find(partitions.begin(), partitions.end(), name) == partitions.end()) {
        partitions.push_back(name);
      }
    }
    std::sort(partitions.begin(), partitions.end());
    return absl::OkStatus();
  }
  absl::Status EndWrite(const client::WriteStatement&, Wrote wrote) override {
    calls.push_back(wrote == Wrote::kRows ? "end rows" : "end nothing");
    return absl::OkStatus();
  }
  void FailWrite(const client::WriteStatement&, const absl::Status& why) override {
    calls.push_back("fail " + std::string(ReasonName(ReasonOf(why))));
  }

  // The next transaction: sees what was written so far, writes under the next write id.
  void Next() {
    write_ids.ids.high = write_id++;
    statements = 0;
  }
};

}  // namespace skep::testing

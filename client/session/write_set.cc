#include "client/session/write_set.h"

#include <utility>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::client {
namespace {

constexpr int32_t kMaxStatementId = 4095;  // twelve bits of the bucket property

std::string NameOf(const WriteStatement& statement) {
  return "statement " + std::to_string(statement.statement_id) + " on " +
         statement.table.name.ToString();
}

}  // namespace

absl::StatusOr<int32_t> WriteSet::Begin(const TableName& table) {
  Table& entry = tables_[table];
  if (entry.next_statement > kMaxStatementId) {
    return MakeError(ErrorReason::kValueOutOfRange,
                     "a transaction can write " + std::to_string(kMaxStatementId + 1) +
                         " times to " + table.ToString() + "; commit and begin another",
                     {{"table", table.ToString()}});
  }
  const int32_t id = entry.next_statement++;
  entry.open[id] = {};
  return id;
}

std::vector<std::string> WriteSet::Undeclared(const WriteStatement& statement,
                                              const std::vector<std::string>& partitions) const {
  std::vector<std::string> missing;
  auto table = tables_.find(statement.table.name);
  if (table == tables_.end()) return partitions;
  auto open = table->second.open.find(statement.statement_id);
  for (const std::string& partition : partitions) {
    if (open == table->second.open.end() || !open->second.partitions.contains(partition)) {
      missing.push_back(partition);
    }
  }
  return missing;
}

void WriteSet::Declare(const WriteStatement& statement,
                       const std::vector<std::string>& partitions) {
  Table& table = tables_[statement.table.name];
  table.open[statement.statement_id].partitions.insert(partitions.begin(), partitions.end());
}

absl::Status WriteSet::End(const WriteStatement& statement, TransactionCore::Wrote wrote) {
  Table& table = tables_[statement.table.name];
  auto open = table.open.find(statement.statement_id);
  if (open == table.open.end()) {
    return MakeError(ErrorReason::kOperationNotAllowed,
                     NameOf(statement) + " is not open",
                     {{"table", statement.table.name.ToString()}, {"operation", "EndWrite"}});
  }
  if (statement.table.partitioned()) {
    for (const std::string& partition : open->second.partitions) {
      table.writes.emplace(partition, statement.op);
    }
  } else if (wrote == TransactionCore::Wrote::kRows || statement.op == WriteOp::kOverwrite) {
    table.writes.emplace("", statement.op);
  }
  table.open.erase(open);
  return absl::OkStatus();
}

void WriteSet::Fail(const WriteStatement& statement, const absl::Status& why) {
  tables_[statement.table.name].open.erase(statement.statement_id);
  if (failure_.empty()) failure_ = NameOf(statement) + " failed: " + MessageOf(why);
}

absl::Status WriteSet::CheckComplete() const {
  if (!failure_.empty()) {
    return MakeError(ErrorReason::kOperationNotAllowed,
                     failure_ + ". The transaction can only be aborted",
                     {{"operation", "commit"}});
  }
  for (const auto& [name, table] : tables_) {
    if (table.open.empty()) continue;
    return MakeError(
        ErrorReason::kOperationNotAllowed,
        "a writer of " + name.ToString() + " is still open; close it before the commit",
        {{"table", name.ToString()}, {"operation", "commit"}});
  }
  return absl::OkStatus();
}

std::vector<WriteSet::TableWrites> WriteSet::Tables() const {
  std::vector<TableWrites> result;
  for (const auto& [name, table] : tables_) result.push_back({name, table.writes});
  return result;
}

}  // namespace skep::client

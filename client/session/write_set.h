#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "client/session/transaction_core.h"
#include "storage/model/names.h"
#include "storage/model/txn.h"

namespace skep::client {

// What one transaction wrote, statement by statement, until its commit declares all of it.
// Pure values; thread-compatible.
class WriteSet {
 public:
  struct TableWrites {
    TableName table;
    std::set<std::pair<std::string, WriteOp>>
        writes;  // partition ("" = the table) and what was done to it
  };

  // The next statement id of the table, from 0. Errors: VALUE_OUT_OF_RANGE above 4095, the most
  // that a row id can name.
  absl::StatusOr<int32_t> Begin(const TableName& table);
  // Those of `partitions` that the statement has not declared before.
  std::vector<std::string> Undeclared(const WriteStatement& statement,
                                      const std::vector<std::string>& partitions) const;
  void Declare(const WriteStatement& statement, const std::vector<std::string>& partitions);
  // Errors: OPERATION_NOT_ALLOWED for a statement that is not open.
  absl::Status End(const WriteStatement& statement, TransactionCore::Wrote wrote);
  void Fail(const WriteStatement& statement, const absl::Status& why);

  // OK if the set is complete: no statement open, none failed. Errors: OPERATION_NOT_ALLOWED naming
  // it.
  absl::Status CheckComplete() const;
  // Ascending by table; tables whose statements wrote nothing have no writes.
  std::vector<TableWrites> Tables() const;

 private:
  struct Statement {
    std::set<std::string> partitions;
  };
  struct Table {
    int32_t next_statement = 0;
    std::map<int32_t, Statement> open;
    std::set<std::pair<std::string, WriteOp>> writes;
  };
  std::map<TableName, Table> tables_;
  std::string failure_;  // of the first failed statement
};

}  // namespace skep::client

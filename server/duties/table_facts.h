#pragma once

#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/state/state.h"
#include "storage/acid/selection.h"

namespace skep::duties {

// What has to be known of a table to judge its directories: copied out of the state in one command.
// Value type.
struct TableFacts {
  TableRow table;
  std::vector<std::string>
      partitions;             // by name; one empty name for a table without partition columns
  WriteIdSnapshot write_ids;  // newest published, the reader's form
  TxnSnapshot txns;           // of the same sequence
};

// `partition`: that one alone, or all where it is empty. Errors: kNoSuchTable; kInvalidRequest for
// a partition that the table does not have.
absl::StatusOr<TableFacts> ReadTableFacts(const state::State& state,
                                          const TableName& name,
                                          const std::string& partition);

// How `_vN` directories of the table are judged under `txns`.
acid::Visibility VisibilityOf(const TableRow& table, const TxnSnapshot& txns);

// Where a partition lies; the empty name is the table itself.
std::string DirectoryOf(const TableRow& table, const std::string& partition);

// "sales.orders/order_date=2026-10-01", for messages and logs.
std::string ObjectName(const TableName& name, const std::string& partition);

}  // namespace skep::duties

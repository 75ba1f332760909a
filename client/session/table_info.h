#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/model/ids.h"
#include "storage/model/names.h"
#include "storage/model/table.h"

namespace skep::client {

// A table as the registry knows it. Value type.
struct TableInfo {
  TableId id;
  TableName name;
  TableKind kind = TableKind::kFullAcid;
  FileFormat format = FileFormat::kOrc;
  std::string location;  // absolute path
  TableSchema schema;
  Properties properties;
  // A `_vN` with N ≤ this is judged by adopted_aborted_txns, not by the transaction snapshot
  //
  TxnId adopted_txn_bound;
  std::vector<int64_t> adopted_aborted_txns;  // ascending

  bool partitioned() const { return !schema.partition_columns.empty(); }
};

}  // namespace skep::client

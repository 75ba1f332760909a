#pragma once

// A scan over the partitions of a table within a transaction: what TableReader and `skepctl read`
// share.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "client/session/transaction_core.h"
#include "skep/rows.h"
#include "storage/format/predicate.h"
#include "storage/fs/file_system.h"
#include "storage/table/scan.h"

namespace skep::client {

struct SnapshotScanOptions {
  std::string partition;             // canonical name; empty: all
  std::vector<std::string> columns;  // empty: all, partition columns last
  std::vector<Condition> where;
  int64_t batch_rows = 16'384;
};

struct SnapshotBatch {
  std::unique_ptr<table::ScanBatch> batch;
  std::string partition;
};

// Thread-compatible. Rows come partition by partition in byte order of the names. The transaction's
// lease is checked after each listing and each open.
class SnapshotScan {
 public:
  // `fs` must outlive the scan. Errors: those of TableReader::Open.
  static absl::StatusOr<std::unique_ptr<SnapshotScan>> Open(std::shared_ptr<TransactionCore> core,
                                                            fs::FileSystem& fs,
                                                            const TableName& table,
                                                            const SnapshotScanOptions& options);

  const std::vector<Column>& columns() const { return columns_; }
  // nullopt at the end.
  absl::StatusOr<std::optional<SnapshotBatch>> Next();

 private:
  SnapshotScan(std::shared_ptr<TransactionCore> core, fs::FileSystem& fs)
      : core_(std::move(core)), fs_(fs) {}
  absl::Status Prepare(const TableName& name, const SnapshotScanOptions& options);
  absl::Status ChoosePartitions(const SnapshotScanOptions& options);
  absl::Status StartPartition();

  const std::shared_ptr<TransactionCore> core_;  // shared with the Transaction handle
  fs::FileSystem& fs_;
  TableInfo table_;
  WriteIdSnapshot write_ids_;
  acid::Visibility visibility_;
  table::ScanOptions scan_options_;
  std::vector<Condition> where_;
  std::vector<Column> columns_;
  std::vector<std::string> partitions_;
  size_t next_partition_ = 0;
  std::unique_ptr<table::Scan> scan_;
};

}  // namespace skep::client

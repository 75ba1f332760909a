#include "client/table/snapshot_scan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "client/table/conditions.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/table/source_errors.h"

namespace skep::client {
namespace {

absl::Status CheckReadable(const TableInfo& table) {
  const auto refuse = [&](std::string_view why) {
    return MakeError(ErrorReason::kNotSupported,
                     fmt::format("{}: {}", table.name.ToString(), why),
                     {{"table", table.name.ToString()}, {"what", std::string(why)}});
  };
  if (table.kind == TableKind::kExternal) return refuse("external tables are not read by Skep");
  if (table.kind == TableKind::kInsertOnly || table.format != FileFormat::kOrc) {
    return refuse(fmt::format("reading insert-only tables ({}) comes with a later release",
                              FileFormatName(table.format)));
  }
  return absl::OkStatus();
}

absl::Status UnknownColumn(const TableInfo& table, const std::string& name) {
  return MakeError(ErrorReason::kInvalidRequest,
                   fmt::format("{} has no column `{}`", table.name.ToString(), Printable(name)),
                   {{"field", "columns"}, {"column", name}, {"table", table.name.ToString()}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<SnapshotScan>> SnapshotScan::Open(
    std::shared_ptr<TransactionCore> core,
    fs::FileSystem& fs,
    const TableName& table,
    const SnapshotScanOptions& options) {
  std::unique_ptr<SnapshotScan> scan(new SnapshotScan(std::move(core), fs));
  SKEP_RETURN_IF_ERROR(scan->Prepare(table, options));
  return scan;
}

absl::Status SnapshotScan::Prepare(const TableName& name, const SnapshotScanOptions& options) {
  SKEP_ASSIGN_OR_RETURN(table_, core_->GetTable(name));
  SKEP_RETURN_IF_ERROR(CheckReadable(table_));
  // The first list of a table pins it: before anything of it is listed.
  SKEP_ASSIGN_OR_RETURN(write_ids_, core_->GetValidWriteIds(name));
  SKEP_ASSIGN_OR_RETURN(visibility_.txns, core_->GetTxnSnapshot());
  visibility_.adopted_bound = table_.adopted_txn_bound;
  visibility_.adopted_aborted = table_.adopted_aborted_txns;

  std::vector<Column> known = table_.schema.columns;
  const std::vector<Column>& keys = table_.schema.partition_columns;
  known.insert(known.end(), keys.begin(), keys.end());
  for (const std::string& wanted : options.columns) {
    const std::string lower = AsciiLower(wanted);
    const auto column =
        std::find_if(known.begin(), known.end(), [&](const Column& c) { return c.name == lower; });
    if (column == known.end()) return UnknownColumn(table_, wanted);
    columns_.push_back(*column);
  }
  if (options.columns.empty()) columns_ = known;

  scan_options_.table_columns = table_.schema.columns;
  scan_options_.columns.emplace();
  for (const Column& column : columns_) scan_options_.columns->push_back(column.name);
  SKEP_ASSIGN_OR_RETURN(scan_options_.predicate, PredicateOf(options.where));
  if (scan_options_.predicate) {
    SKEP_RETURN_IF_ERROR(format::BoundPredicate::Bind(*scan_options_.predicate, known).status());
  }
  scan_options_.batch_rows = options.batch_rows;
  scan_options_.check_alive = [core = core_] { return core->CheckLease(); };
  where_ = options.where;
  return ChoosePartitions(options);
}

absl::Status SnapshotScan::ChoosePartitions(const SnapshotScanOptions& options) {
  if (!table_.partitioned()) {
    partitions_ = {""};
  } else {
    SKEP_ASSIGN_OR_RETURN(partitions_, core_->ListPartitions(table_.name));
  }
  if (options.partition.empty()) return absl::OkStatus();
  const bool known =
      table_.partitioned() &&
      std::find(partitions_.begin(), partitions_.end(), options.partition) != partitions_.end();
  if (!known) {
    return MakeError(ErrorReason::kInvalidRequest,
                     fmt::format("{} has no partition \"{}\" in this snapshot",
                                 table_.name.ToString(),
                                 Printable(options.partition)),
                     {{"field", "partition"}, {"table", table_.name.ToString()}});
  }
  partitions_ = {options.partition};
  return absl::OkStatus();
}

absl::Status SnapshotScan::StartPartition() {
  const std::string& name = partitions_[next_partition_];
  const std::string dir = name.empty() ? table_.location : fs::JoinPath(table_.location, name);
  SKEP_ASSIGN_OR_RETURN(scan_options_.partition,
                        table::PartitionValuesOf(name, table_.schema.partition_columns));
  SKEP_ASSIGN_OR_RETURN(const bool may_match, PartitionMayMatch(scan_options_.partition, where_));
  if (!may_match) return absl::OkStatus();
  auto scan = table::Scan::Open(fs_, dir, write_ids_, visibility_, scan_options_);
  SKEP_RETURN_IF_ERROR(table::MissingIfNotFound(scan.status(), dir));
  scan_ = *std::move(scan);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<SnapshotBatch>> SnapshotScan::Next() {
  while (true) {
    if (scan_ == nullptr) {
      if (next_partition_ == partitions_.size()) return std::nullopt;
      SKEP_RETURN_IF_ERROR(StartPartition());
      if (scan_ == nullptr) ++next_partition_;
      continue;
    }
    SKEP_ASSIGN_OR_RETURN(auto batch, scan_->Next());
    if (batch != nullptr) {
      return SnapshotBatch{std::move(batch), partitions_[next_partition_]};
    }
    scan_.reset();
    ++next_partition_;
  }
}

}  // namespace skep::client

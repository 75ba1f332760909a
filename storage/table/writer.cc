#include "storage/table/writer.h"

#include <algorithm>
#include <set>
#include <utility>

#include <arrow/api.h>
#include <fmt/format.h>

#include "storage/acid/names.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"
#include "storage/table/partition_values.h"
#include "storage/table/partition_writer.h"
#include "storage/table/row_filter.h"

namespace skep::table {
namespace {

constexpr size_t kMaxNameBytes = 255;

absl::Status Refuse(ErrorReason reason, const WriteTarget& target, std::string_view why) {
  return MakeError(
      reason,
      fmt::format("{}: {}", target.name.ToString(), why),
      {{"table", target.name.ToString()}, {"operation", "write"}, {"what", std::string(why)}});
}

absl::Status CheckTarget(const WriteTarget& target) {
  if (target.kind == TableKind::kExternal) {
    return Refuse(ErrorReason::kOperationNotAllowed, target, "external tables are never written");
  }
  if (target.kind == TableKind::kInsertOnly || target.format != FileFormat::kOrc) {
    return Refuse(ErrorReason::kNotSupported,
                  target,
                  fmt::format("writing insert-only tables ({}) comes with a later release; "
                              "full-ACID tables in ORC can be written",
                              FileFormatName(target.format)));
  }
  if (target.statement_id < 0 || target.statement_id >= acid::kMaxStatements) {
    return Refuse(
        ErrorReason::kOperationNotAllowed,
        target,
        fmt::format("a transaction writes a table with at most {} statements (N-7): commit "
                    "and go on in another",
                    acid::kMaxStatements));
  }
  if (target.write_id.value() <= 0) {
    return Refuse(ErrorReason::kInvalidRequest, target, "a write needs a write id above 0");
  }
  return absl::OkStatus();
}

absl::Status CheckRows(const arrow::RecordBatch& rows,
                       const std::vector<Column>& columns,
                       const WriteTarget& target) {
  if (target.schema.bucketing.bucketed()) {
    return Refuse(ErrorReason::kNotSupported,
                  target,
                  fmt::format("new rows of a table {} belong into the bucket of their hash, which "
                              "Skep does not compute: add them with Hive",
                              BucketingClause(target.schema.bucketing)));
  }
  const auto refuse = [&](const std::string& why) {
    return MakeError(ErrorReason::kInvalidRequest,
                     fmt::format("rows for {}: {}", target.name.ToString(), why),
                     {{"field", "rows"}, {"table", target.name.ToString()}});
  };
  if (rows.num_columns() != static_cast<int>(columns.size())) {
    return refuse(
        fmt::format("{} column(s) where {} are needed", rows.num_columns(), columns.size()));
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto& field = rows.schema()->field(static_cast<int>(i));
    if (field->name() != columns[i].name) {
      return refuse(fmt::format(
          "column {} is `{}`, not `{}`", i + 1, Printable(field->name()), columns[i].name));
    }
    if (!field->type()->Equals(*format::ArrowTypeOf(columns[i].type))) {
      return refuse(fmt::format("column `{}` is {}, not {}",
                                columns[i].name,
                                field->type()->ToString(),
                                columns[i].type.ToString()));
    }
  }
  return absl::OkStatus();
}

// Numbers of the rows that go to each partition, by its canonical name.
using Routes = std::map<std::string, std::vector<int64_t>>;

absl::Status CheckPartitionText(const Column& column, const std::string& text, int64_t row) {
  const bool fits = EscapePathComponent(text).size() + column.name.size() + 1 <= kMaxNameBytes;
  if (fits && IsValidUtf8(text)) return absl::OkStatus();
  return MakeError(ErrorReason::kInvalidRequest,
                   fmt::format("row {}: the value of partition column `{}` {}",
                               row,
                               column.name,
                               fits ? "is not UTF-8" : "is too long for a directory name"),
                   {{"field", "rows"}, {"column", column.name}, {"row", std::to_string(row)}});
}

absl::StatusOr<Routes> Route(const arrow::RecordBatch& rows, const TableSchema& schema) {
  Routes routes;
  const int first = static_cast<int>(schema.columns.size());
  for (int64_t row = 0; row < rows.num_rows(); ++row) {
    PartitionSpec spec;
    for (size_t i = 0; i < schema.partition_columns.size(); ++i) {
      const Column& column = schema.partition_columns[i];
      SKEP_ASSIGN_OR_RETURN(
          auto text, PartitionText(*rows.column(first + static_cast<int>(i)), row, column.type));
      if (text) SKEP_RETURN_IF_ERROR(CheckPartitionText(column, *text, row));
      spec.values.emplace_back(column.name, std::move(text));
    }
    routes[FormatPartition(spec)].push_back(row);
  }
  return routes;
}

// What the open files of one statement hold of their stripes, however many partitions it writes to.
constexpr uint64_t kMemory = 256 << 20;

orc::WriterOptions WithBudget(orc::WriterOptions options, orc::MemoryBudget* budget) {
  options.budget = budget;
  return options;
}

}  // namespace

StatementWriter::StatementWriter(fs::FileSystem& fs, WriteTarget target, orc::WriterOptions options)
    : fs_(fs),
      target_(std::move(target)),
      budget_(kMemory),
      options_(WithBudget(std::move(options), &budget_)) {}

StatementWriter::~StatementWriter() = default;

absl::StatusOr<std::unique_ptr<StatementWriter>> StatementWriter::Open(fs::FileSystem& fs,
                                                                       WriteTarget target) {
  SKEP_RETURN_IF_ERROR(CheckTarget(target));
  const absl::StatusOr<orc::WriterOptions> options = orc::WriterOptionsOf(target.properties);
  if (!options.ok()) return Annotate(options.status(), target.name.ToString());
  return std::unique_ptr<StatementWriter>(new StatementWriter(fs, std::move(target), *options));
}

absl::Status StatementWriter::Touch(const std::vector<std::string>& partitions) {
  std::vector<std::string> fresh;
  for (const std::string& partition : partitions) {
    if (!writers_.contains(partition)) fresh.push_back(partition);
  }
  if (fresh.empty()) return absl::OkStatus();
  if (target_.declare_partitions && !target_.schema.partition_columns.empty()) {
    SKEP_RETURN_IF_ERROR(target_.declare_partitions(fresh));
  }
  for (const std::string& partition : fresh) {
    const std::string directory =
        partition.empty() ? target_.location : fs::JoinPath(target_.location, partition);
    writers_[partition] = std::make_unique<PartitionWriter>(
        fs_,
        PartitionWriter::Spec{.directory = directory,
                              .columns = target_.schema.columns,
                              .orc = options_,
                              .write_id = target_.write_id,
                              .statement_id = target_.statement_id});
  }
  return absl::OkStatus();
}

absl::Status StatementWriter::CheckGivenPartition(const std::string& partition) const {
  if (target_.schema.partition_columns.empty() && partition.empty()) return absl::OkStatus();
  absl::StatusOr<std::vector<PartitionValue>> values =
      PartitionValuesOf(partition, target_.schema.partition_columns);
  absl::Status status = values.status();
  for (size_t i = 0; status.ok() && i < values->size(); ++i) {
    status = RepeatPartitionValue((*values)[i], 1).status();
  }
  if (status.ok()) {
    SKEP_ASSIGN_OR_RETURN(const PartitionSpec spec, ParsePartition(partition));
    if (FormatPartition(spec) == partition) return absl::OkStatus();
  }
  return MakeError(ErrorReason::kInvalidRequest,
                   fmt::format("\"{}\" is not a partition of {}{}{}",
                               Printable(partition),
                               target_.name.ToString(),
                               status.ok() ? "" : ": ",
                               MessageOf(status)),
                   {{"field", "partition"}, {"table", target_.name.ToString()}});
}

absl::Status StatementWriter::Insert(const std::shared_ptr<arrow::RecordBatch>& rows) {
  std::vector<Column> columns = target_.schema.columns;
  const std::vector<Column>& keys = target_.schema.partition_columns;
  columns.insert(columns.end(), keys.begin(), keys.end());
  SKEP_RETURN_IF_ERROR(CheckRows(*rows, columns, target_));
  if (rows->num_rows() == 0) return absl::OkStatus();
  SKEP_ASSIGN_OR_RETURN(const Routes routes, Route(*rows, target_.schema));
  std::vector<std::string> partitions;
  for (const auto& [partition, indices] : routes) partitions.push_back(partition);
  SKEP_RETURN_IF_ERROR(Touch(partitions));

  const int width = static_cast<int>(target_.schema.columns.size());
  std::vector<std::shared_ptr<arrow::Field>> fields(rows->schema()->fields().begin(),
                                                    rows->schema()->fields().begin() + width);
  std::vector<std::shared_ptr<arrow::Array>> arrays(rows->columns().begin(),
                                                    rows->columns().begin() + width);
  const auto stored = arrow::RecordBatch::Make(
      arrow::schema(std::move(fields)), rows->num_rows(), std::move(arrays));
  for (const auto& [partition, indices] : routes) {
    SKEP_ASSIGN_OR_RETURN(const auto part, TakeRows(stored, indices));
    SKEP_RETURN_IF_ERROR(writers_[partition]->Insert(part));
  }
  return absl::OkStatus();
}

absl::Status StatementWriter::InsertInto(const std::string& partition,
                                         const std::shared_ptr<arrow::RecordBatch>& rows) {
  SKEP_RETURN_IF_ERROR(CheckGivenPartition(partition));
  SKEP_RETURN_IF_ERROR(CheckRows(*rows, target_.schema.columns, target_));
  if (rows->num_rows() == 0) return absl::OkStatus();
  SKEP_RETURN_IF_ERROR(Touch({partition}));
  return writers_[partition]->Insert(rows);
}

absl::Status StatementWriter::Delete(const std::string& partition, const RowIds& victims) {
  SKEP_RETURN_IF_ERROR(CheckGivenPartition(partition));
  if (victims.bucket.size() != victims.size() || victims.row_id.size() != victims.size()) {
    return MakeError(ErrorReason::kInvalidRequest,
                     "row ids come as three lists of one length",
                     {{"field", "row_id"}});
  }
  if (victims.size() == 0) return absl::OkStatus();
  SKEP_RETURN_IF_ERROR(Touch({partition}));
  return writers_[partition]->Delete(victims);
}

absl::Status StatementWriter::Update(const std::string& partition,
                                     const RowIds& victims,
                                     const std::shared_ptr<arrow::RecordBatch>& rows) {
  if (rows->num_rows() != static_cast<int64_t>(victims.size())) {
    return MakeError(
        ErrorReason::kInvalidRequest,
        fmt::format(
            "an update of {} row(s) was given {} new row(s)", victims.size(), rows->num_rows()),
        {{"field", "rows"}});
  }
  SKEP_RETURN_IF_ERROR(Delete(partition, victims));
  return InsertInto(partition, rows);
}

absl::Status StatementWriter::SyncParents() const {
  // Deepest first: a directory's name is in its parent.
  std::set<std::pair<size_t, std::string>, std::greater<>> directories;
  for (const auto& [partition, writer] : writers_) {
    std::string path =
        partition.empty() ? target_.location : fs::JoinPath(target_.location, partition);
    for (; path.size() > target_.location.size(); path = fs::ParentPath(path)) {
      directories.emplace(path.size(), path);
    }
    directories.emplace(target_.location.size(), target_.location);
  }
  for (const auto& [length, path] : directories) SKEP_RETURN_IF_ERROR(fs_.SyncDirectory(path));
  return absl::OkStatus();
}

absl::StatusOr<WriteSummary> StatementWriter::Close() {
  WriteSummary summary;
  for (const auto& [partition, writer] : writers_) {
    SKEP_RETURN_IF_ERROR(writer->Close(&summary));
    summary.partitions.push_back(partition);
  }
  SKEP_RETURN_IF_ERROR(SyncParents());
  for (const auto& [partition, writer] : writers_) writer->Keep();
  writers_.clear();
  return summary;
}

}  // namespace skep::table

#include "client/table/dump.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <arrow/api.h>
#include <fmt/format.h>

#include "client/ddl/create_table.h"
#include "client/table/row_json.h"
#include "storage/base/counted.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/model/snapshot.h"
#include "storage/table/sources.h"

namespace skep::client {
namespace {

constexpr size_t kMaxPartitionLevels = 32;

absl::Status CheckDdl(const ddl::CreateTable& ddl) {
  if (ddl.external || !ddl.transactional()) {
    return MakeError(ErrorReason::kTableNotTransactional,
                     fmt::format("{} is {}: dump reads ACID tables",
                                 ddl.table,
                                 ddl.external ? "external" : "not transactional"),
                     {{"table", ddl.table}});
  }
  if (ddl.kind() != TableKind::kFullAcid || ddl.format != FileFormat::kOrc) {
    return MakeError(
        ErrorReason::kNotSupported,
        fmt::format("{} is an insert-only table ({}): reading those comes with a later "
                    "release",
                    ddl.table,
                    FileFormatName(ddl.format)),
        {{"table", ddl.table}, {"what", "insert-only table"}});
  }
  return absl::OkStatus();
}

// How many levels of column=value directories lie above the data.
absl::StatusOr<size_t> CountPartitionLevels(fs::FileSystem& fs, std::string dir) {
  for (size_t level = 0; level < kMaxPartitionLevels; ++level) {
    SKEP_ASSIGN_OR_RETURN(const std::vector<fs::DirEntry> entries, fs.List(dir));
    const auto partition =
        std::find_if(entries.begin(), entries.end(), [](const fs::DirEntry& entry) {
          return entry.kind == fs::EntryKind::kDirectory && !acid::IsHiddenName(entry.name) &&
                 entry.name.find('=') != std::string::npos;
        });
    if (partition == entries.end()) return level;
    dir = fs::JoinPath(dir, partition->name);
  }
  return kMaxPartitionLevels;
}

// "k=v/k2=v2" if the last components of the path name a partition by these columns; else "".
std::string PartitionInPath(std::string path, const std::vector<Column>& columns) {
  std::string name;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string component = fs::BaseName(path);
    name = name.empty() ? component : component + "/" + name;
    path = fs::ParentPath(path);
  }
  return table::PartitionValuesOf(name, columns).ok() ? name : std::string();
}

struct SortedLine {
  std::tuple<int64_t, int32_t, int64_t> key;
  std::string text;
};

class Dumper {
 public:
  Dumper(fs::FileSystem& fs,
         const DumpOptions& options,
         const std::function<absl::Status(std::string_view)>& line)
      : fs_(fs), options_(options), line_(line) {}

  absl::StatusOr<DumpReport> Run() {
    SKEP_RETURN_IF_ERROR(ReadOptions());
    // The directory itself: absent is the caller's mistake, not a race.
    SKEP_RETURN_IF_ERROR(fs_.List(options_.directory).status());
    SKEP_ASSIGN_OR_RETURN(size_t levels, CountPartitionLevels(fs_, options_.directory));
    if (ddl_) {
      if (levels == 0)
        partition_in_path_ = PartitionInPath(options_.directory, ddl_->partition_columns);
      if (partition_in_path_.empty()) levels = ddl_->partition_columns.size();
    }
    SKEP_ASSIGN_OR_RETURN(const std::vector<std::string> partitions,
                          table::ListPartitionDirectories(fs_, options_.directory, levels));
    for (const std::string& partition : partitions) {
      SKEP_RETURN_IF_ERROR(DumpPartition(partition));
      if (report_.cut) break;
    }
    return std::move(report_);
  }

 private:
  absl::Status ReadOptions() {
    write_ids_ = EverythingVisible();
    visibility_.txns = AllTxnsVisible();
    if (!options_.write_ids.empty()) {
      SKEP_ASSIGN_OR_RETURN(write_ids_, ParseWriteIdList(options_.write_ids));
    }
    if (!options_.txns.empty()) {
      SKEP_ASSIGN_OR_RETURN(visibility_.txns, ParseTxnList(options_.txns));
    }
    if (!options_.ddl.empty()) {
      SKEP_ASSIGN_OR_RETURN(ddl_, ddl::ParseCreateTable(options_.ddl));
      SKEP_RETURN_IF_ERROR(CheckDdl(*ddl_));
    }
    return absl::OkStatus();
  }

  absl::Status DumpPartition(const std::string& partition) {
    const std::string dir =
        partition.empty() ? options_.directory : fs::JoinPath(options_.directory, partition);
    table::ScanOptions scan_options;
    if (ddl_) {
      scan_options.table_columns = ddl_->columns;
      SKEP_ASSIGN_OR_RETURN(
          scan_options.partition,
          table::PartitionValuesOf(partition.empty() ? partition_in_path_ : partition,
                                   ddl_->partition_columns));
    }
    SKEP_ASSIGN_OR_RETURN(const auto scan,
                          table::Scan::Open(fs_, dir, write_ids_, visibility_, scan_options));
    std::vector<SortedLine> lines;
    while (true) {
      SKEP_ASSIGN_OR_RETURN(const auto batch, scan->Next());
      if (batch == nullptr) break;
      for (int64_t i = 0; i < batch->rows->num_rows(); ++i) {
        SortedLine line{{batch->write_id[i], batch->bucket[i], batch->row_id[i]}, {}};
        AppendIdentifiedRow(*batch, scan->columns(), partition, i, &line.text);
        lines.push_back(std::move(line));
      }
    }
    std::sort(lines.begin(), lines.end(), [](const SortedLine& a, const SortedLine& b) {
      return a.key < b.key;
    });
    for (const SortedLine& line : lines) {
      report_.cut = options_.limit > 0 && report_.rows == options_.limit;
      if (report_.cut) break;
      SKEP_RETURN_IF_ERROR(line_(line.text));
      ++report_.rows;
    }
    report_.directories.push_back({partition, scan->selection().judged, scan->stats()});
    return absl::OkStatus();
  }

  fs::FileSystem& fs_;
  const DumpOptions& options_;
  const std::function<absl::Status(std::string_view)>& line_;
  std::optional<ddl::CreateTable> ddl_;
  std::string partition_in_path_;  // where the directory is one partition of the DDL's table
  WriteIdSnapshot write_ids_;
  acid::Visibility visibility_;
  DumpReport report_;
};

std::string_view VerdictWord(acid::Verdict verdict) {
  switch (verdict) {
    case acid::Verdict::kChosen:
      return "read";
    case acid::Verdict::kObsolete:
      return "obsolete";
    case acid::Verdict::kAborted:
      return "aborted";
    case acid::Verdict::kInvisible:
      return "not visible";
    case acid::Verdict::kForeign:
      return "foreign";
  }
  return "";
}

}  // namespace

absl::StatusOr<DumpReport> Dump(fs::FileSystem& fs,
                                const DumpOptions& options,
                                const std::function<absl::Status(std::string_view)>& line) {
  return Dumper(fs, options, line).Run();
}

std::string FormatDumpReport(const DumpReport& report) {
  std::string text;
  for (const DumpedDirectory& directory : report.directories) {
    if (!directory.partition.empty()) text += Printable(directory.partition) + "\n";
    size_t width = 0;
    for (const acid::Judged& judged : directory.judged) width = std::max(width, judged.name.size());
    for (const acid::Judged& judged : directory.judged) {
      text += fmt::format("  {:<{}}  {:<11}  {}\n",
                          Printable(judged.name),
                          width,
                          VerdictWord(judged.verdict),
                          judged.because);
    }
    const table::ScanStats& stats = directory.stats;
    text += fmt::format("  {} of {} in {}; deletes from {}, {} not needed\n",
                        stats.rows_returned,
                        Counted(stats.rows_read, "row"),
                        Counted(stats.files_read, "file"),
                        Counted(stats.delete_files_read, "file"),
                        stats.delete_files_skipped);
  }
  text += Counted(report.rows, "row") +
          (report.cut ? " printed: the limit; what lies behind was not looked at\n" : " in all\n");
  return text;
}

}  // namespace skep::client

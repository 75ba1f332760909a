#include "server/duties/register_scan.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "server/duties/adopted_lists.h"
#include "server/duties/partition_scan.h"
#include "storage/acid/selection.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/orc/tail.h"
#include "storage/model/errors.h"
#include "storage/table/sources.h"

namespace skep::duties {
namespace {

constexpr std::string_view kWhatToGive =
    "give the table's definition (skepctl register table … --ddl FILE with Hive's SHOW CREATE "
    "TABLE)";
constexpr size_t kOperationColumn = 1;  // in an ACID file's type tree (RW-1)

bool IsTrue(const Properties& properties, std::string_view key) {
  return AsciiEqualsIgnoreCase(PropertyIgnoreCase(properties, key), "true");
}

// Managed means transactional (P-1).
absl::StatusOr<TableKind> KindOf(const TableName& name, const GivenDefinition& definition) {
  if (IsTrue(definition.properties, "EXTERNAL")) return TableKind::kExternal;
  const std::string transactional = PropertyIgnoreCase(definition.properties, "transactional");
  if (!transactional.empty() && !AsciiEqualsIgnoreCase(transactional, "true")) {
    return MakeError(
        ErrorReason::kTableNotTransactional,
        fmt::format("{} is a managed table with 'transactional'='{}': convert it in Hive first "
                    "(ALTER TABLE … SET TBLPROPERTIES ('transactional'='true')), or register it "
                    "as an external table",
                    name.ToString(),
                    Printable(transactional)),
        {{"table", name.ToString()}});
  }
  return ManagedKind(definition.format, definition.properties);
}

std::vector<std::string> NamesOf(const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(AsciiLower(column.name));
  return names;
}

// Operation 1 or 2 can be told from what the tail says (RW-3).
bool TailShowsOperations(const orc::Tail& tail) {
  if (orc::AcidStatsOf(tail)) return true;
  return tail.StatisticsTrusted() && tail.file_statistics.size() > kOperationColumn &&
         tail.file_statistics[kOperationColumn].int_max.has_value();
}

// The events of a file whose tail says nothing, one by one: the reader refuses what Hive 2 wrote.
absl::Status ReadOperations(fs::FileSystem& fs, const table::SourceFile& file) {
  orc::ReadOptions options;
  options.columns.emplace();
  SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<table::SourceReader> reader,
                        table::OpenSource(fs, file, orc::ReaderOptions{}, options));
  while (true) {
    SKEP_ASSIGN_OR_RETURN(const std::unique_ptr<orc::Batch> batch, reader->Next());
    if (batch == nullptr) return absl::OkStatus();
  }
}

// The newest file that has columns: the highest write id, an insert before a delete of the same.
class NewestFile {
 public:
  void Offer(const table::SourceFile& file) {
    if (file.tail == nullptr) return;
    const bool inserts = !file.dir || file.dir->kind != acid::DirKind::kDeleteDelta;
    const auto rank =
        std::make_tuple(file.dir ? file.dir->max_write_id : acid::kOldestBase, inserts);
    if (!path_.empty() && rank <= rank_) return;
    std::vector<Column> columns = table::ColumnsOfTail(*file.tail);
    if (columns.empty()) return;
    rank_ = rank;
    path_ = file.path;
    columns_ = std::move(columns);
  }
  const std::string& path() const { return path_; }
  const std::vector<Column>& columns() const { return columns_; }

 private:
  std::tuple<int64_t, bool> rank_{};
  std::string path_;
  std::vector<Column> columns_;
};

class Scan {
 public:
  Scan(fs::FileSystem& fs, const RegisterScanRequest& request) : fs_(fs), request_(request) {}

  absl::StatusOr<RegisterScanResult> Run() {
    SKEP_RETURN_IF_ERROR(CheckLocation());
    state::RegisterTable& command = result_.command;
    command.name = request_.name;
    command.location = request_.location;
    SKEP_RETURN_IF_ERROR(FindPartitions());
    if (request_.definition) {
      SKEP_ASSIGN_OR_RETURN(command.kind, KindOf(request_.name, *request_.definition));
      command.format = request_.definition->format;
      command.schema = request_.definition->schema;
      command.properties = request_.definition->properties;
    }
    if (command.kind == TableKind::kExternal) return std::move(result_);
    SKEP_RETURN_IF_ERROR(ListAll());
    SKEP_RETURN_IF_ERROR(AdoptLists());
    if (command.kind == TableKind::kInsertOnly) {
      SKEP_RETURN_IF_ERROR(CheckInsertOnly());
    } else {
      SKEP_RETURN_IF_ERROR(CheckFiles());
    }
    return std::move(result_);
  }

 private:
  void Note(std::string text) { result_.notes.push_back(std::move(text)); }

  // Part of a table is no table: its files belong to write ids that it would not count.
  absl::Status CheckOutsideAcidDirectories() {
    for (const std::string_view part : SplitText(request_.location, '/')) {
      const auto dir = acid::ParseDirName(part);
      if (!dir.ok() || !dir->has_value()) continue;
      return MakeError(ErrorReason::kLocationNotAllowed,
                       fmt::format("{} lies in the ACID directory '{}' of a table; give the "
                                   "directory of the whole table",
                                   Printable(request_.location),
                                   Printable(part)),
                       {{"path", request_.location}});
    }
    return absl::OkStatus();
  }

  absl::Status CheckLocation() {
    SKEP_RETURN_IF_ERROR(CheckOutsideAcidDirectories());
    absl::StatusOr<fs::FileInfo> info = fs_.Stat(request_.location);
    if (!info.ok() && !absl::IsNotFound(info.status())) return info.status();
    if (info.ok() && info->kind == fs::EntryKind::kDirectory) return absl::OkStatus();
    return MakeError(ErrorReason::kInvalidRequest,
                     fmt::format("{} {}: give the directory of the table",
                                 Printable(request_.location),
                                 info.ok() ? "is no directory" : "does not exist"),
                     {{"field", "location"}, {"path", request_.location}});
  }

  absl::Status FindPartitions() {
    std::vector<std::string> columns;
    if (request_.definition) {
      columns = NamesOf(request_.definition->schema.partition_columns);
    } else {
      SKEP_ASSIGN_OR_RETURN(columns, DetectPartitionColumns(fs_, request_.location));
      for (const std::string& column : columns) {
        result_.command.schema.partition_columns.push_back({column, HiveType{}, ""});
      }
    }
    SKEP_ASSIGN_OR_RETURN(directories_, ListPartitions(fs_, request_.location, columns));
    if (columns.empty()) return absl::OkStatus();
    result_.command.partitions = directories_;
    if (request_.definition) return absl::OkStatus();
    Note(fmt::format("The partition columns ({}) were taken from directory names, as strings.",
                     JoinText(columns, ", ")));
    return absl::OkStatus();
  }

  absl::Status ListAll() {
    for (const std::string& partition : directories_) {
      SKEP_ASSIGN_OR_RETURN(acid::Listing listing, table::ListDirectory(fs_, PathOf(partition)));
      listings_.emplace_back(partition, std::move(listing));
    }
    return absl::OkStatus();
  }

  absl::Status AdoptLists() {
    SKEP_ASSIGN_OR_RETURN(AdoptedWriteIds write_ids,
                          AdoptWriteIds(listings_, request_.valid_write_ids));
    SKEP_ASSIGN_OR_RETURN(AdoptedTxns txns,
                          AdoptTxns(listings_, request_.valid_txns, write_ids.ids));
    state::RegisterTable& command = result_.command;
    command.highest_write_id = WriteId(write_ids.ids.high);
    command.aborted_write_ids = write_ids.ids.aborted;
    command.adopted_txn_bound = txns.bound;
    command.adopted_aborted_txns = txns.aborted;
    if (!write_ids.from_list) {
      Note(fmt::format(
          "No list of write ids was given: everything on disk, up to write id {}, counts as "
          "committed.",
          write_ids.ids.high));
    }
    if (!txns.committed.empty() && request_.valid_txns.empty()) {
      Note(fmt::format("Nothing is left of what {} {} made from: {} as committed.",
                       Printable(JoinText(txns.committed, ", ")),
                       txns.committed.size() == 1 ? "was" : "were",
                       txns.committed.size() == 1 ? "it counts" : "they count"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckInsertOnly() {
    for (const auto& [partition, listing] : listings_) {
      for (const acid::AcidDir& dir : listing.dirs) {
        if (dir.name.kind != acid::DirKind::kDeleteDelta) continue;
        const std::string path = fs::JoinPath(PathOf(partition), dir.name.name);
        return MakeError(
            ErrorReason::kMalformedDirectory,
            fmt::format("{} is a delete delta, and {} is insert-only by its definition: one of "
                        "the two is not this table's",
                        Printable(path),
                        request_.name.ToString()),
            {{"path", path}});
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckFiles() {
    WriteIdSnapshot write_ids;
    write_ids.table = request_.name;
    write_ids.ids.high = result_.command.highest_write_id.value();
    write_ids.ids.aborted = result_.command.aborted_write_ids;
    acid::Visibility visibility;
    visibility.txns = AllTxnsVisible();
    visibility.adopted_bound = result_.command.adopted_txn_bound;
    visibility.adopted_aborted = result_.command.adopted_aborted_txns;
    NewestFile newest;
    for (const auto& [partition, listing] : listings_) {
      SKEP_ASSIGN_OR_RETURN(const acid::Selection selection,
                            acid::SelectDirectories(listing, write_ids, visibility));
      auto sources = table::CollectSources(fs_, PathOf(partition), selection);
      if (!sources.ok()) return WithWayOut(sources.status());
      for (const auto& [bucket, files] : *sources) {
        for (const auto* list : {&files.inserts, &files.deletes}) {
          for (const table::SourceFile& file : *list) {
            newest.Offer(file);
            SKEP_RETURN_IF_ERROR(CheckEvents(file));
          }
        }
      }
    }
    return request_.definition ? absl::OkStatus() : TakeColumns(newest);
  }

  absl::Status CheckEvents(const table::SourceFile& file) {
    if (file.tail == nullptr || !orc::HasAcidSchema(*file.tail) ||
        TailShowsOperations(*file.tail)) {
      return absl::OkStatus();
    }
    return ReadOperations(fs_, file);
  }

  absl::Status WithWayOut(const absl::Status& status) {
    if (request_.definition || ReasonOf(status) != ErrorReason::kNotSupported) return status;
    return MakeError(ErrorReason::kNotSupported,
                     fmt::format("{}. Without a definition all data files must be ORC: {}",
                                 MessageOf(status),
                                 kWhatToGive),
                     MetadataOf(status));
  }

  // Where nothing that is read has columns (a truncated table), what it replaced still tells them.
  void OfferReplaced(NewestFile& newest) {
    for (const auto& [partition, listing] : listings_) {
      std::vector<acid::Selection> alone(1);
      alone.front().originals = listing.originals;
      for (const acid::AcidDir& dir : listing.dirs) alone.emplace_back().deltas = {dir};
      for (const acid::Selection& selection : alone) {
        const auto sources = table::CollectSources(fs_, PathOf(partition), selection);
        if (!sources.ok()) continue;  // it need not be readable: nobody reads it
        for (const auto& [bucket, files] : *sources) {
          for (const auto* list : {&files.inserts, &files.deletes}) {
            for (const table::SourceFile& file : *list) newest.Offer(file);
          }
        }
      }
    }
  }

  absl::Status TakeColumns(NewestFile& newest) {
    if (newest.path().empty()) OfferReplaced(newest);
    if (newest.path().empty()) {
      return MakeError(
          ErrorReason::kNotSupported,
          fmt::format("{} has no ORC file to take the columns from: {}",
                      Printable(request_.location),
                      kWhatToGive),
          {{"path", request_.location}, {"what", "a table without files and definition"}});
    }
    result_.command.schema.columns = newest.columns();
    Note(fmt::format("The columns are those of {}.", Printable(newest.path())));
    if (newest.columns().front().name == "_col0") {
      Note(
          "That file does not know the names of its columns (_col0, …): give the table's "
          "definition to get "
          "them right.");
    }
    return absl::OkStatus();
  }

  std::string PathOf(const std::string& partition) const {
    return partition.empty() ? request_.location : fs::JoinPath(request_.location, partition);
  }

  fs::FileSystem& fs_;
  const RegisterScanRequest& request_;
  RegisterScanResult result_;
  std::vector<std::string> directories_;  // partitions as listed; one empty name without
  TableListings listings_;
};

}  // namespace

absl::StatusOr<RegisterScanResult> ScanForRegister(fs::FileSystem& fs,
                                                   const RegisterScanRequest& request) {
  return Scan(fs, request).Run();
}

}  // namespace skep::duties

#include "tests/sim/warehouse.h"

#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/table/sources.h"

namespace skep::sim {
namespace {

constexpr std::string_view kFile = "bucket_00000";

std::string InsertLine(const Row& row) {
  return fmt::format("I {} {} {}\n", row.write_id.value(), row.number, row.value);
}

std::string DeleteLine(const Row& row, WriteId deleter) {
  return fmt::format(
      "D {} {} {} {}\n", row.write_id.value(), row.number, row.value, deleter.value());
}

int64_t NumberOf(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string Warehouse::DirectoryOf(const std::string& location, const std::string& partition) {
  return partition.empty() ? location : location + "/" + partition;
}

absl::Status Warehouse::WriteFile(const std::string& path, const std::string& content) {
  SKEP_RETURN_IF_ERROR(disk_.CreateDirectories(fs::ParentPath(path)));
  SKEP_ASSIGN_OR_RETURN(const auto file, disk_.Create(path));
  SKEP_RETURN_IF_ERROR(file->Append(content));
  return file->Close();
}

absl::Status Warehouse::Write(const std::string& dir,
                              WriteId write_id,
                              const Written& written,
                              const Pause& pause) {
  const auto path = [&](const std::string& name) {
    return fmt::format("{}/{}/{}", dir, name, kFile);
  };
  std::string inserts;
  for (const Row& row : written.added) inserts += InsertLine(row);
  std::string deletes;
  for (const Row& row : written.removed) deletes += DeleteLine(row, write_id);
  if (written.op == WriteOp::kOverwrite) {
    return WriteFile(path(acid::BaseDirName(write_id)), inserts);
  }
  if (!deletes.empty()) {
    SKEP_RETURN_IF_ERROR(WriteFile(
        path(acid::DeltaDirName(acid::DirKind::kDeleteDelta, write_id, write_id, 0)), deletes));
    pause();
  }
  if (inserts.empty()) return absl::OkStatus();
  return WriteFile(path(acid::DeltaDirName(acid::DirKind::kDelta, write_id, write_id, 0)), inserts);
}

absl::StatusOr<std::vector<Warehouse::Event>> Warehouse::ReadEvents(const std::string& path) {
  SKEP_ASSIGN_OR_RETURN(const std::string text, fs::ReadSmallFile(disk_, path, 1 << 24));
  std::vector<Event> events;
  for (const std::string_view line : SplitText(text, '\n')) {
    if (line.empty()) continue;
    const auto words = SplitText(line, ' ');
    Event event{{WriteId(NumberOf(words[1])), NumberOf(words[2]), NumberOf(words[3])}, WriteId()};
    if (words[0] == "D") event.deleter = WriteId(NumberOf(words[4]));
    events.push_back(event);
  }
  return events;
}

absl::StatusOr<std::vector<Warehouse::Event>> Warehouse::EventsOf(const std::string& path) {
  auto events = ReadEvents(fmt::format("{}/{}", path, kFile));
  if (absl::IsNotFound(events.status())) return std::vector<Event>();
  return events;
}

absl::StatusOr<std::vector<Warehouse::Event>> Warehouse::Events(const std::string& dir,
                                                                const acid::Selection& selection,
                                                                const Pause& pause) {
  std::vector<std::string> names;
  if (selection.base) names.push_back(selection.base->name.name);
  for (const acid::AcidDir& delta : selection.deltas) names.push_back(delta.name.name);
  std::vector<Event> events;
  for (const std::string& name : names) {
    pause();
    SKEP_ASSIGN_OR_RETURN(const std::vector<Event> found,
                          ReadEvents(fmt::format("{}/{}/{}", dir, name, kFile)));
    events.insert(events.end(), found.begin(), found.end());
  }
  return events;
}

absl::StatusOr<Rows> Warehouse::Read(const std::string& dir,
                                     const WriteIdSnapshot& write_ids,
                                     const TxnSnapshot& txns,
                                     const Pause& pause) {
  absl::StatusOr<acid::Listing> listing = table::ListDirectory(disk_, dir);
  // Nobody has written there yet.
  if (absl::IsNotFound(listing.status())) return Rows();
  SKEP_RETURN_IF_ERROR(listing.status());
  SKEP_ASSIGN_OR_RETURN(const acid::Selection selection,
                        acid::SelectDirectories(*listing, write_ids, {txns, TxnId(), {}}));
  SKEP_ASSIGN_OR_RETURN(const std::vector<Event> events, Events(dir, selection, pause));
  Rows rows;
  for (const Event& event : events) {
    if (event.deleter.is_none() && write_ids.IsValid(event.row.write_id) &&
        !rows.insert(event.row).second) {
      return MakeError(ErrorReason::kInternal, "a row is there twice in " + dir);
    }
  }
  for (const Event& event : events) {
    if (!event.deleter.is_none() && write_ids.IsValid(event.deleter)) rows.erase(event.row);
  }
  return rows;
}

absl::StatusOr<Warehouse::Merged> Warehouse::Merge(const std::string& dir,
                                                   const acid::Selection& inputs,
                                                   const WriteIdSnapshot& write_ids,
                                                   bool minor,
                                                   const Pause& pause) {
  SKEP_ASSIGN_OR_RETURN(const std::vector<Event> events, Events(dir, inputs, pause));
  std::set<Row> deleted;
  Merged merged;
  for (const Event& event : events) {
    if (event.deleter.is_none() || !write_ids.IsValid(event.deleter)) continue;
    deleted.insert(event.row);
    if (minor) merged.deletes += DeleteLine(event.row, event.deleter);
  }
  for (const Event& event : events) {
    if (!event.deleter.is_none() || !write_ids.IsValid(event.row.write_id)) continue;
    if (minor || !deleted.contains(event.row)) merged.inserts += InsertLine(event.row);
  }
  return merged;
}

absl::Status Warehouse::Install(const std::string& dir,
                                const std::string& name,
                                const std::string& content,
                                TxnId txn,
                                const Pause& pause) {
  const std::string making = fmt::format("{}/{}", dir, acid::CompactorTempDirName(txn));
  SKEP_RETURN_IF_ERROR(disk_.RemoveTree(making));
  SKEP_RETURN_IF_ERROR(WriteFile(fmt::format("{}/{}", making, kFile), content));
  pause();
  return disk_.RenameNoReplace(making, fmt::format("{}/{}", dir, name));
}

}  // namespace skep::sim

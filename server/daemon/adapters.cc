#include "server/daemon/adapters.h"

#include <utility>

namespace skep::daemon {
namespace {

rpc::RegisterFindings Translate(duties::RegisterScanResult result) {
  return {std::move(result.command), std::move(result.notes)};
}

rpc::DirectoryEntry::Role Translate(duties::DirectoryRole role) {
  using Role = rpc::DirectoryEntry::Role;
  switch (role) {
    case duties::DirectoryRole::kLive:
      return Role::kLive;
    case duties::DirectoryRole::kObsolete:
      return Role::kObsolete;
    case duties::DirectoryRole::kAborted:
      return Role::kAborted;
    case duties::DirectoryRole::kOpen:
      return Role::kOpen;
    case duties::DirectoryRole::kForeign:
      break;
  }
  return Role::kForeign;
}

rpc::DirectoryEntry Translate(duties::DirectoryInfo info) {
  return {std::move(info.partition),
          std::move(info.name),
          Translate(info.role),
          std::move(info.reason),
          info.bytes,
          info.files};
}

rpc::CleanerEntry Translate(duties::CleanerEntry entry) {
  return {std::move(entry.task.row),
          std::move(entry.directories),
          std::move(entry.task.pinned_by),
          std::move(entry.summary)};
}

rpc::CompactionDecision Translate(duties::CompactionEntry entry) {
  const duties::Outlook& outlook = entry.outlook;
  return {std::move(entry.partition),
          outlook.decision.type,
          outlook.decision.reason,
          outlook.facts.base_bytes,
          outlook.facts.delta_bytes,
          outlook.facts.delta_count,
          outlook.thresholds.delta_num,
          outlook.thresholds.delta_pct,
          std::move(entry.blocked_by),
          std::move(entry.latest)};
}

// An answer of the duties handed on as one of the services.
template <class To, class From, class Done>
auto HandOn(Done done) {
  return [done = std::move(done)](absl::StatusOr<std::vector<From>> answer) mutable {
    if (!answer.ok()) return done(answer.status());
    std::vector<To> translated;
    translated.reserve(answer->size());
    for (From& entry : *answer) translated.push_back(Translate(std::move(entry)));
    done(std::move(translated));
  };
}

}  // namespace

void DeskPort::Scan(rpc::RegisterScan scan, Done<rpc::RegisterFindings> done) {
  duties::RegisterScanRequest request;
  request.name = std::move(scan.name);
  request.location = std::move(scan.location);
  if (scan.definition) {
    request.definition = duties::GivenDefinition{std::move(scan.definition->schema),
                                                 scan.definition->format,
                                                 std::move(scan.definition->properties)};
  }
  request.valid_write_ids = std::move(scan.valid_write_ids);
  request.valid_txns = std::move(scan.valid_txns);
  desk_.ScanForRegister(
      std::move(request),
      [done = std::move(done)](absl::StatusOr<duties::RegisterScanResult> result) mutable {
        if (!result.ok()) return done(result.status());
        done(Translate(*std::move(result)));
      });
}

void DeskPort::ListDirectories(TableName table,
                               std::string partition,
                               Done<std::vector<rpc::DirectoryEntry>> done) {
  desk_.ListDirectories(std::move(table),
                        std::move(partition),
                        HandOn<rpc::DirectoryEntry, duties::DirectoryInfo>(std::move(done)));
}

void DeskPort::ExplainCleaner(std::optional<TableName> table,
                              Done<std::vector<rpc::CleanerEntry>> done) {
  desk_.ExplainCleaner(std::move(table),
                       HandOn<rpc::CleanerEntry, duties::CleanerEntry>(std::move(done)));
}

void DeskPort::ExplainCompaction(TableName table,
                                 std::string partition,
                                 Done<std::vector<rpc::CompactionDecision>> done) {
  desk_.ExplainCompactions(
      std::move(table),
      std::move(partition),
      HandOn<rpc::CompactionDecision, duties::CompactionEntry>(std::move(done)));
}

}  // namespace skep::daemon

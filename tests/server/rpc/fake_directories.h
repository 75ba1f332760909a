#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/rpc/directory_port.h"

namespace skep::rpc {

// Answers what the test put there.
class FakeDirectories final : public DirectoryPort {
 public:
  absl::StatusOr<RegisterFindings> findings = absl::UnknownError("not set");
  absl::StatusOr<std::vector<DirectoryEntry>> entries = absl::UnknownError("not set");
  absl::StatusOr<std::vector<CleanerEntry>> cleaner = absl::UnknownError("not set");
  absl::StatusOr<std::vector<CompactionDecision>> decisions = absl::UnknownError("not set");
  std::vector<RegisterScan> scans;

  void Scan(RegisterScan scan, Done<RegisterFindings> done) override {
    scans.push_back(std::move(scan));
    done(findings);
  }
  void ListDirectories(TableName, std::string, Done<std::vector<DirectoryEntry>> done) override {
    done(entries);
  }
  void ExplainCleaner(std::optional<TableName>, Done<std::vector<CleanerEntry>> done) override {
    done(cleaner);
  }
  void ExplainCompaction(TableName,
                         std::string,
                         Done<std::vector<CompactionDecision>> done) override {
    done(decisions);
  }
};

}  // namespace skep::rpc

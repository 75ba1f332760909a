#pragma once

#include <functional>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/acid/selection.h"
#include "storage/model/snapshot.h"
#include "tests/sim/history.h"
#include "tests/sim/sim_disk.h"

namespace skep::sim {

// Files of the tiny world: Hive's directories as the product names and selects them, with one text
// file of rows each. Between two looks at the disk `pause` lets time pass.
class Warehouse {
 public:
  explicit Warehouse(SimDisk& disk) : disk_(disk) {}
  using Pause = std::function<void()>;

  static std::string DirectoryOf(const std::string& location, const std::string& partition);

  // One statement of a writer, under its write id. Overwrite makes a base.
  absl::Status Write(const std::string& dir,
                     WriteId write_id,
                     const Written& written,
                     const Pause& pause);

  // What a reader finds. Errors: those of the selection; NOT_FOUND where a file that was listed is
  // gone.
  absl::StatusOr<Rows> Read(const std::string& dir,
                            const WriteIdSnapshot& write_ids,
                            const TxnSnapshot& txns,
                            const Pause& pause);

  // What a compaction makes of its inputs: `minor` keeps the events, a major one applies them.
  struct Merged {
    std::string inserts;
    std::string deletes;
  };
  absl::StatusOr<Merged> Merge(const std::string& dir,
                               const acid::Selection& inputs,
                               const WriteIdSnapshot& write_ids,
                               bool minor,
                               const Pause& pause);
  // A directory of one file under its final name, by way of a temporary one.
  absl::Status Install(const std::string& dir,
                       const std::string& name,
                       const std::string& content,
                       TxnId txn,
                       const Pause& pause);

  // What a file says of one row.
  struct Event {
    Row row;
    WriteId deleter;  // none: an insert
  };
  // Of one directory by its path; none where it has no file (yet).
  absl::StatusOr<std::vector<Event>> EventsOf(const std::string& path);

  SimDisk& disk() { return disk_; }

 private:
  absl::StatusOr<std::vector<Event>> ReadEvents(const std::string& path);
  absl::Status WriteFile(const std::string& path, const std::string& content);
  absl::StatusOr<std::vector<Event>> Events(const std::string& dir,
                                            const acid::Selection& selection,
                                            const Pause& pause);

  SimDisk& disk_;
};

}  // namespace skep::sim

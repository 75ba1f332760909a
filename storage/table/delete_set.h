#pragma once

// The deletes of one bucket that a snapshot sees, as a set of row ids: the right side of a scan's
// anti-join.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/format/orc/reader.h"
#include "storage/format/orc/tail.h"
#include "storage/fs/file_system.h"
#include "storage/model/snapshot.h"
#include "storage/table/sources.h"

namespace skep::table {

// Hive's hive.transactional.events.mem: 8 bytes an event.
inline constexpr int64_t kDefaultDeleteLimit = 10'000'000;

// The delete files that can hit a row of the bucket's insert files: by name (D-6) and by the range
// of write ids that both sides' trusted statistics give (D-11). Leaving one out is never needed for
// a right answer.
std::vector<SourceFile> RelevantDeletes(const BucketSources& bucket);

// Immutable after loading; thread-safe then.
class DeleteSet {
 public:
  struct Options {
    int64_t limit = kDefaultDeleteLimit;
    // Called after each file is opened; an error ends the load.
    std::function<absl::Status()> check_alive;
  };

  // Reads the files and keeps each event whose own write id the snapshot sees (D-3); the victim's
  // write id is not looked at. Errors: those of OpenSource; kOverloaded above the limit, with
  // metadata limit.
  static absl::StatusOr<DeleteSet> Load(fs::FileSystem& fs,
                                        const std::vector<SourceFile>& files,
                                        const WriteIdSnapshot& write_ids,
                                        const Options& options);

  bool Contains(const orc::AcidKey& key) const;
  // For each row of the batch whether it is hit. Cheapest where the batch ascends by row id.
  std::vector<bool> Hits(const orc::Batch& batch) const;

  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  using Group = std::pair<int64_t, int32_t>;  // original write id, bucket property

  // Row ids ascending, each once.
  std::map<Group, std::vector<int64_t>> groups_;
  int64_t size_ = 0;
};

}  // namespace skep::table

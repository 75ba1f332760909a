#include "storage/table/delete_set.h"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "storage/acid/selection.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::table {
namespace {

// Column id of originalTransaction in an ACID file (RW-1).
constexpr size_t kWriteIdColumn = 2;

struct Range {
  int64_t first = 0;
  int64_t last = 0;
};

// The original write ids of a file's rows; nullopt where its statistics are not to be believed
// (M-4).
std::optional<Range> WriteIdsOf(const SourceFile& file) {
  if (file.synthetic) return Range{file.synthetic->write_id, file.synthetic->write_id};
  if (file.tail == nullptr || !file.tail->StatisticsTrusted()) return std::nullopt;
  if (file.tail->file_statistics.size() <= kWriteIdColumn) return std::nullopt;
  const orc::ColumnStatistics& column = file.tail->file_statistics[kWriteIdColumn];
  if (!column.int_min || !column.int_max) return std::nullopt;
  return Range{*column.int_min, *column.int_max};
}

bool MayHit(const SourceFile& deletes, const SourceFile& inserts) {
  if (deletes.dir && inserts.dir && !acid::DeleteDeltaApplies(*deletes.dir, *inserts.dir)) {
    return false;
  }
  const auto victims = WriteIdsOf(deletes);
  const auto rows = WriteIdsOf(inserts);
  if (!victims || !rows) return true;
  return victims->first <= rows->last && rows->first <= victims->last;
}

absl::Status TooManyDeletes(const SourceFile& file, int64_t limit) {
  return MakeError(
      ErrorReason::kOverloaded,
      fmt::format("more than {} delete events of one bucket to hold in memory (at {}): "
                  "run a major compaction of the table, or raise the limit",
                  limit,
                  Printable(file.path)),
      {{"limit", std::to_string(limit)}, {"path", file.path}});
}

}  // namespace

std::vector<SourceFile> RelevantDeletes(const BucketSources& bucket) {
  std::vector<SourceFile> relevant;
  for (const SourceFile& deletes : bucket.deletes) {
    const bool hits =
        std::any_of(bucket.inserts.begin(), bucket.inserts.end(), [&](const SourceFile& inserts) {
          return MayHit(deletes, inserts);
        });
    if (hits) relevant.push_back(deletes);
  }
  return relevant;
}

absl::StatusOr<DeleteSet> DeleteSet::Load(fs::FileSystem& fs,
                                          const std::vector<SourceFile>& files,
                                          const WriteIdSnapshot& write_ids,
                                          const Options& options) {
  DeleteSet set;
  const orc::ReadOptions no_columns{.columns = std::vector<std::string>(), .stripes = {}};
  for (const SourceFile& file : files) {
    SKEP_ASSIGN_OR_RETURN(auto source, OpenSource(fs, file, {}, no_columns));
    if (options.check_alive) SKEP_RETURN_IF_ERROR(options.check_alive());
    while (true) {
      SKEP_ASSIGN_OR_RETURN(const auto batch, source->Next());
      if (batch == nullptr) break;
      for (size_t i = 0; i < batch->row_id.size(); ++i) {
        if (!write_ids.IsValid(WriteId(batch->current_write_id[i]))) continue;
        if (++set.size_ > options.limit) return TooManyDeletes(file, options.limit);
        set.groups_[{batch->original_write_id[i], batch->bucket[i]}].push_back(batch->row_id[i]);
      }
    }
  }
  set.size_ = 0;
  for (auto& [group, rows] : set.groups_) {
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    rows.shrink_to_fit();
    set.size_ += static_cast<int64_t>(rows.size());
  }
  return set;
}

bool DeleteSet::Contains(const orc::AcidKey& key) const {
  const auto group = groups_.find({key.original_write_id, key.bucket});
  return group != groups_.end() &&
         std::binary_search(group->second.begin(), group->second.end(), key.row_id);
}

std::vector<bool> DeleteSet::Hits(const orc::Batch& batch) const {
  const size_t rows = batch.row_id.size();
  std::vector<bool> hits(rows, false);
  size_t i = 0;
  while (i < rows) {
    const Group group{batch.original_write_id[i], batch.bucket[i]};
    size_t end = i;
    while (end < rows && Group{batch.original_write_id[end], batch.bucket[end]} == group) ++end;
    const auto found = groups_.find(group);
    if (found == groups_.end()) {
      i = end;
      continue;
    }
    const std::vector<int64_t>& deleted = found->second;
    auto next = deleted.begin();
    for (; i < end; ++i) {
      // A step back only where the batch does not ascend; ascending rows walk the slice once.
      if (next != deleted.begin() && *(next - 1) >= batch.row_id[i]) next = deleted.begin();
      next = std::lower_bound(next, deleted.end(), batch.row_id[i]);
      hits[i] = next != deleted.end() && *next == batch.row_id[i];
    }
  }
  return hits;
}

}  // namespace skep::table

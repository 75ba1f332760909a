#include "storage/acid/selection.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "storage/acid/walk.h"
#include "storage/model/errors.h"

namespace skep::acid {

bool AcidDir::IsCompactedBase() const {
  return name.kind == DirKind::kBase && (!name.visibility.is_none() || metadata == "compacted");
}

Visibility::Answer Visibility::Judge(TxnId visibility) const {
  if (visibility.is_none()) return Answer::kVisible;
  if (visibility <= adopted_bound) {
    return std::ranges::binary_search(adopted_aborted, visibility.value()) ? Answer::kAborted
                                                                           : Answer::kVisible;
  }
  if (txns.IsVisible(visibility)) return Answer::kVisible;
  return txns.ids.IsAborted(visibility.value()) ? Answer::kAborted : Answer::kInvisible;
}

absl::StatusOr<Selection> SelectDirectories(const Listing& listing,
                                            const WriteIdSnapshot& write_ids,
                                            const Visibility& visibility) {
  Walked walked = WalkDirectories(listing, write_ids, visibility);
  if (walked.missed_base) {
    const int64_t min_open = write_ids.ids.MinOpen();
    const std::string min_open_text =
        min_open == kNothingOpen ? std::string("nothing") : fmt::format("write id {}", min_open);
    return MakeError(
        ErrorReason::kNotEnoughHistory,
        fmt::format(
            "not enough history: the snapshot (high mark {}, lowest open: {}) is older than "
            "the compaction that wrote {}, and what it replaced may be gone; begin again "
            "with a new transaction",
            write_ids.ids.high,
            min_open_text,
            *walked.missed_base),
        {{"path", *walked.missed_base},
         {"highWatermark", std::to_string(write_ids.ids.high)},
         {"minOpen", std::to_string(min_open)},
         {"base", *walked.missed_base}});
  }
  return std::move(walked.selection);
}

bool DeleteDeltaApplies(const AcidDirName& delete_delta, const AcidDirName& dir) {
  if (dir.kind == DirKind::kBase) return true;
  if (delete_delta.max_write_id < dir.min_write_id) return false;
  const bool same_write_id = delete_delta.max_write_id == dir.min_write_id &&
                             delete_delta.min_write_id == dir.min_write_id;
  const bool by_statement = delete_delta.statement && dir.statement;
  return !(same_write_id && by_statement && *delete_delta.statement <= *dir.statement);
}

bool IsAcidFormatByName(const AcidDir& dir) {
  switch (dir.name.kind) {
    case DirKind::kDeleteDelta:
      return true;
    case DirKind::kDelta:
      return dir.name.min_write_id != dir.name.max_write_id;
    case DirKind::kBase:
      return dir.IsCompactedBase();
  }
  return false;
}

}  // namespace skep::acid

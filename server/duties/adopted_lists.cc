#include "server/duties/adopted_lists.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "server/state/commands.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::duties {
namespace {

constexpr std::string_view kAllCommitted = "all";

absl::Status Refuse(std::string_view field,
                    const std::string& message,
                    ErrorMetadata metadata = {}) {
  metadata.emplace("field", field);
  return MakeError(ErrorReason::kInvalidRequest, message, std::move(metadata));
}

std::string SomeIds(const std::vector<int64_t>& ids) {
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(ids.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ids[i]);
  }
  if (ids.size() > kShown) text += fmt::format(" and {} more", ids.size() - kShown);
  return text;
}

// Calls visit(path in the table, directory, listing) for each base and delta directory until one
// fails.
template <class Visit>
absl::Status ForEachDir(const TableListings& listings, Visit visit) {
  for (const auto& [partition, listing] : listings) {
    for (const acid::AcidDir& dir : listing.dirs) {
      SKEP_RETURN_IF_ERROR(visit(PathInTable(partition, dir.name.name), dir, listing));
    }
  }
  return absl::OkStatus();
}

// No sequence gets that far: the name is damaged or forged, and counting on from it would fail.
absl::Status CheckForeignIds(const std::string& path, const acid::AcidDirName& name) {
  const int64_t highest = std::max(name.max_write_id, name.visibility.value());
  if (highest <= state::kMaxForeignId) return absl::OkStatus();
  return MakeError(
      ErrorReason::kMalformedDirectory,
      fmt::format("{} has the id {} in its name, which leaves no room to count on (ids up to {} "
                  "are taken over): no engine wrote it; move it out of the table directory",
                  Printable(path),
                  highest,
                  state::kMaxForeignId),
      {{"path", path}});
}

absl::Status CheckJudged(const std::string& path, TxnId txn, const TxnSnapshot& list) {
  const bool open = list.ids.IsOpen(txn.value());
  if (!open && txn.value() <= list.ids.high) return absl::OkStatus();
  return Refuse(
      "valid_txns",
      fmt::format(
          "{} was made by transaction {}, which the list of transactions {}: whether its content "
          "counts is not decided. Wait for its end, or give a list that includes it",
          Printable(path),
          txn.value(),
          open ? "calls open" : fmt::format("does not reach (its high mark is {})", list.ids.high)),
      {{"path", path}, {"txnId", txn.ToString()}});
}

absl::Status CheckUnambiguous(const std::string& path,
                              const acid::AcidDir& dir,
                              const acid::Listing& listing,
                              const ValidIds& write_ids) {
  const std::optional<std::string> input = InputOf(dir, listing, write_ids);
  if (!input) return absl::OkStatus();
  return Refuse(
      "valid_txns",
      fmt::format(
          "{} was written by a compaction in transaction {} of another server, and {}, which "
          "it replaces, is still there: if that transaction was aborted, reading the result "
          "would be wrong, if it was committed, reading the input would be. Look transaction "
          "{} up there (SHOW COMPACTIONS, SHOW TRANSACTIONS) and give the list of "
          "transactions 'HIGH:MIN_OPEN:OPEN,…:ABORTED,…', or 'all' if every compaction of "
          "this table was committed",
          Printable(path),
          dir.name.visibility.value(),
          Printable(*input),
          dir.name.visibility.value()),
      {{"path", path}, {"txnId", dir.name.visibility.ToString()}, {"input", *input}});
}

}  // namespace

std::string PathInTable(const std::string& partition, const std::string& name) {
  return partition.empty() ? name : partition + "/" + name;
}

absl::StatusOr<AdoptedWriteIds> AdoptWriteIds(const TableListings& listings,
                                              std::string_view list) {
  AdoptedWriteIds adopted;
  std::optional<int64_t> high;
  if (!list.empty()) {
    absl::StatusOr<WriteIdSnapshot> parsed = ParseWriteIdList(list);
    if (!parsed.ok()) return Refuse("valid_write_ids", MessageOf(parsed.status()));
    if (!parsed->ids.open.empty()) {
      return Refuse(
          "valid_write_ids",
          fmt::format("the list of write ids has open ones ({}): a table is taken over when nobody "
                      "writes to it. End their transactions there and give the list again",
                      SomeIds(parsed->ids.open)));
    }
    high = parsed->ids.high;
    adopted.from_list = true;
    adopted.ids = std::move(parsed->ids);
  }
  SKEP_RETURN_IF_ERROR(ForEachDir(
      listings,
      [&](const std::string& path, const acid::AcidDir& dir, const acid::Listing&) -> absl::Status {
        SKEP_RETURN_IF_ERROR(CheckForeignIds(path, dir.name));
        const int64_t highest = dir.name.max_write_id;
        if (high && highest > *high) {
          return Refuse(
              "valid_write_ids",
              fmt::format("{} holds write ids above the high mark {} of the list of write ids: the "
                          "list is older than the directory. Give the current one",
                          Printable(path),
                          *high),
              {{"path", path}, {"highWatermark", std::to_string(*high)}});
        }
        adopted.ids.high = std::max(adopted.ids.high, highest);
        return absl::OkStatus();
      }));
  return adopted;
}

absl::StatusOr<AdoptedTxns> AdoptTxns(const TableListings& listings,
                                      std::string_view txns,
                                      const ValidIds& write_ids) {
  AdoptedTxns adopted;
  std::optional<TxnSnapshot> list;
  if (!txns.empty() && !AsciiEqualsIgnoreCase(txns, kAllCommitted)) {
    absl::StatusOr<TxnSnapshot> parsed = ParseTxnList(txns);
    if (!parsed.ok()) return Refuse("valid_txns", MessageOf(parsed.status()));
    list = *std::move(parsed);
  }
  SKEP_RETURN_IF_ERROR(ForEachDir(
      listings,
      [&](const std::string& path, const acid::AcidDir& dir, const acid::Listing& listing)
          -> absl::Status {
        const TxnId txn = dir.name.visibility;
        if (txn.is_none()) return absl::OkStatus();
        adopted.bound = std::max(adopted.bound, txn);
        if (list) {
          SKEP_RETURN_IF_ERROR(CheckJudged(path, txn, *list));
          if (list->ids.IsAborted(txn.value())) return absl::OkStatus();
        } else if (txns.empty()) {
          SKEP_RETURN_IF_ERROR(CheckUnambiguous(path, dir, listing, write_ids));
        }
        adopted.committed.push_back(path);
        return absl::OkStatus();
      }));
  if (list) {
    for (const int64_t id : list->ids.aborted) {
      if (id <= adopted.bound.value()) adopted.aborted.push_back(id);
    }
  }
  return adopted;
}

std::optional<std::string> InputOf(const acid::AcidDir& dir,
                                   const acid::Listing& listing,
                                   const ValidIds& write_ids) {
  const acid::AcidDirName& output = dir.name;
  if (output.kind == acid::DirKind::kBase) {
    if (!listing.originals.empty()) return listing.originals.front().relative_path;
  }
  std::optional<std::string> input;
  for (const acid::AcidDir& other : listing.dirs) {
    const acid::AcidDirName& name = other.name;
    if (name.name == output.name) continue;
    // The two halves of one compaction.
    if (name.visibility == output.visibility && name.kind != acid::DirKind::kBase &&
        output.kind != acid::DirKind::kBase && name.min_write_id == output.min_write_id &&
        name.max_write_id == output.max_write_id) {
      continue;
    }
    const bool below = output.kind == acid::DirKind::kBase
                           ? name.max_write_id <= output.max_write_id
                           : name.kind != acid::DirKind::kBase &&
                                 name.min_write_id >= output.min_write_id &&
                                 name.max_write_id <= output.max_write_id;
    if (!below || write_ids.RangeAborted(name.min_write_id, name.max_write_id) == RangeAnswer::kAll)
      continue;
    // The first by name, whatever the order of the listing.
    if (!input || name.name < *input) input = name.name;
  }
  return input;
}

}  // namespace skep::duties

#pragma once

// What a registration is told about the write ids and transactions of a table that another server
// governed, held against the names on disk. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/acid/selection.h"
#include "storage/model/ids.h"
#include "storage/model/snapshot.h"

namespace skep::duties {

// The listings of a table: one per partition, one with the empty name for a table without.
using TableListings = std::vector<std::pair<std::string, acid::Listing>>;

// "k=v/delta_0000001_0000001_0000"
std::string PathInTable(const std::string& partition, const std::string& name);

struct AdoptedWriteIds {
  ValidIds ids;  // high = max(disk, HIGH); aborted as in LIST
  bool from_list = false;
};

// `list` is Hive's text; empty: every write id on disk is committed.
// Errors: kInvalidRequest (field valid_write_ids) for a text that does not parse, for open ids in
// it, and for a directory above its high mark, by name.
absl::StatusOr<AdoptedWriteIds> AdoptWriteIds(const TableListings& listings, std::string_view list);

struct AdoptedTxns {
  TxnId bound;                   // highest `_vN` on disk; none: there is no such name
  std::vector<int64_t> aborted;  // of the list, those at or below the bound, ascending
  std::vector<std::string>
      committed;  // directories with `_vN` that count as committed, by path in the table
};

// `txns` is Hive's text, "all" (every `_vN` is committed) or empty: then a `_vN` counts as
// committed, unless something that it replaces is still there; what `write_ids` calls wholly
// aborted is nothing. Errors: kInvalidRequest (field valid_txns) for a text that does not parse,
// for a `_vN` that it calls open or that lies above its high mark, and for an ambiguous `_vN`, each
// by name.
absl::StatusOr<AdoptedTxns> AdoptTxns(const TableListings& listings,
                                      std::string_view txns,
                                      const ValidIds& write_ids);

// What of the listing `dir`, the output of a compaction, replaces if that was committed; nullopt:
// nothing.
std::optional<std::string> InputOf(const acid::AcidDir& dir,
                                   const acid::Listing& listing,
                                   const ValidIds& write_ids);

}  // namespace skep::duties

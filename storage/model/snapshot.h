#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/model/ids.h"
#include "storage/model/names.h"

namespace skep {

inline constexpr int64_t kNothingOpen = std::numeric_limits<int64_t>::max();

enum class RangeAnswer { kNone, kSome, kAll };

// Which ids of one sequence a reader may see: everything up to `high` except the listed ones. Both
// lists are ascending and ≤ high. Value type. The rules (VAL-n) are those of docs/rules.md.
struct ValidIds {
  int64_t high = 0;
  std::vector<int64_t> open;
  std::vector<int64_t> aborted;

  bool IsValid(int64_t id) const;    // VAL-1
  bool IsAborted(int64_t id) const;  // VAL-2
  bool IsOpen(int64_t id) const;
  int64_t MinOpen() const;                                       // kNothingOpen if none
  RangeAnswer RangeValidity(int64_t first, int64_t last) const;  // VAL-3 with VAL-4's correction
  RangeAnswer RangeAborted(int64_t first, int64_t last) const;   // VAL-5

  friend bool operator==(const ValidIds&, const ValidIds&) = default;
};

// The transactions that a snapshot sees: those of `ids`, 0 always.
//
// A list is never cut at its owner's id: `ids` is the state published by unit `seq`. `own` is
// the transaction that holds the snapshot (none for a snapshot outside any); it counts as valid for
// itself.
struct TxnSnapshot {
  CommitSeq seq;
  ValidIds ids;
  TxnId own;

  bool IsVisible(TxnId id) const;
  friend bool operator==(const TxnSnapshot&, const TxnSnapshot&) = default;
};

// How a list of write ids is read.
enum class SnapshotRole {
  kReader,
  kCompactor,  // V-8: high cut below the lowest open id; a range is ALL iff it ends at or below
               // high
  kCleaner,    // V-9: like a reader's, but a range that passes high is NONE
};

// The write ids of one table that a snapshot sees. 0 (rows that were there before the table became
// transactional) is always valid. `own` are the ids of the transaction that holds the snapshot:
// valid for itself, a field of their own, never in `ids.open` as given to that transaction.
struct WriteIdSnapshot {
  TableName table;  // display only: never compared
  TableId table_id;
  CommitSeq seq;
  ValidIds ids;
  std::vector<int64_t> own;  // ascending
  SnapshotRole role = SnapshotRole::kReader;

  bool IsValid(WriteId id) const;
  bool IsAborted(WriteId id) const;
  RangeAnswer RangeValidity(WriteId first, WriteId last) const;
  RangeAnswer RangeAborted(WriteId first, WriteId last) const;
  // V-5 / VAL-6: may a compacted base of this id be read.
  bool IsValidBase(WriteId base) const;
  // The compactor's view of this list (VAL-7): high = MinOpen − 1 if something is open, aborted ids
  // ≤ high.
  WriteIdSnapshot ForCompactor() const;

  friend bool operator==(const WriteIdSnapshot&, const WriteIdSnapshot&) = default;
};

// Everything on disk is visible: the list used where no list is given.
WriteIdSnapshot EverythingVisible();
TxnSnapshot AllTxnsVisible();

// ---- Hive's text forms (SER-1…SER-10) ----

// "HIGH:MIN_OPEN:OPEN,…:ABORTED,…". Runs of five or more ids of one state print as a-b. The own
// transaction is no exception (SNP-7).
std::string FormatTxnList(const TxnSnapshot& snapshot);
// Accepts ranges. MIN_OPEN is recomputed from OPEN; a text that contradicts itself (unordered, an
// id above HIGH, an id both open and aborted) is refused. Errors: kInvalidRequest naming the field
// and the id.
absl::StatusOr<TxnSnapshot> ParseTxnList(std::string_view text);

// "DB.T:HIGH:MIN_OPEN:OPEN,…:ABORTED,…". No ranges. Own write ids: the high mark is extended to the
// highest of them and the ids between are listed as open.
std::string FormatWriteIdList(const WriteIdSnapshot& snapshot);
absl::StatusOr<WriteIdSnapshot> ParseWriteIdList(std::string_view text);

}  // namespace skep

#pragma once

// Which directories of one table or partition a reader must open, and which nobody can need any
// more: the one implementation of S-1…S-11 that readers, initiator, worker, cleaner and inspection
// share. Pure.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/acid/names.h"
#include "storage/model/snapshot.h"

namespace skep::acid {

// One listed base or delta directory with the facts that its name does not hold.
struct AcidDir {
  AcidDirName name;
  // `_metadata_acid` of a base without visibility suffix: "compacted", "truncated", "dropped",
  // empty if the file is absent (H-6, H-7).
  std::string metadata;

  bool IsCompactedBase() const;  // H-7
};

// A top-level data file or one below an ordinary sub-directory, by its path relative to the table
// or partition.
struct OriginalFile {
  std::string relative_path;
  int64_t size = 0;
};

// One listing, classified (S-1). Built by storage/table from the filesystem, by hand in tests.
struct Listing {
  std::vector<AcidDir> dirs;  // any order: the result does not depend on it
  std::vector<OriginalFile> originals;
  std::vector<std::string> original_dirs;  // ordinary sub-directories, topmost component
};

// How the visibility transactions `_vN` of one table are judged: by the server's snapshot above the
// adopted bound, by the table's own adopted list at or below it.
struct Visibility {
  TxnSnapshot txns;
  TxnId adopted_bound;
  std::vector<int64_t> adopted_aborted;  // ascending

  enum class Answer { kVisible, kAborted, kInvisible };
  Answer Judge(TxnId visibility) const;
};

// kForeign: beside the layout, neither read nor ever removed.
enum class Verdict { kChosen, kObsolete, kAborted, kInvisible, kForeign };

struct Judged {
  std::string name;  // directory name, or relative path of an original
  Verdict verdict = Verdict::kInvisible;
  std::string
      because;  // one clause for people: "covered by base_0000009_v0000012", "write id 7 is open"
};

struct Selection {
  std::optional<AcidDir> base;
  std::vector<AcidDir> deltas;          // insert and delete deltas in the order of S-5
  std::vector<OriginalFile> originals;  // sorted by path (O-3)
  std::vector<std::string>
      obsolete;  // names of directories and originals covered by what was chosen
  std::vector<std::string> aborted;        // directories that hold nothing but aborted writes
  std::vector<int64_t> aborted_write_ids;  // of those, ascending
  bool mixes_aborted = false;              // some delta holds aborted and other ids (S-4.2)
  // Every directory and original, in name order, with the reason; of ordinary sub-directories union
  // legs alone: of others the files in them are judged one by one.
  std::vector<Judged> judged;
};

// Errors: kNotEnoughHistory (S-8) with metadata path, highWatermark, minOpen, base.
absl::StatusOr<Selection> SelectDirectories(const Listing& listing,
                                            const WriteIdSnapshot& write_ids,
                                            const Visibility& visibility);

// D-6 in Skep's form: must deletes of `delete_delta` be applied to rows of `dir`? (Base and
// originals: always.)
bool DeleteDeltaApplies(const AcidDirName& delete_delta, const AcidDirName& dir);

// Is a directory of this name and metadata decided to be in ACID format without opening a file
// (O-8, 1–3)?
bool IsAcidFormatByName(const AcidDir& dir);

}  // namespace skep::acid

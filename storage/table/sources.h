#pragma once

// From a selection to files: which data files of one table or partition hold events, with what a
// file that carries no row ids needs to give its rows theirs (O-2, O-6). Scans and compaction start
// here.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/acid/selection.h"
#include "storage/format/orc/reader.h"
#include "storage/fs/file_system.h"
#include "storage/model/hive_type.h"
#include "storage/model/snapshot.h"

namespace skep::table {

// Lists one table or partition directory, ordinary sub-directories as far as originals need them,
// and reads
// `_metadata_acid` where a base has no visibility suffix. Names that begin with '_' or '.' are left
// out (H-1). Errors: kMalformedDirectory (a name that looks like a delta and does not parse, an
// ACID directory below an ordinary one, something that is neither file nor directory);
// kNotEnoughHistory where entries go on going while they are looked at (D-14), a few times in a row;
// NOT_FOUND where the directory itself is absent.
absl::StatusOr<acid::Listing> ListDirectory(fs::FileSystem& fs, const std::string& dir);

// Names (k=v/k2=v2, as listed) of the leaf partition directories below a table with `levels`
// partition columns, in byte order; one empty name for 0 levels. Files above the leaves are
// ignored, as Hive does. Errors: kMalformedDirectory (a directory without '=', where a partition
// has to be); NOT_FOUND.
absl::StatusOr<std::vector<std::string>> ListPartitionDirectories(fs::FileSystem& fs,
                                                                  const std::string& table_dir,
                                                                  size_t levels);

struct SourceFile {
  std::string path;
  std::optional<acid::AcidDirName> dir;  // none: an original
  int32_t bucket = 0;
  // Set where rows carry no identity (originals, raw files): write id, bucket property and the row
  // id of the file's first row.
  struct Synthetic {
    int64_t write_id = 0;
    int32_t bucket_property = 0;
    int64_t first_row_id = 0;
  };
  std::optional<Synthetic> synthetic;
  std::optional<int64_t> logical_length;  // from a flush-length side file (H-9)
  // As CollectSources read it, for planning: rows, stripes, statistics. Shared by copies;
  // OpenSource reads its own and needs none.
  std::shared_ptr<const orc::Tail> tail;
};

struct BucketSources {
  std::vector<SourceFile> inserts;  // base, then deltas in selection order, or originals by path
  std::vector<SourceFile> deletes;
};

// By bucket number. Opens the tail of every file. Empty files (0 bytes, or a streaming file with
// nothing flushed) are left out, but in a delete delta are kCorruptFile (RW-7). Errors:
// kNotSupported for files that are not ORC and raw files where they may not be (O-9: insert-only
// tables are so); kLegacyLayout for Hive 2's update events as far as `hive.acid.stats` or trusted
// statistics of the operation column show them (OpenSource finds the others); kMalformedDirectory
// for raw and ACID files in one directory and originals whose name gives no bucket (O-5);
// kCorruptFile; kNotEnoughHistory for what is gone (D-14).
absl::StatusOr<std::map<int32_t, BucketSources>> CollectSources(fs::FileSystem& fs,
                                                                const std::string& dir,
                                                                const acid::Selection& selection);

// An opened source: batches whose ACID vectors are always filled. A file that is gone is
// kNotEnoughHistory (D-14); an event in the wrong bucket's file (D-5), out of order (RW-8) or of
// the wrong operation is kCorruptFile or kLegacyLayout (RW-3), naming file and row.
class SourceReader {
 public:
  virtual ~SourceReader() = default;
  virtual const orc::Tail& tail() const = 0;
  virtual const std::vector<Column>& columns() const = 0;
  virtual absl::StatusOr<std::unique_ptr<orc::Batch>> Next() = 0;
  virtual const orc::ReadCounters& counters() const = 0;
};

// False where every row of the file is visible by its directory alone: originals (O-7), bases
// (V-5: a chosen base has nothing but resolved rows, whatever the list says of their ids), deltas
// whose whole range is valid. Otherwise each row's current write id has to be valid (D-2).
bool RowsNeedCheck(const SourceFile& file, const WriteIdSnapshot& write_ids);

// The table's columns as the newest insert file (by write id) has them; an original's where there
// is no other. Empty where there is no file.
std::vector<Column> NewestColumns(const std::map<int32_t, BucketSources>& sources);
// The table's columns in a file of this tail: the fields of `row`, or of the root of a non-ACID
// file.
std::vector<Column> ColumnsOfTail(const orc::Tail& tail);

absl::StatusOr<std::unique_ptr<SourceReader>> OpenSource(fs::FileSystem& fs,
                                                         const SourceFile& file,
                                                         const orc::ReaderOptions& reader_options,
                                                         const orc::ReadOptions& read_options);

}  // namespace skep::table

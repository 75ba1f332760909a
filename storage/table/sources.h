#pragma once

// From a selection to files: which data files of one table or partition hold events, with what a file that
// carries no row ids needs to give its rows theirs (O-2, O-6). Scans and compaction start here.

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

namespace skep::table {

// Lists one table or partition directory, one level of sub-directories as far as originals need it, and
// reads `_metadata_acid` where a base has no visibility suffix.
// Errors: kMalformedDirectory; NOT_FOUND where the directory is absent.
absl::StatusOr<acid::Listing> ListDirectory(fs::FileSystem& fs, const std::string& dir);

// Names (k=v/k2=v2, as listed) of the leaf partition directories below a table with `levels` partition
// columns, in byte order. Errors: kMalformedDirectory (a component without '=', wrong depth).
absl::StatusOr<std::vector<std::string>> ListPartitionDirectories(fs::FileSystem& fs,
                                                                  const std::string& table_dir,
                                                                  size_t levels);

struct SourceFile {
  std::string path;
  std::optional<acid::AcidDirName> dir;  // none: an original
  int32_t bucket = 0;
  // Set where rows carry no identity (originals, raw files): write id, bucket property and the row id of the
  // file's first row.
  struct Synthetic {
    int64_t write_id = 0;
    int32_t bucket_property = 0;
    int64_t first_row_id = 0;
  };
  std::optional<Synthetic> synthetic;
  std::optional<int64_t> logical_length;  // from a flush-length side file (H-9)
};

struct BucketSources {
  std::vector<SourceFile> inserts;  // base, then deltas in selection order, or originals by path
  std::vector<SourceFile> deletes;
};

// By bucket number. Refuses what is not ORC, Hive 2's update events (kLegacyLayout), raw files where they may
// not be (O-9), file names that no rule explains where O-5 forbids them.
absl::StatusOr<std::map<int32_t, BucketSources>> CollectSources(fs::FileSystem& fs,
                                                                const std::string& dir,
                                                                const acid::Selection& selection);

// An opened source: batches whose ACID vectors are always filled. A file that is gone is kNotEnoughHistory
// (D-14); an event in the wrong bucket's file, out of order or of operation 1 is kCorruptFile or
// kLegacyLayout, naming file and row.
class SourceReader {
 public:
  virtual ~SourceReader() = default;
  virtual const orc::Tail& tail() const = 0;
  virtual const std::vector<Column>& columns() const = 0;
  virtual absl::StatusOr<std::unique_ptr<orc::Batch>> Next() = 0;
};
absl::StatusOr<std::unique_ptr<SourceReader>> OpenSource(fs::FileSystem& fs,
                                                         const SourceFile& file,
                                                         const orc::ReaderOptions& reader_options,
                                                         const orc::ReadOptions& read_options);

}  // namespace skep::table

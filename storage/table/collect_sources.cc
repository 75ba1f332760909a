#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/orc/acid_schema.h"
#include "storage/model/errors.h"
#include "storage/table/file_facts.h"
#include "storage/table/source_errors.h"
#include "storage/table/sources.h"

namespace skep::table {
namespace {

constexpr int kMaxDepth = 8;

// Visible files below an ACID directory, at any depth (N-10), as paths relative to it, in byte
// order.
absl::Status ListTree(fs::FileSystem& fs,
                      const std::string& dir,
                      const std::string& prefix,
                      int depth,
                      std::vector<std::string>* out) {
  if (depth > kMaxDepth)
    return MalformedError(dir, "lies too deep below its table: a loop of links?");
  auto entries = fs.List(dir);
  SKEP_RETURN_IF_ERROR(GoneIfNotFound(entries.status(), dir));
  for (const fs::DirEntry& entry : *entries) {
    if (acid::IsHiddenName(entry.name)) continue;
    const std::string path = fs::JoinPath(dir, entry.name);
    const std::string name = prefix.empty() ? entry.name : prefix + "/" + entry.name;
    if (entry.kind == fs::EntryKind::kFile) {
      out->push_back(name);
    } else if (entry.kind == fs::EntryKind::kDirectory) {
      SKEP_RETURN_IF_ERROR(ListTree(fs, path, name, depth + 1, out));
    } else {
      return MalformedError(path, "is neither a file nor a directory");
    }
  }
  return absl::OkStatus();
}

bool IsStreamingDelta(const acid::AcidDirName& dir) {
  return dir.kind == acid::DirKind::kDelta && dir.min_write_id != dir.max_write_id &&
         dir.visibility.is_none();
}

class Collector {
 public:
  Collector(fs::FileSystem& fs, std::string dir) : fs_(fs), dir_(std::move(dir)) {}

  absl::StatusOr<std::map<int32_t, BucketSources>> Run(const acid::Selection& selection) {
    SKEP_RETURN_IF_ERROR(AddOriginals(selection.originals));
    if (selection.base) SKEP_RETURN_IF_ERROR(AddAcidDirectory(*selection.base));
    for (const acid::AcidDir& delta : selection.deltas) {
      SKEP_RETURN_IF_ERROR(AddAcidDirectory(delta));
    }
    return std::move(buckets_);
  }

 private:
  // Row ids of rows that carry none run on through the files of one bucket in path order (O-2,
  // O-6).
  using RowCounts = std::map<int32_t, int64_t>;

  absl::Status AddOriginals(const std::vector<acid::OriginalFile>& originals) {
    RowCounts counts;
    for (const acid::OriginalFile& original : originals) {
      const std::string path = fs::JoinPath(dir_, original.relative_path);
      const acid::DataFileName name = acid::ParseFileName(fs::BaseName(original.relative_path));
      SKEP_ASSIGN_OR_RETURN(auto tail, ReadFileTail(fs_, path, std::nullopt));
      if (tail == nullptr) continue;
      SourceFile file{.path = path, .tail = tail};
      if (orc::HasAcidSchema(*tail)) {
        SKEP_RETURN_IF_ERROR(AddWithOwnIdentity(std::move(file)));
        continue;
      }
      if (name.kind != acid::FileKind::kOriginal) {
        return MalformedError(path,
                              "is not named as Hive names a data file (000001_0, 000001_0_copy_2): "
                              "its rows have no bucket, so no row ids");
      }
      SKEP_RETURN_IF_ERROR(AddSynthetic(std::move(file), name, 0, 0, &counts));
    }
    return absl::OkStatus();
  }

  absl::Status AddAcidDirectory(const acid::AcidDir& dir) {
    const std::string path = fs::JoinPath(dir_, dir.name.name);
    std::vector<std::string> files;
    SKEP_RETURN_IF_ERROR(ListTree(fs_, path, "", 0, &files));
    RowCounts counts;
    std::string acid_file;
    std::string raw_file;
    for (const std::string& relative : files) {
      const acid::DataFileName name = acid::ParseFileName(fs::BaseName(relative));
      if (name.kind != acid::FileKind::kBucket && name.kind != acid::FileKind::kOriginal) continue;
      SourceFile file{.path = fs::JoinPath(path, relative), .dir = dir.name};
      if (IsStreamingDelta(dir.name)) {
        SKEP_ASSIGN_OR_RETURN(file.logical_length, ReadFlushLength(fs_, file.path));
      }
      SKEP_ASSIGN_OR_RETURN(file.tail, ReadFileTail(fs_, file.path, file.logical_length));
      if (file.tail == nullptr) {
        SKEP_RETURN_IF_ERROR(CheckMayBeEmpty(file));
        continue;
      }
      const bool is_acid = orc::HasAcidSchema(*file.tail);
      (is_acid ? acid_file : raw_file) = file.path;
      if (!acid_file.empty() && !raw_file.empty()) {
        return MalformedError(
            raw_file,
            fmt::format("holds plain rows beside {}, which holds ACID events: all "
                        "files of a directory have one format",
                        Printable(acid_file)));
      }
      SKEP_RETURN_IF_ERROR(is_acid ? AddAcidFile(std::move(file), name)
                                   : AddRawFile(std::move(file), name, dir, &counts));
    }
    return absl::OkStatus();
  }

  // Inserts of none leave a file without bytes behind, deletes of none no file at all.
  static absl::Status CheckMayBeEmpty(const SourceFile& file) {
    if (file.dir->kind != acid::DirKind::kDeleteDelta) return absl::OkStatus();
    return CorruptError(file.path,
                        "a delete delta's file without a byte (RW-7): no writer leaves one, and "
                        "the rows that it deleted would come back; restore it from a backup");
  }

  absl::Status AddAcidFile(SourceFile file, const acid::DataFileName& name) {
    if (name.kind == acid::FileKind::kOriginal) return AddWithOwnIdentity(std::move(file));
    SKEP_RETURN_IF_ERROR(CheckNotLegacy(*file.tail, file.dir, file.path));
    SKEP_ASSIGN_OR_RETURN(file.bucket, BucketOfName(name, file.path));
    Place(std::move(file));
    return absl::OkStatus();
  }

  absl::Status AddRawFile(SourceFile file,
                          const acid::DataFileName& name,
                          const acid::AcidDir& dir,
                          RowCounts* counts) {
    if (name.kind == acid::FileKind::kBucket) {
      return CorruptError(file.path,
                          "has neither the six ACID columns nor hive.acid.version: not a file of a "
                          "full-ACID table (RW-2)");
    }
    const bool one_write_id = dir.name.min_write_id == dir.name.max_write_id;
    if (acid::IsAcidFormatByName(dir) || !one_write_id) {
      return MakeError(
          ErrorReason::kNotSupported,
          fmt::format("{} holds plain rows where a full-ACID table has ACID events only (O-9). It "
                      "looks like a compacted insert-only table: reading those comes with a later "
                      "release",
                      Printable(file.path)),
          {{"path", file.path}, {"what", "insert-only table"}});
    }
    return AddSynthetic(
        std::move(file), name, dir.name.min_write_id, dir.name.statement.value_or(0), counts);
  }

  absl::Status AddSynthetic(SourceFile file,
                            const acid::DataFileName& name,
                            int64_t write_id,
                            int32_t statement,
                            RowCounts* counts) {
    SKEP_ASSIGN_OR_RETURN(file.bucket, BucketOfName(name, file.path));
    if (!acid::IsEncodableBucket(file.bucket, statement)) {
      return MalformedError(
          file.path,
          fmt::format(
              "has plain rows of statement {}, and row ids have room for statements up to {}",
              statement,
              acid::kMaxStatements - 1));
    }
    int64_t& rows = (*counts)[file.bucket];
    file.synthetic =
        SourceFile::Synthetic{.write_id = write_id,
                              .bucket_property = acid::EncodeBucket(file.bucket, statement),
                              .first_row_id = rows};
    rows += static_cast<int64_t>(file.tail->rows);
    Place(std::move(file));
    return absl::OkStatus();
  }

  // An ACID file under a name of originals says nothing of its bucket: its rows do.
  absl::Status AddWithOwnIdentity(SourceFile file) {
    SKEP_RETURN_IF_ERROR(CheckNotLegacy(*file.tail, file.dir, file.path));
    auto opened = fs_.OpenForRead(file.path);
    SKEP_RETURN_IF_ERROR(GoneIfNotFound(opened.status(), file.path));
    SKEP_ASSIGN_OR_RETURN(auto reader, orc::OpenReader(*std::move(opened), orc::ReaderOptions{}));
    SKEP_ASSIGN_OR_RETURN(
        auto stream,
        reader->Read({.columns = std::vector<std::string>(), .stripes = {}, .batch_rows = 1}));
    SKEP_ASSIGN_OR_RETURN(const auto first, stream->Next());
    if (first == nullptr || first->length == 0) return absl::OkStatus();
    absl::StatusOr<acid::BucketProperty> bucket = acid::DecodeBucket(first->bucket.front());
    if (!bucket.ok()) return Annotate(bucket.status(), Printable(file.path));
    file.bucket = bucket->bucket;
    Place(std::move(file));
    return absl::OkStatus();
  }

  static absl::StatusOr<int32_t> BucketOfName(const acid::DataFileName& name,
                                              const std::string& path) {
    if (name.bucket < 0 || name.bucket >= acid::kMaxBuckets) {
      return MalformedError(path,
                            fmt::format("has a bucket number outside 0…{}", acid::kMaxBuckets - 1));
    }
    return static_cast<int32_t>(name.bucket);
  }

  void Place(SourceFile file) {
    BucketSources& bucket = buckets_[file.bucket];
    const bool deletes = file.dir && file.dir->kind == acid::DirKind::kDeleteDelta;
    (deletes ? bucket.deletes : bucket.inserts).push_back(std::move(file));
  }

  fs::FileSystem& fs_;
  const std::string dir_;
  std::map<int32_t, BucketSources> buckets_;
};

}  // namespace

absl::StatusOr<std::map<int32_t, BucketSources>> CollectSources(fs::FileSystem& fs,
                                                                const std::string& dir,
                                                                const acid::Selection& selection) {
  return Collector(fs, dir).Run(selection);
}

bool RowsNeedCheck(const SourceFile& file, const WriteIdSnapshot& write_ids) {
  if (!file.dir || file.dir->kind == acid::DirKind::kBase) return false;
  return write_ids.RangeValidity(WriteId(file.dir->min_write_id),
                                 WriteId(file.dir->max_write_id)) != RangeAnswer::kAll;
}

std::vector<Column> ColumnsOfTail(const orc::Tail& tail) {
  const HiveType* root = &tail.root;
  if (orc::HasAcidSchema(tail)) root = &tail.root.children[orc::kRowField];
  if (root->kind != TypeKind::kStruct)
    return {Column{.name = "value", .type = *root, .comment = ""}};
  std::vector<Column> columns;
  for (size_t i = 0; i < root->children.size(); ++i) {
    columns.push_back({AsciiLower(root->field_names[i]), root->children[i], ""});
  }
  return columns;
}

std::vector<Column> NewestColumns(const std::map<int32_t, BucketSources>& sources) {
  const SourceFile* newest = nullptr;
  int64_t newest_id = 0;
  for (const auto& [bucket, files] : sources) {
    for (const SourceFile& file : files.inserts) {
      if (file.tail == nullptr) continue;
      const int64_t id = file.dir ? file.dir->max_write_id : acid::kOldestBase;
      if (newest == nullptr || id > newest_id) {
        newest = &file;
        newest_id = id;
      }
    }
  }
  if (newest == nullptr) return {};
  return ColumnsOfTail(*newest->tail);
}

}  // namespace skep::table

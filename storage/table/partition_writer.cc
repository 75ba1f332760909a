#include "storage/table/partition_writer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <arrow/api.h>
#include <fmt/format.h>

#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::table {
namespace {

constexpr int32_t kInsert = 0;
constexpr int32_t kDelete = 2;
// An unbucketed table has as many buckets as a statement has writers: one here (P-7).
constexpr int32_t kWriterBucket = 0;
constexpr size_t kDeletesPerBatch = 65536;
constexpr std::string_view kAcidVersion = "2";

void AddSummary(const orc::FileSummary& file, WriteSummary* summary) {
  summary->inserted += file.stats.inserts;
  summary->deleted += file.stats.deletes;
  summary->bytes += file.bytes;
  ++summary->files;
}

}  // namespace

PartitionWriter::PartitionWriter(fs::FileSystem& fs, Spec spec) : fs_(fs), spec_(std::move(spec)) {}

PartitionWriter::~PartitionWriter() {
  inserts_.reset();
  for (const std::string& directory : made_) {
    const absl::Status removed = fs_.RemoveTree(directory);
    // What stays belongs to an aborted write id: readers ignore it, the cleaner removes it (W-12).
    if (!removed.ok()) {
      Log(LogLevel::kWarn, "write.leave", {{"path", directory}, {"error", MessageOf(removed)}});
    }
  }
}

absl::StatusOr<std::string> PartitionWriter::MakeDirectory(acid::DirKind kind) {
  const std::string path =
      fs::JoinPath(spec_.directory,
                   acid::DeltaDirName(kind, spec_.write_id, spec_.write_id, spec_.statement_id));
  const auto there = fs_.Stat(path);
  if (there.ok()) {
    return MakeError(
        ErrorReason::kAlreadyExists,
        fmt::format("{} is there already: a statement id is used once (W-2)", Printable(path)),
        {{"name", path}});
  }
  if (!absl::IsNotFound(there.status())) return there.status();
  SKEP_RETURN_IF_ERROR(fs_.CreateDirectories(path));
  made_.push_back(path);
  return path;
}

absl::Status PartitionWriter::Insert(const std::shared_ptr<arrow::RecordBatch>& rows) {
  if (rows->num_rows() == 0) return absl::OkStatus();
  if (inserts_ == nullptr) {
    SKEP_ASSIGN_OR_RETURN(delta_, MakeDirectory(acid::DirKind::kDelta));
    SKEP_ASSIGN_OR_RETURN(
        inserts_,
        orc::CreateAcidWriter(fs_,
                              fs::JoinPath(delta_, acid::BucketFileName(kWriterBucket)),
                              spec_.columns,
                              spec_.orc));
  }
  const size_t count = static_cast<size_t>(rows->num_rows());
  orc::Batch batch;
  batch.length = rows->num_rows();
  batch.rows = rows;
  batch.operation.assign(count, kInsert);
  batch.original_write_id.assign(count, spec_.write_id.value());
  batch.current_write_id.assign(count, spec_.write_id.value());
  batch.bucket.assign(count, acid::EncodeBucket(kWriterBucket, spec_.statement_id));
  batch.row_id.resize(count);
  std::iota(batch.row_id.begin(), batch.row_id.end(), next_row_id_);
  SKEP_RETURN_IF_ERROR(inserts_->Append(batch));
  next_row_id_ += rows->num_rows();
  return absl::OkStatus();
}

absl::Status PartitionWriter::Delete(const RowIds& victims) {
  for (size_t i = 0; i < victims.size(); ++i) {
    const orc::AcidKey key{victims.write_id[i], victims.bucket[i], victims.row_id[i]};
    const auto decoded = acid::DecodeBucket(key.bucket);
    const bool possible = decoded.ok() && decoded->bucket < acid::kMaxBuckets &&
                          key.original_write_id >= 0 && key.row_id >= 0;
    if (!possible) {
      return MakeError(ErrorReason::kInvalidRequest,
                       fmt::format("({},{},{}) is not a row id: give it as the reader showed it",
                                   key.original_write_id,
                                   key.bucket,
                                   key.row_id),
                       {{"field", "row_id"}});
    }
    victims_.push_back(key);
  }
  return absl::OkStatus();
}

absl::Status PartitionWriter::Close(WriteSummary* summary) {
  if (inserts_ != nullptr) {
    SKEP_ASSIGN_OR_RETURN(const orc::FileSummary file, inserts_->Close());
    inserts_.reset();
    AddSummary(file, summary);
    SKEP_RETURN_IF_ERROR(Seal(delta_));
  }
  return WriteDeletes(summary);
}

absl::Status PartitionWriter::WriteDeletes(WriteSummary* summary) {
  if (victims_.empty()) return absl::OkStatus();
  std::sort(victims_.begin(), victims_.end());
  const auto twice = std::adjacent_find(victims_.begin(), victims_.end());
  if (twice != victims_.end()) {
    return MakeError(ErrorReason::kInvalidRequest,
                     fmt::format("row ({},{},{}) is named twice in one statement (W-7)",
                                 twice->original_write_id,
                                 twice->bucket,
                                 twice->row_id),
                     {{"field", "row_id"}});
  }
  // The file is the victim's bucket, whoever deletes it (W-6).
  std::map<int32_t, std::vector<orc::AcidKey>> by_bucket;
  for (const orc::AcidKey& key : victims_) {
    SKEP_ASSIGN_OR_RETURN(const acid::BucketProperty property, acid::DecodeBucket(key.bucket));
    by_bucket[property.bucket].push_back(key);
  }
  SKEP_ASSIGN_OR_RETURN(const std::string directory, MakeDirectory(acid::DirKind::kDeleteDelta));
  for (const auto& [bucket, keys] : by_bucket) {
    SKEP_RETURN_IF_ERROR(WriteDeletesOfBucket(directory, bucket, keys, summary));
  }
  return Seal(directory);
}

absl::Status PartitionWriter::WriteDeletesOfBucket(const std::string& directory,
                                                   int32_t bucket,
                                                   const std::vector<orc::AcidKey>& keys,
                                                   WriteSummary* summary) {
  SKEP_ASSIGN_OR_RETURN(
      auto writer,
      orc::CreateAcidWriter(
          fs_, fs::JoinPath(directory, acid::BucketFileName(bucket)), spec_.columns, spec_.orc));
  for (size_t first = 0; first < keys.size(); first += kDeletesPerBatch) {
    const size_t count = std::min(kDeletesPerBatch, keys.size() - first);
    orc::Batch batch;
    batch.length = static_cast<int64_t>(count);
    batch.operation.assign(count, kDelete);
    batch.current_write_id.assign(count, spec_.write_id.value());
    for (size_t i = first; i < first + count; ++i) {
      batch.original_write_id.push_back(keys[i].original_write_id);
      batch.bucket.push_back(keys[i].bucket);
      batch.row_id.push_back(keys[i].row_id);
    }
    SKEP_RETURN_IF_ERROR(writer->Append(batch));
  }
  SKEP_ASSIGN_OR_RETURN(const orc::FileSummary file, writer->Close());
  AddSummary(file, summary);
  return absl::OkStatus();
}

absl::Status PartitionWriter::Seal(const std::string& directory) {
  SKEP_RETURN_IF_ERROR(fs_.SyncDirectory(directory));
  return fs::WriteSmallFile(fs_, fs::JoinPath(directory, acid::kAcidVersionFile), kAcidVersion);
}

}  // namespace skep::table

#include "storage/table/file_facts.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/table/source_errors.h"

namespace skep::table {
namespace {

constexpr std::string_view kOrcMagic = "ORC";
constexpr int64_t kLengthBytes = 8;
constexpr size_t kOperationColumn = 1;

absl::StatusOr<bool> BeginsLikeOrc(const fs::RandomAccessFile& file) {
  std::array<char, kOrcMagic.size()> head{};
  if (file.size() < static_cast<int64_t>(head.size())) return false;
  SKEP_RETURN_IF_ERROR(file.ReadAt(0, head.size(), head.data()));
  return std::string_view(head.data(), head.size()) == kOrcMagic;
}

}  // namespace

absl::StatusOr<std::optional<int64_t>> ReadFlushLength(fs::FileSystem& fs,
                                                       const std::string& data_file) {
  const std::string path = acid::FlushLengthFileName(data_file);
  auto file = fs.OpenForRead(path);
  // Removed since the listing: the batch was closed, and the file is whole.
  if (absl::IsNotFound(file.status())) return std::nullopt;
  SKEP_RETURN_IF_ERROR(file.status());
  const int64_t complete = (*file)->size() / kLengthBytes;
  if (complete == 0) {
    return CorruptError(path, "a flush-length file of fewer than 8 bytes says nothing");
  }
  std::array<unsigned char, kLengthBytes> bytes{};
  SKEP_RETURN_IF_ERROR((*file)->ReadAt((complete - 1) * kLengthBytes, kLengthBytes, bytes.data()));
  uint64_t length = 0;
  for (unsigned char byte : bytes) length = (length << 8) | byte;
  if (length > static_cast<uint64_t>(INT64_MAX)) {
    return CorruptError(path, "the last flush length is negative");
  }
  return static_cast<int64_t>(length);
}

absl::StatusOr<std::shared_ptr<const orc::Tail>> ReadFileTail(
    fs::FileSystem& fs, const std::string& path, std::optional<int64_t> logical_length) {
  auto file = fs.OpenForRead(path);
  SKEP_RETURN_IF_ERROR(GoneIfNotFound(file.status(), path));
  const int64_t length = logical_length.value_or((*file)->size());
  if (length == 0) return nullptr;
  if (length > (*file)->size()) {
    return CorruptError(
        path,
        fmt::format(
            "{} bytes were flushed by its side file, but it ends at {}", length, (*file)->size()));
  }
  SKEP_ASSIGN_OR_RETURN(const bool is_orc, BeginsLikeOrc(**file));
  if (!is_orc) {
    return MakeError(ErrorReason::kNotSupported,
                     fmt::format("{} is not an ORC file: full-ACID tables hold ORC; reading "
                                 "insert-only tables of other formats comes with a later release",
                                 Printable(path)),
                     {{"path", path}, {"what", "format"}});
  }
  absl::StatusOr<orc::Tail> tail = orc::ReadTail(**file, length);
  SKEP_RETURN_IF_ERROR(tail.status());
  return std::make_shared<const orc::Tail>(*std::move(tail));
}

absl::Status CheckNotLegacy(const orc::Tail& tail,
                            const std::optional<acid::AcidDirName>& dir,
                            const std::string& path) {
  const bool deletes_belong = dir && dir->kind == acid::DirKind::kDeleteDelta;
  if (const auto stats = orc::AcidStatsOf(tail)) {
    if (stats->updates > 0) return LegacyError(path, "update events (operation 1)");
    if (stats->deletes > 0 && !deletes_belong) {
      return LegacyError(path, "delete events (operation 2) among its inserts");
    }
    return absl::OkStatus();
  }
  if (!tail.StatisticsTrusted() || tail.file_statistics.size() <= kOperationColumn) {
    return absl::OkStatus();
  }
  const orc::ColumnStatistics& operation = tail.file_statistics[kOperationColumn];
  if (!deletes_belong && operation.int_max.value_or(0) > 0) {
    return LegacyError(path, fmt::format("events of operation {}", *operation.int_max));
  }
  if (deletes_belong && operation.int_min == 1) {
    return LegacyError(path, "update events (operation 1)");
  }
  return absl::OkStatus();
}

}  // namespace skep::table

#include "storage/format/orc/column_writer.h"

#include <algorithm>

#include <arrow/util/bit_run_reader.h>
#include <arrow/util/bitmap_ops.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/statistics.h"

namespace skep::orc {

ColumnWriter::ColumnWriter(const ColumnContext& context, uint32_t column)
    : context_(context), column_(column), present_(context.compressor, context.block_size) {
  statistics_.set_number_of_values(0);
  statistics_.set_has_null(false);
}

void ColumnWriter::EnableBloom() {
  if (context_.bloom_rows == 0) return;
  bloom_ = std::make_unique<BloomFilter>(context_.bloom_rows, context_.bloom_false_positives);
}

absl::Status ColumnWriter::Append(const arrow::ArrayData& data, int64_t from, int64_t count) {
  if (count == 0) return absl::OkStatus();
  const uint8_t* const bitmap =
      data.buffers.empty() || data.buffers[0] == nullptr ? nullptr : data.buffers[0]->data();
  const int64_t first = data.offset + from;
  const int64_t valid =
      bitmap == nullptr ? count : arrow::internal::CountSetBits(bitmap, first, count);
  if (valid == count) {
    NotePresent(count);
    return AppendValid(data, from, count);
  }
  present_.Add(bitmap, first, count);
  values_ += valid;
  stripe_has_null_ = group_has_null_ = true;
  for (const auto& child : children_) child->NoteNullParent();
  if (valid == 0) return absl::OkStatus();
  arrow::internal::SetBitRunReader runs(bitmap, first, count);
  for (auto run = runs.NextRun(); run.length > 0; run = runs.NextRun()) {
    SKEP_RETURN_IF_ERROR(AppendValid(data, from + run.position, run.length));
  }
  return absl::OkStatus();
}

void ColumnWriter::AppendNulls(int64_t count) {
  if (count == 0) return;
  present_.AddRun(false, count);
  stripe_has_null_ = group_has_null_ = true;
  for (const auto& child : children_) child->NoteNullParent();
}

void ColumnWriter::NoteNullParent() {
  group_has_null_ = true;
  for (const auto& child : children_) child->NoteNullParent();
}

void ColumnWriter::StartGroup() {
  groups_.emplace_back();
  StartOfGroup();
  present_.AddPosition(&groups_.back().positions);
  AddPositions(&groups_.back().positions);
  for (const auto& child : children_) child->StartGroup();
}

void ColumnWriter::EndGroup() {
  FinishedGroup& group = groups_.back();
  group.statistics.set_number_of_values(static_cast<uint64_t>(values_));
  group.statistics.set_has_null(group_has_null_);
  if (values_ > 0) TakeStatistics(&group.statistics);
  Merge(group.statistics, &statistics_);
  if (bloom_ != nullptr) {
    group.bloom = bloom_->bits();
    bloom_->Clear();
  }
  values_ = 0;
  group_has_null_ = false;
  for (const auto& child : children_) child->EndGroup();
}

absl::Status ColumnWriter::Finish() {
  SKEP_RETURN_IF_ERROR(FinishStreams());
  SKEP_RETURN_IF_ERROR(present_.Finish());
  if (!stripe_has_null_) {
    // PRESENT is left out, and with it its numbers in every entry (TY-2).
    const std::ptrdiff_t numbers = context_.compressor->compression() == Compression::kNone ? 3 : 4;
    for (FinishedGroup& group : groups_) {
      group.positions.erase(group.positions.begin(), group.positions.begin() + numbers);
    }
  }
  uint64_t bytes = 0;
  for (const FinishedStream& stream : Streams()) bytes += stream.stream->length();
  statistics_.set_bytes_on_disk(bytes);
  for (const auto& child : children_) SKEP_RETURN_IF_ERROR(child->Finish());
  return absl::OkStatus();
}

std::vector<FinishedStream> ColumnWriter::Streams() const {
  std::vector<FinishedStream> streams;
  if (stripe_has_null_) streams.push_back({StreamKind::kPresent, &present_.stream()});
  AddStreams(&streams);
  // Java's order: by the number of the kind (FA-8).
  std::stable_sort(
      streams.begin(), streams.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
  return streams;
}

void ColumnWriter::Clear() {
  present_.Clear();
  ClearStreams();
  groups_.clear();
  stripe_has_null_ = false;
  statistics_.Clear();
  statistics_.set_number_of_values(0);
  statistics_.set_has_null(false);
  for (const auto& child : children_) child->Clear();
}

uint64_t ColumnWriter::size() const {
  // An entry of the index is a message of some hundred bytes while it is in memory.
  constexpr uint64_t kEntryBytes = 400;
  uint64_t bytes = StreamBytes() + groups_.size() * kEntryBytes;
  if (stripe_has_null_) bytes += present_.size();
  if (bloom_ != nullptr) bytes += groups_.size() * bloom_->bits().size();
  for (const auto& child : children_) bytes += child->size();
  return bytes;
}

}  // namespace skep::orc

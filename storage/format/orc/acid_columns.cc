#include "storage/format/orc/acid_columns.h"

#include <algorithm>

#include "storage/base/status_macros.h"
#include "storage/format/orc/spread.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

constexpr size_t kOperation = 0, kOriginal = 1, kBucket = 2, kRowId = 3, kCurrent = 4;

void Take(IntRun* run, size_t count) {
  run->first = static_cast<int64_t>(static_cast<uint64_t>(run->first) +
                                    static_cast<uint64_t>(run->step) * count);
  run->count -= count;
}

int64_t Minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// Whether `next` goes on as `run` does; a single row has any step.
bool Continues(const AcidRun& run, const AcidRun& next) {
  if (run.operation != next.operation || run.original_write_id != next.original_write_id ||
      run.bucket != next.bucket || run.current_write_id != next.current_write_id) {
    return false;
  }
  const int64_t step = Minus(next.row_id, run.LastRowId());
  return (run.length == 1 || step == run.row_id_step) &&
         (next.length == 1 || step == next.row_id_step);
}

}  // namespace

AcidColumns::AcidColumns(StripeSource& source) : source_(&source) {
  const TypeNode& root = source.tail().types[0];
  for (size_t i = 0; i < columns_.size(); ++i) {
    ColumnState& column = columns_[i];
    column.node.column = root.subtypes[i];
    column.node.name = kAcidFields[i].name;
    column.node.type = source.tail().types[column.node.column].type;
    column.has_present = source.StreamLength(column.node.column, StreamKind::kPresent) > 0;
    column.present = BitDecoder(source.Open(column.node, StreamKind::kPresent));
    column.values = IntDecoder(source.Open(column.node, StreamKind::kData),
                               source.encoding(column.node.column).is_v2(),
                               Signedness::kSigned);
  }
}

absl::Status AcidColumns::CheckPresence(int64_t count) {
  std::vector<uint8_t> bits;
  for (ColumnState& column : columns_) {
    if (!column.has_present) continue;
    bits.resize(static_cast<size_t>(BitmapBytes(count)));
    SKEP_RETURN_IF_ERROR(column.present.Next(bits.data(), static_cast<size_t>(count)));
    if (CountBits(bits.data(), count) == count) continue;
    return MakeError(ErrorReason::kCorruptFile,
                     source_->path() + ": null in the ACID field " + column.node.name,
                     {{"path", source_->path()}, {"column", column.node.name}});
  }
  return absl::OkStatus();
}

template <class T>
absl::Status AcidColumns::Fill(ColumnState& column, int64_t count, std::vector<T>* out) {
  out->resize(static_cast<size_t>(count));
  T* at = out->data();
  auto left = static_cast<size_t>(count);
  while (column.run.count > 0 && left > 0) {
    *at++ = static_cast<T>(column.run.first);
    Take(&column.run, 1);
    --left;
  }
  return column.values.Next(at, left);
}

absl::Status AcidColumns::ReadValues(int64_t count, Batch* batch) {
  batch->runs.clear();
  SKEP_RETURN_IF_ERROR(CheckPresence(count));
  SKEP_RETURN_IF_ERROR(Fill(columns_[kOperation], count, &batch->operation));
  SKEP_RETURN_IF_ERROR(Fill(columns_[kOriginal], count, &batch->original_write_id));
  SKEP_RETURN_IF_ERROR(Fill(columns_[kBucket], count, &batch->bucket));
  SKEP_RETURN_IF_ERROR(Fill(columns_[kRowId], count, &batch->row_id));
  return Fill(columns_[kCurrent], count, &batch->current_write_id);
}

absl::Status AcidColumns::ReadRuns(int64_t count, Batch* batch) {
  batch->runs.clear();
  batch->operation.clear();
  batch->original_write_id.clear();
  batch->bucket.clear();
  batch->row_id.clear();
  batch->current_write_id.clear();
  SKEP_RETURN_IF_ERROR(CheckPresence(count));
  for (int64_t done = 0; done < count;) {
    auto take = static_cast<size_t>(count - done);
    for (ColumnState& column : columns_) {
      if (column.run.count == 0) {
        SKEP_ASSIGN_OR_RETURN(column.run, column.values.NextRun(SIZE_MAX));
      }
      // Only row ids may count; what else does is taken row by row.
      const bool counts = column.run.step != 0 && &column != &columns_[kRowId];
      take = std::min(take, counts ? size_t{1} : column.run.count);
    }
    AcidRun next;
    next.length = static_cast<int64_t>(take);
    next.operation = static_cast<int32_t>(columns_[kOperation].run.first);
    next.original_write_id = columns_[kOriginal].run.first;
    next.bucket = static_cast<int32_t>(columns_[kBucket].run.first);
    next.row_id = columns_[kRowId].run.first;
    next.row_id_step = take > 1 ? columns_[kRowId].run.step : 0;
    next.current_write_id = columns_[kCurrent].run.first;
    for (ColumnState& column : columns_) Take(&column.run, take);
    done += next.length;
    if (!batch->runs.empty() && Continues(batch->runs.back(), next)) {
      AcidRun& last = batch->runs.back();
      if (last.length == 1) last.row_id_step = Minus(next.row_id, last.row_id);
      last.length += next.length;
    } else {
      batch->runs.push_back(next);
    }
  }
  return absl::OkStatus();
}

absl::Status AcidColumns::Skip(uint64_t count) {
  for (ColumnState& column : columns_) {
    if (column.has_present) SKEP_RETURN_IF_ERROR(column.present.Skip(count).status());
    const uint64_t kept = std::min<uint64_t>(count, column.run.count);
    Take(&column.run, static_cast<size_t>(kept));
    SKEP_RETURN_IF_ERROR(column.values.Skip(count - kept));
  }
  return absl::OkStatus();
}

std::vector<PlanNode> AcidColumns::nodes() const {
  std::vector<PlanNode> nodes;
  for (const ColumnState& column : columns_) nodes.push_back(column.node);
  return nodes;
}

bool AcidColumns::Fits(const StripeIndexes& indexes) const {
  const bool compressed = source_->tail().compression != Compression::kNone;
  return std::all_of(columns_.begin(), columns_.end(), [&](const ColumnState& column) {
    const auto groups = indexes.find(column.node.column);
    if (groups == indexes.end()) return false;
    const size_t expected = PositionCursor::OfRuns(compressed) +
                            (column.has_present ? PositionCursor::OfBits(compressed) : 0);
    return std::all_of(groups->second.begin(), groups->second.end(), [&](const RowGroup& group) {
      return group.positions.size() == expected;
    });
  });
}

absl::Status AcidColumns::Seek(const StripeIndexes& indexes, size_t group) {
  const bool compressed = source_->tail().compression != Compression::kNone;
  for (ColumnState& column : columns_) {
    PositionCursor positions(indexes.at(column.node.column)[group].positions, compressed);
    column.run = IntRun();
    if (column.has_present) {
      const ByteStream::Position position = positions.Bytes();
      const uint64_t bytes = positions.Number();
      SKEP_RETURN_IF_ERROR(column.present.Seek(position, bytes, positions.Number()));
    }
    const ByteStream::Position position = positions.Bytes();
    SKEP_RETURN_IF_ERROR(column.values.Seek(position, positions.Number()));
  }
  return absl::OkStatus();
}

}  // namespace skep::orc

#include "storage/format/orc/column_reader.h"

#include <utility>

#include <arrow/type.h>

#include "storage/base/status_macros.h"
#include "storage/format/arrow_status.h"
#include "storage/format/orc/spread.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"

namespace skep::orc {

ColumnReader::ColumnReader(StripeSource& source, const PlanNode& node)
    : source_(&source),
      node_(node),
      type_(format::ArrowTypeOf(node.type)),
      has_present_(source.StreamLength(node.column, StreamKind::kPresent) > 0),
      present_(source.Open(node, StreamKind::kPresent)) {}

ColumnReaderOr ColumnReader::Make(StripeSource& source, const PlanNode& node) {
  const EncodingKind encoding = source.encoding(node.column).kind;
  const bool is_text = node.type.kind == TypeKind::kString || node.type.kind == TypeKind::kChar ||
                       node.type.kind == TypeKind::kVarchar;
  if (!is_text &&
      (encoding == EncodingKind::kDictionary || encoding == EncodingKind::kDictionaryV2)) {
    return MakeError(
        ErrorReason::kCorruptFile,
        source.path() + ": column " + node.name + ": a dictionary for " + node.type.ToString(),
        {{"path", source.path()}, {"column", node.name}});
  }
  switch (node.type.kind) {
    case TypeKind::kString:
    case TypeKind::kChar:
    case TypeKind::kVarchar:
    case TypeKind::kBinary:
      return MakeTextReader(source, node);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      return MakeTimestampReader(source, node);
    case TypeKind::kDecimal:
      return MakeDecimalReader(source, node);
    case TypeKind::kList:
    case TypeKind::kMap:
    case TypeKind::kStruct:
    case TypeKind::kUnion:
      return MakeNestedReader(source, node);
    default:
      return MakeNumberReader(source, node);
  }
}

IntDecoder ColumnReader::OpenInts(StreamKind kind, Signedness signedness) const {
  return IntDecoder(
      source_->Open(node_, kind), source_->encoding(node_.column).is_v2(), signedness);
}

absl::Status ColumnReader::Refuse(std::string_view what) const {
  return MakeError(ErrorReason::kValueOutOfRange,
                   source_->path() + ": column " + node_.name + ": " + std::string(what),
                   {{"path", source_->path()}, {"column", node_.name}});
}

absl::Status ColumnReader::Damaged(std::string_view what) const {
  return MakeError(ErrorReason::kCorruptFile,
                   source_->path() + ": column " + node_.name + ": " + std::string(what),
                   {{"path", source_->path()}, {"column", node_.name}});
}

absl::StatusOr<std::shared_ptr<arrow::Buffer>> ColumnReader::NewBuffer(int64_t bytes) const {
  bytes += static_cast<int64_t>(ByteStream::kSlack);
  if (!source_->budget().Take(static_cast<uint64_t>(bytes))) {
    return MakeError(ErrorReason::kNotSupported,
                     source_->path() + ": column " + node_.name + ": a row of more than a gigabyte",
                     {{"path", source_->path()}, {"column", node_.name}, {"what", "row size"}});
  }
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<arrow::Buffer> buffer,
                        format::FromArrow(arrow::AllocateBuffer(bytes)));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

absl::Status ColumnReader::Grow(std::vector<int64_t>* scratch, int64_t count) const {
  const auto size = static_cast<size_t>(count);
  if (scratch->size() >= size) return absl::OkStatus();
  if (!source_->budget().Take(size * sizeof(int64_t))) return NewBuffer(0).status();
  scratch->resize(size);
  return absl::OkStatus();
}

ColumnReader::Data ColumnReader::Array(const Slots& slots,
                                       std::vector<std::shared_ptr<arrow::Buffer>> buffers,
                                       std::vector<Data> children) const {
  buffers.insert(buffers.begin(), slots.valid);
  return arrow::ArrayData::Make(
      type_, slots.length, std::move(buffers), std::move(children), slots.null_count());
}

// A column without PRESENT has values wherever its parent has.
absl::StatusOr<Slots> ColumnReader::ReadPresence(const Slots& parent) {
  if (!has_present_ || parent.count == 0) return parent;
  SKEP_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> bits, NewBuffer(BitmapBytes(parent.count)));
  SKEP_RETURN_IF_ERROR(present_.Next(bits->mutable_data(), static_cast<size_t>(parent.count)));
  const int64_t count = CountBits(bits->data(), parent.count);
  if (count == parent.count) return parent;
  if (parent.valid != nullptr) {
    SKEP_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> spread,
                          NewBuffer(BitmapBytes(parent.length)));
    SpreadBits(bits->data(), parent.bits(), parent.length, spread->mutable_data());
    bits = std::move(spread);
  }
  return Slots{parent.length, count, std::move(bits)};
}

absl::StatusOr<ColumnReader::Data> ColumnReader::Read(const Slots& parent) {
  SKEP_ASSIGN_OR_RETURN(const Slots slots, ReadPresence(parent));
  return ReadValues(slots);
}

absl::Status ColumnReader::Skip(uint64_t count) {
  if (has_present_) {
    SKEP_ASSIGN_OR_RETURN(count, present_.Skip(count));
  }
  return count == 0 ? absl::OkStatus() : SkipValues(count);
}

// TY-2: where the stripe has no PRESENT stream, its numbers are gone from the entries.
bool ColumnReader::Fits(const StripeIndexes& indexes) const {
  const auto groups = indexes.find(node_.column);
  if (groups == indexes.end()) return false;
  const size_t expected =
      PositionCount() + (has_present_ ? PositionCursor::OfBits(compressed()) : 0);
  for (const RowGroup& group : groups->second) {
    if (group.positions.size() != expected) return false;
  }
  for (const auto& child : children()) {
    if (!child->Fits(indexes)) return false;
  }
  return true;
}

absl::Status ColumnReader::Seek(const StripeIndexes& indexes, size_t group) {
  PositionCursor positions(indexes.at(node_.column)[group].positions, compressed());
  if (has_present_) {
    const ByteStream::Position position = positions.Bytes();
    const uint64_t bytes = positions.Number();
    const uint64_t bits = positions.Number();
    SKEP_RETURN_IF_ERROR(present_.Seek(position, bytes, bits));
  }
  SKEP_RETURN_IF_ERROR(SeekValues(positions));
  for (const auto& child : children()) SKEP_RETURN_IF_ERROR(child->Seek(indexes, group));
  return absl::OkStatus();
}

void ColumnReader::Save() {
  if (has_present_) present_.Save(&saved_present_);
  for (const auto& child : children()) child->Save();
}

absl::Status ColumnReader::Restore() {
  if (has_present_) SKEP_RETURN_IF_ERROR(present_.Restore(saved_present_));
  for (const auto& child : children()) SKEP_RETURN_IF_ERROR(child->Restore());
  return absl::OkStatus();
}

}  // namespace skep::orc

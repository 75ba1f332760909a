#include <algorithm>
#include <optional>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/format/orc/int_column_writer.h"
#include "storage/format/orc/scalar_writers.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

uint32_t CountColumns(const HiveType& type) {
  uint32_t count = 1;
  for (const HiveType& child : type.children) count += CountColumns(child);
  return count;
}

class NestedWriter : public ColumnWriter {
 protected:
  NestedWriter(const ColumnContext& context,
               const HiveType& type,
               uint32_t column,
               const std::vector<uint32_t>& bloom)
      : ColumnWriter(context, column) {
    uint32_t next = column + 1;
    for (const HiveType& child : type.children) {
      AddChild(MakeColumnWriter(context, child, next, bloom));
      next += CountColumns(child);
    }
  }
};

class StructWriter final : public NestedWriter {
 public:
  StructWriter(const ColumnContext& context,
               const HiveType& type,
               uint32_t column,
               const std::vector<uint32_t>& bloom)
      : NestedWriter(context, type, column, bloom) {}
  proto::ColumnEncoding Encoding() const override { return Direct(EncodingKind::kDirect); }

 protected:
  absl::Status AppendValid(const arrow::ArrayData& data, int64_t from, int64_t count) override {
    for (size_t i = 0; i < children().size(); ++i)
      SKEP_RETURN_IF_ERROR(children()[i]->Append(*data.child_data[i], data.offset + from, count));
    return absl::OkStatus();
  }
  void AddPositions(Positions* /*out*/) const override {}
  void TakeStatistics(proto::ColumnStatistics* /*out*/) override {}
  absl::Status FinishStreams() override { return absl::OkStatus(); }
  void AddStreams(std::vector<FinishedStream>* /*out*/) const override {}
  void ClearStreams() override {}
  uint64_t StreamBytes() const override { return 0; }
};

class ListWriter final : public NestedWriter {  // and maps
 public:
  ListWriter(const ColumnContext& context,
             const HiveType& type,
             uint32_t column,
             const std::vector<uint32_t>& bloom)
      : NestedWriter(context, type, column, bloom),
        is_map_(type.kind == TypeKind::kMap),
        lengths_(context.compressor, context.block_size, Signedness::kUnsigned, context.packing) {}
  proto::ColumnEncoding Encoding() const override { return Direct(EncodingKind::kDirectV2); }

 protected:
  absl::Status AppendValid(const arrow::ArrayData& data, int64_t from, int64_t count) override {
    const int32_t* const offsets = data.GetValues<int32_t>(1) + from;
    for (int64_t i = 0; i < count; ++i) {
      const int32_t length = offsets[i + 1] - offsets[i];
      lengths_.Add(&length, 1);
      children_range_.Add(&length, 1);
    }
    const arrow::ArrayData& below = *data.child_data[0];
    const int64_t elements = offsets[count] - offsets[0];
    if (!is_map_) return children()[0]->Append(below, offsets[0], elements);
    for (size_t i = 0; i < children().size(); ++i) {
      SKEP_RETURN_IF_ERROR(
          children()[i]->Append(*below.child_data[i], below.offset + offsets[0], elements));
    }
    return absl::OkStatus();
  }
  void AddPositions(Positions* out) const override { lengths_.AddPosition(out); }
  void TakeStatistics(proto::ColumnStatistics* out) override {
    proto::CollectionStatistics* collections = out->mutable_collection_statistics();
    collections->set_minimum_children(static_cast<uint64_t>(children_range_.minimum));
    collections->set_maximum_children(static_cast<uint64_t>(children_range_.maximum));
    collections->set_total_children(static_cast<uint64_t>(children_range_.sum));
    children_range_ = IntRange();
  }
  absl::Status FinishStreams() override { return lengths_.Finish(); }
  void AddStreams(std::vector<FinishedStream>* out) const override {
    out->push_back({StreamKind::kLength, &lengths_.stream()});
  }
  void ClearStreams() override { lengths_.Clear(); }
  uint64_t StreamBytes() const override { return lengths_.size(); }

 private:
  const bool is_map_;
  IntEncoder lengths_;
  IntRange children_range_;
};

class UnionWriter final : public NestedWriter {
 public:
  UnionWriter(const ColumnContext& context,
              const HiveType& type,
              uint32_t column,
              const std::vector<uint32_t>& bloom)
      : NestedWriter(context, type, column, bloom), tags_(context.compressor, context.block_size) {}
  proto::ColumnEncoding Encoding() const override { return Direct(EncodingKind::kDirect); }

 protected:
  // Child k gets the rows of tag k alone (TY-28).
  absl::Status AppendValid(const arrow::ArrayData& data, int64_t from, int64_t count) override {
    const int64_t first = data.offset + from;
    const arrow::ArrayData& tags = *data.child_data[0];
    const auto* const tag = reinterpret_cast<const uint8_t*>(tags.GetValues<int8_t>(1) + first);
    for (int64_t i = 0; i < count; ++i) {
      if (tags.IsNull(first + i) || tag[i] >= children().size())
        return MakeError(ErrorReason::kValueOutOfRange, "a union without a valid tag");
    }
    tags_.Add(tag, static_cast<size_t>(count));
    for (int64_t at = 0; at < count;) {
      int64_t end = at + 1;
      while (end < count && tag[end] == tag[at]) ++end;
      SKEP_RETURN_IF_ERROR(
          children()[tag[at]]->Append(*data.child_data[tag[at] + 1U], first + at, end - at));
      at = end;
    }
    return absl::OkStatus();
  }
  void AddPositions(Positions* out) const override { tags_.AddPosition(out); }
  void TakeStatistics(proto::ColumnStatistics* /*out*/) override {}
  absl::Status FinishStreams() override { return tags_.Finish(); }
  void AddStreams(std::vector<FinishedStream>* out) const override {
    out->push_back({StreamKind::kData, &tags_.stream()});
  }
  void ClearStreams() override { tags_.Clear(); }
  uint64_t StreamBytes() const override { return tags_.size(); }

 private:
  ByteEncoder tags_;
};

}  // namespace

std::unique_ptr<ColumnWriter> MakeColumnWriter(const ColumnContext& all,
                                               const HiveType& type,
                                               uint32_t column,
                                               const std::vector<uint32_t>& bloom) {
  ColumnContext context = all;
  if (std::find(bloom.begin(), bloom.end(), column) == bloom.end()) context.bloom_rows = 0;
  switch (type.kind) {
    case TypeKind::kBoolean:
      return MakeBooleanWriter(context, column);
    case TypeKind::kTinyint:
      return MakeTinyintWriter(context, column);
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kDate:
      return std::make_unique<IntColumnWriter>(context, type.kind, column);
    case TypeKind::kFloat:
      return MakeFloatWriter(context, column);
    case TypeKind::kDouble:
      return MakeDoubleWriter(context, column);
    case TypeKind::kString:
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return MakeTextWriter(context, column);
    case TypeKind::kBinary:
      return MakeBinaryWriter(context, column);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      return MakeTimestampWriter(context, column);
    case TypeKind::kDecimal:
      return MakeDecimalWriter(context, type, column);
    case TypeKind::kStruct:
      return std::make_unique<StructWriter>(all, type, column, bloom);
    case TypeKind::kList:
    case TypeKind::kMap:
      return std::make_unique<ListWriter>(all, type, column, bloom);
    case TypeKind::kUnion:
      return std::make_unique<UnionWriter>(all, type, column, bloom);
  }
  return nullptr;
}

}  // namespace skep::orc

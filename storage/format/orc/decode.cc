#include "storage/format/orc/decode.h"

#include <utility>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/arrow_status.h"
#include "storage/format/json_text.h"
#include "storage/format/orc/errors.h"
#include "storage/format/retype.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

using format::FromArrow;

constexpr uint32_t kPresto = 2, kTrino = 4;

bool IsValid(const arrow::ArrayData& data, int64_t index) {
  return data.buffers[0] == nullptr || arrow::bit_util::GetBit(data.buffers[0]->data(), index);
}

}  // namespace

std::shared_ptr<arrow::DataType> StorageTypeOf(const HiveType& type) {
  return format::WithoutExtensions(format::ArrowTypeOf(type));
}

StripeDecoder::StripeDecoder(const fs::RandomAccessFile& file, Calendar calendar)
    : file_(&file), calendar_(calendar) {}

absl::Status StripeDecoder::Refuse(const PlanNode& node, std::string_view what) const {
  return MakeError(ErrorReason::kValueOutOfRange,
                   file_->path() + ": column " + node.name + ": " + std::string(what),
                   {{"path", file_->path()}, {"column", node.name}});
}

absl::Status StripeDecoder::Damaged(const PlanNode& node, std::string_view what) const {
  return MakeError(ErrorReason::kCorruptFile,
                   file_->path() + ": column " + node.name + ": " + std::string(what),
                   {{"path", file_->path()}, {"column", node.name}});
}

absl::Status StripeDecoder::AtColumn(const PlanNode& node, const absl::Status& status) const {
  return ReasonOf(status) == ErrorReason::kCorruptFile ? Damaged(node, MessageOf(status))
                                                       : Annotate(status, file_->path());
}

absl::StatusOr<std::unique_ptr<StripeDecoder>> StripeDecoder::Make(const fs::RandomAccessFile& file,
                                                                   const Tail& tail,
                                                                   const StripeLayout& layout,
                                                                   const ReadPlan& plan,
                                                                   Calendar calendar) {
  std::unique_ptr<StripeDecoder> decoder(new StripeDecoder(file, calendar));
  decoder->counts_any_fraction_ = tail.writer == kPresto || tail.writer == kTrino;
  for (const PlanNode& column : plan.columns) {
    if (column.Contains(TypeKind::kTimestamp)) {
      absl::StatusOr<WriterZone> zone = WriterZone::Load(layout.writer_zone);
      if (!zone.ok()) {
        return MakeError(
            ErrorReason::kNotSupported,
            file.path() + ": column " + column.name + ": " + MessageOf(zone.status()),
            {{"path", file.path()}, {"column", column.name}, {"what", layout.writer_zone}});
      }
      decoder->zone_ = *std::move(zone);
    }
    SKEP_RETURN_IF_ERROR(decoder->Prepare(tail, layout, column));
  }
  decoder->base_ = decoder->zone_.base();
  return decoder;
}

absl::Status StripeDecoder::Prepare(const Tail& tail,
                                    const StripeLayout& layout,
                                    const PlanNode& node) {
  const auto chunks = [&](const StreamRange& stream) {
    return ChunkReader(*file_, tail.compression, tail.block_size, stream.offset, stream.length);
  };
  if (node.type.kind == TypeKind::kTimestamp || node.type.kind == TypeKind::kTimestampLocalTz) {
    if (const StreamRange* nanos = layout.Find(node.column, StreamKind::kSecondary)) {
      nanos_[node.column] = std::make_unique<IntDecoder>(
          chunks(*nanos), layout.encodings[node.column].is_v2(), Signedness::kUnsigned);
    }
  }
  if (node.type.kind == TypeKind::kDecimal) {
    if (const StreamRange* scales = layout.Find(node.column, StreamKind::kSecondary)) {
      scales_[node.column] = std::make_unique<IntDecoder>(
          chunks(*scales), layout.encodings[node.column].is_v2(), Signedness::kSigned);
    }
  }
  if (node.type.kind == TypeKind::kUnion) {
    if (const StreamRange* present = layout.Find(node.column, StreamKind::kPresent)) {
      presence_[node.column] = std::make_unique<BitDecoder>(chunks(*present));
    }
  }
  for (const PlanNode& child : node.children) SKEP_RETURN_IF_ERROR(Prepare(tail, layout, child));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<arrow::Array>> StripeDecoder::Column(
    const PlanNode& node, const arrow::Array& from_adapter, const std::vector<uint8_t>& present) {
  SKEP_ASSIGN_OR_RETURN(const Data data, Convert(node, from_adapter.data(), present));
  return arrow::MakeArray(format::Retype(*data, format::ArrowTypeOf(node.type)));
}

absl::StatusOr<StripeDecoder::Data> StripeDecoder::Convert(const PlanNode& node,
                                                           const Data& from,
                                                           const Slots& present) {
  if (from->offset != 0)
    return MakeError(ErrorReason::kInternal, "the ORC adapter gave a sliced array");
  switch (node.type.kind) {
    case TypeKind::kDate:
      return Dates(node, from);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      return Timestamps(node, from, present);
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return Characters(node, from);
    case TypeKind::kDecimal:
      return Decimals(node, from, present);
    case TypeKind::kList:
    case TypeKind::kMap:
      return Entries(node, from);
    case TypeKind::kStruct:
      return Children(node, from, present);
    case TypeKind::kUnion:
      return Unions(node, from, present);
    default:
      return from;
  }
}

// CHAR is padded to its length in characters, VARCHAR cut to it (TY-8); most values need neither.
absl::StatusOr<StripeDecoder::Data> StripeDecoder::Characters(const PlanNode& node,
                                                              const Data& from) {
  const bool pad = node.type.kind == TypeKind::kChar;
  const int64_t width = node.type.length;
  const arrow::StringArray strings(from);
  bool fits = true;
  for (int64_t i = 0; i < strings.length() && fits; ++i) {
    if (strings.IsNull(i)) continue;
    const int64_t bytes = strings.value_length(i);
    if (bytes <= width && !pad) continue;
    const int64_t characters = format::CharacterCount(strings.GetView(i));
    fits = pad ? characters == width : characters <= width;
  }
  if (fits) return from;
  arrow::StringBuilder builder;
  for (int64_t i = 0; i < strings.length(); ++i) {
    if (strings.IsNull(i)) {
      SKEP_RETURN_IF_ERROR(FromArrow(builder.AppendNull()));
      continue;
    }
    std::string value(format::CharacterPrefix(strings.GetView(i), width));
    const int64_t characters = format::CharacterCount(value);
    if (pad && characters < width) value.append(static_cast<size_t>(width - characters), ' ');
    SKEP_RETURN_IF_ERROR(FromArrow(builder.Append(value)));
  }
  SKEP_ASSIGN_OR_RETURN(const auto array, FromArrow(builder.Finish()));
  return array->data();
}

// TY-23: each value is stored with a scale of its own. The adapter cuts what is beyond the
// column's, where Hive rounds.
absl::StatusOr<StripeDecoder::Data> StripeDecoder::Decimals(const PlanNode& node,
                                                            const Data& from,
                                                            const Slots& present) {
  int64_t stored = 0;
  for (int64_t i = 0; i < from->length; ++i) {
    stored +=
        IsValid(*from, i) && (present.empty() || present[static_cast<size_t>(i)] != 0) ? 1 : 0;
  }
  if (stored == 0) return from;
  const auto decoder = scales_.find(node.column);
  if (decoder == scales_.end()) {
    return Damaged(node, "a decimal column without its SECONDARY stream");
  }
  std::vector<int64_t> scales(static_cast<size_t>(stored));
  if (absl::Status status = decoder->second->Next(scales.size(), scales.data()); !status.ok()) {
    return AtColumn(node, status);
  }
  for (const int64_t scale : scales) {
    if (scale > node.type.scale) {
      return Refuse(node,
                    "a decimal with " + std::to_string(scale) +
                        " digits behind the point, more than " + node.type.ToString() + " has");
    }
  }
  return from;
}

absl::StatusOr<StripeDecoder::Data> StripeDecoder::Children(const PlanNode& node,
                                                            const Data& from,
                                                            const Slots& present) {
  if (from->child_data.size() != node.children.size()) {
    return MakeError(ErrorReason::kInternal, "the ORC adapter gave a struct of another shape");
  }
  Slots below;
  if (!present.empty() || (node.Contains(TypeKind::kUnion) && from->GetNullCount() > 0)) {
    below.resize(static_cast<size_t>(from->length), 1);
    for (size_t i = 0; i < below.size(); ++i) {
      below[i] =
          (present.empty() || present[i] != 0) && IsValid(*from, static_cast<int64_t>(i)) ? 1 : 0;
    }
  }
  Data out = from->Copy();
  for (size_t i = 0; i < node.children.size(); ++i) {
    SKEP_ASSIGN_OR_RETURN(out->child_data[i],
                          Convert(node.children[i], from->child_data[i], below));
  }
  out->type = StorageTypeOf(node.type);
  return out;
}

// A list's or map's elements all belong to lists that are there.
absl::StatusOr<StripeDecoder::Data> StripeDecoder::Entries(const PlanNode& node, const Data& from) {
  Data out = from->Copy();
  out->type = StorageTypeOf(node.type);
  if (node.type.kind == TypeKind::kList) {
    SKEP_ASSIGN_OR_RETURN(out->child_data[0], Convert(node.children[0], from->child_data[0], {}));
    return out;
  }
  Data entries = from->child_data[0]->Copy();
  for (size_t i = 0; i < 2; ++i) {
    SKEP_ASSIGN_OR_RETURN(entries->child_data[i],
                          Convert(node.children[i], entries->child_data[i], {}));
  }
  if (entries->child_data[0]->GetNullCount() > 0) {
    return MakeError(ErrorReason::kNotSupported,
                     file_->path() + ": column " + node.name + ": a map with a null key",
                     {{"path", file_->path()}, {"column", node.name}, {"what", "null map key"}});
  }
  entries->type = out->type->field(0)->type();
  out->child_data[0] = std::move(entries);
  return out;
}

// The adapter shows a null union as {tag 0, null}: whether it is null is in the PRESENT stream
// alone.
absl::StatusOr<StripeDecoder::Data> StripeDecoder::Unions(const PlanNode& node,
                                                          const Data& from,
                                                          const Slots& present) {
  const bool dense = from->type->id() == arrow::Type::DENSE_UNION;
  if ((!dense && from->type->id() != arrow::Type::SPARSE_UNION) ||
      from->child_data.size() != node.children.size()) {
    return MakeError(ErrorReason::kInternal,
                     "the ORC adapter gave a union as " + from->type->ToString());
  }
  const auto* tags = from->GetValues<int8_t>(1);
  const auto* offsets = dense ? from->GetValues<int32_t>(2) : nullptr;
  const auto slot_of = [&](size_t i) {
    return offsets == nullptr ? static_cast<int64_t>(i) : offsets[i];
  };
  const auto decoder = presence_.find(node.column);
  const size_t variants = node.children.size();
  const auto length = static_cast<size_t>(from->length);

  Slots valid(length, 0);
  std::vector<Slots> of_child(variants);
  for (size_t k = 0; k < variants; ++k)
    of_child[k].resize(static_cast<size_t>(from->child_data[k]->length), 0);
  int64_t nulls = 0;
  for (size_t i = 0; i < length; ++i) {
    bool is_valid = present.empty() || present[i] != 0;
    if (is_valid && decoder != presence_.end()) {
      const absl::StatusOr<bool> bit = decoder->second->Next();
      if (!bit.ok()) return AtColumn(node, bit.status());
      is_valid = *bit;
    }
    if (!is_valid) {
      ++nulls;
      continue;
    }
    const auto tag = static_cast<size_t>(static_cast<uint8_t>(tags[i]));
    if (tag >= variants || static_cast<size_t>(slot_of(i)) >= of_child[tag].size()) {
      return Damaged(node, "a union with an unknown tag");
    }
    valid[i] = 1;
    of_child[tag][static_cast<size_t>(slot_of(i))] = 1;
  }

  std::vector<Data> children;
  arrow::Int8Builder tag_builder;
  for (size_t i = 0; i < length; ++i) {
    SKEP_RETURN_IF_ERROR(FromArrow(tag_builder.Append(valid[i] != 0 ? tags[i] : int8_t{0})));
  }
  SKEP_ASSIGN_OR_RETURN(const auto tag_array, FromArrow(tag_builder.Finish()));
  children.push_back(tag_array->data());
  for (size_t k = 0; k < variants; ++k) {
    SKEP_ASSIGN_OR_RETURN(const Data values,
                          Convert(node.children[k], from->child_data[k], of_child[k]));
    std::unique_ptr<arrow::ArrayBuilder> spread;
    SKEP_RETURN_IF_ERROR(FromArrow(arrow::MakeBuilder(
        arrow::default_memory_pool(), StorageTypeOf(node.children[k].type), &spread)));
    const Data typed = format::Retype(*values, StorageTypeOf(node.children[k].type));
    const arrow::ArraySpan span(*typed);
    for (size_t i = 0; i < length; ++i) {
      const bool here = valid[i] != 0 && static_cast<size_t>(static_cast<uint8_t>(tags[i])) == k;
      SKEP_RETURN_IF_ERROR(
          FromArrow(here ? spread->AppendArraySlice(span, slot_of(i), 1) : spread->AppendNull()));
    }
    SKEP_ASSIGN_OR_RETURN(const auto array, FromArrow(spread->Finish()));
    children.push_back(array->data());
  }
  std::shared_ptr<arrow::Buffer> bitmap;
  if (nulls > 0) {
    SKEP_ASSIGN_OR_RETURN(bitmap, FromArrow(arrow::AllocateEmptyBitmap(from->length)));
    for (size_t i = 0; i < length; ++i) {
      if (valid[i] != 0) arrow::bit_util::SetBit(bitmap->mutable_data(), static_cast<int64_t>(i));
    }
  }
  return arrow::ArrayData::Make(
      StorageTypeOf(node.type), from->length, {bitmap}, std::move(children), nulls);
}

}  // namespace skep::orc

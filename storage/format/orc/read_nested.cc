// Columns of structs, lists, maps and unions (TY-27, TY-28).

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <arrow/type.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/column_reader.h"
#include "storage/format/orc/spread.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

using Children = std::vector<std::unique_ptr<ColumnReader>>;

absl::StatusOr<Children> ChildrenOf(StripeSource& source, const PlanNode& node) {
  Children children;
  for (const PlanNode& child : node.children) {
    SKEP_ASSIGN_OR_RETURN(std::unique_ptr<ColumnReader> reader, ColumnReader::Make(source, child));
    children.push_back(std::move(reader));
  }
  return children;
}

class StructReader final : public ColumnReader {
 public:
  StructReader(StripeSource& source, const PlanNode& node, Children children)
      : ColumnReader(source, node), children_(std::move(children)) {}

 protected:
  // A field has places for the structs that are there, so its nulls include those of the struct.
  absl::StatusOr<Data> ReadValues(const Slots& slots) override {
    std::vector<Data> fields;
    for (const auto& child : children_) {
      SKEP_ASSIGN_OR_RETURN(Data field, child->Read(slots));
      fields.push_back(std::move(field));
    }
    return Array(slots, {}, std::move(fields));
  }
  absl::Status SkipValues(uint64_t count) override {
    for (const auto& child : children_) SKEP_RETURN_IF_ERROR(child->Skip(count));
    return absl::OkStatus();
  }
  absl::Status SeekValues(PositionCursor& /*positions*/) override { return absl::OkStatus(); }
  size_t PositionCount() const override { return 0; }
  std::span<const std::unique_ptr<ColumnReader>> children() const override { return children_; }

 private:
  const Children children_;
};

// Lists and maps: lengths, and the elements of all of them one after another.
class ListReader final : public OneStreamReader<IntDecoder> {
 public:
  ListReader(StripeSource& source, const PlanNode& node, Children children)
      : OneStreamReader(source, node, StreamKind::kLength, Signedness::kUnsigned),
        children_(std::move(children)) {}

 protected:
  absl::StatusOr<Data> ReadValues(const Slots& slots) override {
    SKEP_RETURN_IF_ERROR(Grow(&scratch_, slots.count));
    SKEP_RETURN_IF_ERROR(values_.Next(scratch_.data(), static_cast<size_t>(slots.count)));
    SKEP_ASSIGN_OR_RETURN(const uint64_t total, Sum(slots.count));
    // Elements without streams of their own (empty structs) cost nothing below, but Arrow's offsets
    // end somewhere.
    if (total > kMostElements || !source().budget().Take(total))
      return NewBuffer(kTooLarge).status();
    SKEP_ASSIGN_OR_RETURN(auto offsets, Offsets(slots));
    const Slots elements = Slots::All(static_cast<int64_t>(total));
    std::vector<Data> values;
    for (const auto& child : children_) {
      SKEP_ASSIGN_OR_RETURN(Data value, child->Read(elements));
      values.push_back(std::move(value));
    }
    if (node().type.kind == TypeKind::kList) {
      return Array(slots, {std::move(offsets)}, std::move(values));
    }
    if (values[0]->GetNullCount() > 0) {
      return MakeError(
          ErrorReason::kNotSupported,
          source().path() + ": column " + node().name + ": a map with a null key",
          {{"path", source().path()}, {"column", node().name}, {"what", "null map key"}});
    }
    Data entries = arrow::ArrayData::Make(
        type()->field(0)->type(), elements.length, {nullptr}, std::move(values), 0);
    return Array(slots, {std::move(offsets)}, {std::move(entries)});
  }

  absl::Status SkipValues(uint64_t count) override {
    constexpr uint64_t kPiece = 4096;
    scratch_.resize(std::max<size_t>(scratch_.size(), std::min(count, kPiece)));
    while (count > 0) {
      const auto piece = static_cast<int64_t>(std::min(count, kPiece));
      SKEP_RETURN_IF_ERROR(values_.Next(scratch_.data(), static_cast<size_t>(piece)));
      SKEP_ASSIGN_OR_RETURN(const uint64_t total, Sum(piece));
      for (const auto& child : children_) SKEP_RETURN_IF_ERROR(child->Skip(total));
      count -= static_cast<uint64_t>(piece);
    }
    return absl::OkStatus();
  }
  std::span<const std::unique_ptr<ColumnReader>> children() const override { return children_; }

 private:
  static constexpr uint64_t kMostElements = std::numeric_limits<int32_t>::max() - 1;
  static constexpr int64_t kTooLarge = 2 * static_cast<int64_t>(ReadBudget::kMostOfRow);

  absl::StatusOr<uint64_t> Sum(int64_t count) const {
    uint64_t sum = 0, any = 0;
    for (int64_t i = 0; i < count; ++i) {
      any |= static_cast<uint64_t>(scratch_[static_cast<size_t>(i)]);
      sum += static_cast<uint64_t>(scratch_[static_cast<size_t>(i)]);
    }
    if (any > kMostElements) return values_.stream().Bad("a list of more elements than can be");
    return sum;
  }

  absl::StatusOr<std::shared_ptr<arrow::Buffer>> Offsets(const Slots& slots) const {
    SKEP_ASSIGN_OR_RETURN(auto buffer,
                          NewBuffer((slots.length + 1) * static_cast<int64_t>(sizeof(int32_t))));
    auto* offsets = reinterpret_cast<int32_t*>(buffer->mutable_data());
    int32_t at = 0;
    size_t next = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i < slots.length; ++i) {
      if (slots.valid == nullptr || BitAt(slots.bits(), i)) {
        at += static_cast<int32_t>(scratch_[next++]);
      }
      offsets[i + 1] = at;
    }
    return buffer;
  }

  const Children children_;
  std::vector<int64_t> scratch_;
};

// struct<tag, f0, f1, …>: a member has places where its tag is.
class UnionReader final : public OneStreamReader<ByteDecoder> {
 public:
  UnionReader(StripeSource& source, const PlanNode& node, Children children)
      : OneStreamReader(source, node, StreamKind::kData), children_(std::move(children)) {}

 protected:
  absl::StatusOr<Data> ReadValues(const Slots& slots) override {
    SKEP_ASSIGN_OR_RETURN(auto buffer, NewBuffer(slots.length));
    uint8_t* tags = buffer->mutable_data();
    SKEP_RETURN_IF_ERROR(values_.Next(tags, static_cast<size_t>(slots.count)));
    SKEP_RETURN_IF_ERROR(CheckTags(tags, slots.count));
    if (slots.valid != nullptr) Spread(tags, slots.length, slots.bits(), slots.count);
    std::vector<Data> fields;
    fields.push_back(arrow::ArrayData::Make(
        type()->field(0)->type(), slots.length, {nullptr, std::move(buffer)}, 0));
    for (size_t k = 0; k < children_.size(); ++k) {
      SKEP_ASSIGN_OR_RETURN(const Slots member, Member(slots, tags, static_cast<uint8_t>(k)));
      SKEP_ASSIGN_OR_RETURN(Data field, children_[k]->Read(member));
      fields.push_back(std::move(field));
    }
    return Array(slots, {}, std::move(fields));
  }

  absl::Status SkipValues(uint64_t count) override {
    std::vector<uint8_t> tags(static_cast<size_t>(std::min<uint64_t>(count, 4096)));
    std::vector<uint64_t> of_child(children_.size());
    while (count > 0) {
      const auto piece = static_cast<size_t>(std::min<uint64_t>(count, tags.size()));
      SKEP_RETURN_IF_ERROR(values_.Next(tags.data(), piece));
      SKEP_RETURN_IF_ERROR(CheckTags(tags.data(), static_cast<int64_t>(piece)));
      for (size_t i = 0; i < piece; ++i) ++of_child[tags[i]];
      count -= piece;
    }
    for (size_t k = 0; k < children_.size(); ++k) {
      SKEP_RETURN_IF_ERROR(children_[k]->Skip(of_child[k]));
    }
    return absl::OkStatus();
  }
  std::span<const std::unique_ptr<ColumnReader>> children() const override { return children_; }

 private:
  absl::Status CheckTags(const uint8_t* tags, int64_t count) const {
    const auto unknown =
        std::find_if(tags, tags + count, [&](uint8_t tag) { return tag >= children_.size(); });
    return unknown == tags + count ? absl::OkStatus()
                                   : values_.stream().Bad("a union with an unknown tag");
  }

  absl::StatusOr<Slots> Member(const Slots& slots, const uint8_t* tags, uint8_t tag) const {
    SKEP_ASSIGN_OR_RETURN(auto bits, NewBuffer(BitmapBytes(slots.length)));
    uint8_t* out = bits->mutable_data();
    std::memset(out, 0, static_cast<size_t>(BitmapBytes(slots.length)));
    int64_t count = 0;
    for (int64_t i = 0; i < slots.length; ++i) {
      const bool here = tags[i] == tag && (slots.valid == nullptr || BitAt(slots.bits(), i));
      out[i >> 3] = static_cast<uint8_t>(out[i >> 3] | (here ? 1U : 0U) << (i & 7));
      count += here ? 1 : 0;
    }
    if (count == slots.length) return Slots::All(slots.length);
    return Slots{slots.length, count, std::move(bits)};
  }

  const Children children_;
};

}  // namespace

ColumnReaderOr MakeNestedReader(StripeSource& source, const PlanNode& node) {
  SKEP_ASSIGN_OR_RETURN(Children children, ChildrenOf(source, node));
  if (node.type.kind == TypeKind::kStruct) {
    return std::unique_ptr<ColumnReader>(new StructReader(source, node, std::move(children)));
  }
  if (node.type.kind == TypeKind::kUnion) {
    return std::unique_ptr<ColumnReader>(new UnionReader(source, node, std::move(children)));
  }
  return std::unique_ptr<ColumnReader>(new ListReader(source, node, std::move(children)));
}

}  // namespace skep::orc

#include "storage/format/orc/stripe_view.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include <arrow/buffer.h>

#include "storage/base/text.h"
#include "storage/format/orc/acid_schema.h"
#include "storage/format/orc/chunks.h"
#include "storage/format/orc/orc.pb.h"
#include "storage/format/orc/types.h"

namespace skep::orc {

namespace {

constexpr uint64_t kHeaderBytes = 3;
constexpr uint64_t kDefaultBlock = 256 << 10;
// Streams of columns that are not shown belong to a column that does not exist.
constexpr uint32_t kNoColumn = std::numeric_limits<uint32_t>::max();

OrcKind ShownKind(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLocalTz:
      return OrcKind::kLong;
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return OrcKind::kString;
    default:
      return OrcKindOf(kind);
  }
}

// The synthetic footer's types and the way from the file's column ids to its own.
class TypeBuilder {
 public:
  explicit TypeBuilder(proto::Footer* footer) : footer_(footer) {}

  // `column`: the id in the file; nullopt for a struct that the file does not have.
  uint32_t AddStruct(std::optional<uint32_t> column, uint32_t parent) {
    return Add(column, parent, OrcKind::kStruct);
  }
  uint32_t AddRoot(std::optional<uint32_t> column) {
    return Add(column, kNoColumn, OrcKind::kStruct);
  }
  uint32_t AddLeaf(uint32_t column, uint32_t parent, TypeKind kind) {
    return Add(column, parent, ShownKind(kind));
  }
  void AddTree(const PlanNode& node, uint32_t parent) {
    const uint32_t id = Add(node.column, parent, ShownKind(node.type.kind));
    if (node.type.kind == TypeKind::kDecimal) {
      footer_->mutable_types(static_cast<int>(id))
          ->set_precision(static_cast<uint32_t>(node.type.precision));
      footer_->mutable_types(static_cast<int>(id))
          ->set_scale(static_cast<uint32_t>(node.type.scale));
    }
    for (const PlanNode& child : node.children) AddTree(child, id);
  }

  uint32_t ShownId(uint32_t file_column) const {
    const auto at = shown_.find(file_column);
    return at == shown_.end() ? kNoColumn : at->second;
  }
  // The file's column of each shown one.
  const std::vector<std::optional<uint32_t>>& file_columns() const { return file_columns_; }

 private:
  uint32_t Add(std::optional<uint32_t> column, uint32_t parent, OrcKind kind) {
    const auto id = static_cast<uint32_t>(file_columns_.size());
    file_columns_.push_back(column);
    if (column) shown_[*column] = id;
    footer_->add_types()->set_kind(static_cast<uint32_t>(kind));
    if (parent != kNoColumn) {
      proto::Type* above = footer_->mutable_types(static_cast<int>(parent));
      if (above->kind() == static_cast<uint32_t>(OrcKind::kStruct)) {
        above->add_field_names("f" + std::to_string(above->subtypes_size()));
      }
      above->add_subtypes(id);
    }
    return id;
  }

  proto::Footer* footer_;
  std::unordered_map<uint32_t, uint32_t> shown_;
  std::vector<std::optional<uint32_t>> file_columns_;
};

TypeBuilder BuildTypes(const Tail& tail, const ReadPlan& plan, proto::Footer* footer) {
  TypeBuilder types(footer);
  uint32_t parent = types.AddRoot(plan.root_is_struct ? std::optional<uint32_t>(0) : std::nullopt);
  if (plan.is_acid) {
    for (size_t i = 0; i < kRowField; ++i) {
      types.AddLeaf(tail.types[0].subtypes[i], parent, kAcidFields[i].kind);
    }
    parent = types.AddStruct(tail.types[0].subtypes[kRowField], parent);
  }
  for (const PlanNode& column : plan.columns) types.AddTree(column, parent);
  return types;
}

std::string BuildStripeFooter(const StripeLayout& layout, const TypeBuilder& types) {
  proto::StripeFooter footer;
  for (const StreamRange& stream : layout.streams) {
    const bool is_index = stream.kind >= StreamKind::kRowIndex;
    proto::Stream* shown = footer.add_streams();
    shown->set_kind(static_cast<uint32_t>(is_index ? StreamKind::kData : stream.kind));
    shown->set_column(is_index ? kNoColumn : types.ShownId(stream.column));
    shown->set_length(stream.length);
  }
  for (const std::optional<uint32_t>& column : types.file_columns()) {
    proto::ColumnEncoding* encoding = footer.add_columns();
    const Encoding of_file = column ? layout.encodings[*column] : Encoding{};
    encoding->set_kind(static_cast<uint32_t>(of_file.kind));
    if (of_file.dictionary_size > 0) encoding->set_dictionary_size(of_file.dictionary_size);
  }
  footer.set_writer_timezone("GMT");
  return footer.SerializeAsString();
}

std::string BuildPostScript(const Tail& tail, uint64_t block_size, size_t footer_length) {
  proto::PostScript ps;
  ps.set_footer_length(footer_length);
  ps.set_compression(static_cast<uint32_t>(tail.compression));
  ps.set_compression_block_size(block_size);
  ps.add_version(0);
  ps.add_version(12);
  ps.set_metadata_length(0);
  ps.set_writer_version(6);
  ps.set_magic("ORC");
  std::string out = ps.SerializeAsString();
  out.push_back(static_cast<char>(out.size()));
  return out;
}

}  // namespace

StripeView::StripeView(const fs::RandomAccessFile& file,
                       const Tail& tail,
                       const Stripe& stripe,
                       const StripeLayout& layout,
                       const ReadPlan& plan)
    : file_(&file),
      mapped_(static_cast<int64_t>(stripe.offset + stripe.index_length + stripe.data_length)) {
  const uint64_t block_size = tail.block_size == 0 ? kDefaultBlock : tail.block_size;
  proto::Footer footer;
  const TypeBuilder types = BuildTypes(tail, plan, &footer);
  const std::string stripe_footer =
      StoreSection(tail.compression, block_size, BuildStripeFooter(layout, types));

  footer.set_header_length(kHeaderBytes);
  footer.set_content_length(static_cast<uint64_t>(mapped_) + stripe_footer.size());
  footer.set_number_of_rows(stripe.rows);
  footer.set_row_index_stride(0);
  footer.set_writer(1);
  proto::StripeInformation* info = footer.add_stripes();
  info->set_offset(stripe.offset);
  info->set_index_length(stripe.index_length);
  info->set_data_length(stripe.data_length);
  info->set_footer_length(stripe_footer.size());
  info->set_number_of_rows(stripe.rows);

  const std::string file_footer =
      StoreSection(tail.compression, block_size, footer.SerializeAsString());
  tail_ = stripe_footer + file_footer + BuildPostScript(tail, block_size, file_footer.size());
}

arrow::Result<int64_t> StripeView::GetSize() {
  return mapped_ + static_cast<int64_t>(tail_.size());
}

arrow::Result<int64_t> StripeView::ReadAt(int64_t position, int64_t nbytes, void* out) {
  const int64_t size = mapped_ + static_cast<int64_t>(tail_.size());
  if (position < 0 || nbytes < 0) return arrow::Status::Invalid("read at ", position);
  nbytes = std::max<int64_t>(0, std::min(nbytes, size - position));
  auto* target = static_cast<char*>(out);
  const int64_t of_file = std::max<int64_t>(0, std::min(nbytes, mapped_ - position));
  if (of_file > 0) {
    if (absl::Status status = file_->ReadAt(position, of_file, target); !status.ok()) {
      if (failure_.ok()) failure_ = status;
      return arrow::Status::IOError(MessageOf(status));
    }
  }
  if (of_file < nbytes) {
    std::memcpy(target + of_file,
                tail_.data() + (position + of_file - mapped_),
                static_cast<size_t>(nbytes - of_file));
  }
  return nbytes;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> StripeView::ReadAt(int64_t position, int64_t nbytes) {
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::ResizableBuffer> buffer,
                        arrow::AllocateResizableBuffer(nbytes));
  ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position, nbytes, buffer->mutable_data()));
  ARROW_RETURN_NOT_OK(buffer->Resize(read));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Status StripeView::Seek(int64_t position) {
  position_ = position;
  return arrow::Status::OK();
}

arrow::Result<int64_t> StripeView::Read(int64_t nbytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position_, nbytes, out));
  position_ += read;
  return read;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> StripeView::Read(int64_t nbytes) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, ReadAt(position_, nbytes));
  position_ += buffer->size();
  return buffer;
}

arrow::Status StripeView::Close() {
  closed_ = true;
  return arrow::Status::OK();
}

}  // namespace skep::orc

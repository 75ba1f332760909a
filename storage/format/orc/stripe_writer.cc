#include "storage/format/orc/stripe_writer.h"

#include <string>
#include <utility>

#include "storage/format/orc/tail_writer.h"

namespace skep::orc {

namespace {

void Flatten(ColumnWriter* column, std::vector<ColumnWriter*>* out) {
  out->push_back(column);
  for (const auto& child : column->children()) Flatten(child.get(), out);
}

proto::RowIndex IndexOf(const ColumnWriter& column) {
  proto::RowIndex index;
  for (const FinishedGroup& group : column.groups()) {
    proto::RowIndexEntry* entry = index.add_entry();
    entry->mutable_positions()->Add(group.positions.begin(), group.positions.end());
    *entry->mutable_statistics() = group.statistics;
  }
  return index;
}

proto::BloomFilterIndex BloomsOf(const ColumnWriter& column) {
  proto::BloomFilterIndex index;
  for (const FinishedGroup& group : column.groups()) {
    proto::BloomFilter* filter = index.add_bloom_filter();
    filter->set_hash_functions(column.bloom()->hash_functions());
    filter->set_utf8_bitset(group.bloom);
  }
  return index;
}

// The streams of a stripe in file order, and their list in its footer.
class StripeOutput {
 public:
  StripeOutput(const ColumnContext& context,
               const std::function<absl::Status(std::string_view)>& write)
      : context_(context), write_(write) {}

  absl::StatusOr<uint64_t> Section(const std::string& bytes) {
    SKEP_ASSIGN_OR_RETURN(const std::string framed,
                          FrameSection(context_.compressor, context_.block_size, bytes));
    SKEP_RETURN_IF_ERROR(write_(framed));
    return framed.size();
  }
  absl::Status IndexStream(StreamKind kind, uint32_t column, const std::string& bytes) {
    SKEP_ASSIGN_OR_RETURN(const uint64_t length, Section(bytes));
    List(kind, column, length);
    index_length_ += length;
    return absl::OkStatus();
  }
  absl::Status DataStream(const FinishedStream& stream, uint32_t column) {
    for (const std::string_view part : stream.stream->parts()) SKEP_RETURN_IF_ERROR(write_(part));
    List(stream.kind, column, stream.stream->length());
    data_length_ += stream.stream->length();
    return absl::OkStatus();
  }

  proto::StripeFooter& footer() { return footer_; }
  uint64_t index_length() const { return index_length_; }
  uint64_t data_length() const { return data_length_; }

 private:
  void List(StreamKind kind, uint32_t column, uint64_t length) {
    proto::Stream* stream = footer_.add_streams();
    stream->set_kind(static_cast<uint32_t>(kind));
    stream->set_column(column);
    stream->set_length(length);
  }

  const ColumnContext& context_;
  const std::function<absl::Status(std::string_view)>& write_;
  proto::StripeFooter footer_;
  uint64_t index_length_ = 0, data_length_ = 0;
};

}  // namespace

StripeWriter::StripeWriter(const ColumnContext& context,
                           std::unique_ptr<ColumnWriter> root,
                           uint32_t stride)
    : context_(context), root_(std::move(root)), stride_(stride) {
  Flatten(root_.get(), &columns_);
}

absl::StatusOr<FinishedStripe> StripeWriter::End(
    const std::function<absl::Status(std::string_view)>& write) {
  if (group_rows_ > 0) EndGroup();
  SKEP_RETURN_IF_ERROR(root_->Finish());
  StripeOutput out(context_, write);
  // Java's order: the index before the data, then by column, then by kind (FA-8).
  for (const ColumnWriter* column : columns_) {
    if (stride_ == 0) break;
    SKEP_RETURN_IF_ERROR(out.IndexStream(
        StreamKind::kRowIndex, column->column(), IndexOf(*column).SerializeAsString()));
    if (!column->has_bloom()) continue;
    SKEP_RETURN_IF_ERROR(out.IndexStream(
        StreamKind::kBloomFilterUtf8, column->column(), BloomsOf(*column).SerializeAsString()));
  }
  FinishedStripe stripe;
  for (const ColumnWriter* column : columns_) {
    for (const FinishedStream& stream : column->Streams())
      SKEP_RETURN_IF_ERROR(out.DataStream(stream, column->column()));
    proto::ColumnEncoding* encoding = out.footer().add_columns();
    *encoding = column->Encoding();
    if (column->has_bloom() && stride_ > 0) encoding->set_bloom_encoding(kUtf8AndUtc);
    stripe.statistics.push_back(column->statistics());
  }
  out.footer().set_writer_timezone("UTC");
  stripe.lengths.rows = rows_;
  stripe.lengths.index_length = out.index_length();
  stripe.lengths.data_length = out.data_length();
  SKEP_ASSIGN_OR_RETURN(stripe.lengths.footer_length,
                        out.Section(out.footer().SerializeAsString()));
  root_->Clear();
  rows_ = 0;
  return stripe;
}

}  // namespace skep::orc

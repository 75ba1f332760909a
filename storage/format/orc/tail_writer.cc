#include "storage/format/orc/tail_writer.h"

#include "storage/base/status_macros.h"
#include "storage/format/orc/statistics.h"
#include "storage/format/orc/types.h"

namespace skep::orc {

namespace {

constexpr uint64_t kHeaderBytes = 3;

std::vector<proto::ColumnStatistics> FileStatistics(const TailContents& contents) {
  std::vector<proto::ColumnStatistics> all(contents.types.size());
  for (proto::ColumnStatistics& column : all) {
    column.set_number_of_values(0);
    column.set_has_null(false);
  }
  for (const auto& stripe : contents.stripe_statistics) {
    for (size_t i = 0; i < all.size(); ++i) Merge(stripe[i], &all[i]);
  }
  return all;
}

proto::Footer FooterOf(const TailContents& contents, uint64_t body_length) {
  proto::Footer footer;
  footer.set_header_length(kHeaderBytes);
  footer.set_content_length(body_length);
  uint64_t rows = 0;
  for (const Stripe& stripe : contents.stripes) {
    proto::StripeInformation* info = footer.add_stripes();
    info->set_offset(stripe.offset);
    info->set_index_length(stripe.index_length);
    info->set_data_length(stripe.data_length);
    info->set_footer_length(stripe.footer_length);
    info->set_number_of_rows(stripe.rows);
    rows += stripe.rows;
  }
  AppendTypes(contents.types, &footer);
  // Each key once: Trino fails to open a file that repeats one.
  for (const auto& [name, value] : contents.user_metadata) {
    proto::UserMetadataItem* item = footer.add_metadata();
    item->set_name(name);
    item->set_value(value);
  }
  footer.set_number_of_rows(rows);
  for (proto::ColumnStatistics& column : FileStatistics(contents))
    *footer.add_statistics() = std::move(column);
  footer.set_row_index_stride(contents.row_index_stride);
  footer.set_writer(kSkepWriter);
  footer.set_calendar(static_cast<uint32_t>(contents.calendar));
  return footer;
}

}  // namespace

absl::StatusOr<std::string> FrameSection(BlockCompressor* compressor,
                                         size_t block_size,
                                         std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const std::string_view block = bytes.substr(0, block_size);
    bytes.remove_prefix(block.size());
    SKEP_RETURN_IF_ERROR(compressor->Append(block, &out));
  }
  return out;
}

absl::StatusOr<std::string> SerializeTail(const TailContents& contents, uint64_t body_length) {
  proto::Metadata metadata;
  for (const auto& stripe : contents.stripe_statistics) {
    proto::StripeStatistics* out = metadata.add_stripe_statistics();
    for (const proto::ColumnStatistics& column : stripe) *out->add_column_statistics() = column;
  }
  BlockCompressor compressor(contents.compression);
  const auto encode = [&](const std::string& bytes) {
    return FrameSection(&compressor, contents.block_size, bytes);
  };
  SKEP_ASSIGN_OR_RETURN(std::string out, encode(metadata.SerializeAsString()));
  const size_t metadata_length = out.size();
  SKEP_ASSIGN_OR_RETURN(const std::string footer,
                        encode(FooterOf(contents, body_length).SerializeAsString()));
  out += footer;

  proto::PostScript ps;
  ps.set_footer_length(footer.size());
  ps.set_compression(static_cast<uint32_t>(contents.compression));
  if (contents.compression != Compression::kNone)
    ps.set_compression_block_size(contents.block_size);
  ps.add_version(0);
  ps.add_version(12);
  ps.set_metadata_length(metadata_length);
  ps.set_writer_version(kSkepWriterVersion);
  ps.set_magic("ORC");
  const std::string bytes = ps.SerializeAsString();
  out += bytes;
  out.push_back(static_cast<char>(bytes.size()));
  return out;
}

}  // namespace skep::orc

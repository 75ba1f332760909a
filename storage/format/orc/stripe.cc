#include "storage/format/orc/stripe.h"

#include <algorithm>

#include "storage/base/status_macros.h"
#include "storage/format/orc/chunks.h"
#include "storage/format/orc/errors.h"
#include "storage/format/orc/orc.pb.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

// More streams than any writer makes for a column; keeps a hostile footer small.
constexpr size_t kMaxFooterBytes = 64 << 20;
constexpr uint64_t kMaxFooterLength = 1 << 28;

absl::StatusOr<proto::StripeFooter> ReadFooter(const fs::RandomAccessFile& file,
                                               const Tail& tail,
                                               size_t index) {
  const Stripe& stripe = tail.stripes[index];
  const uint64_t at = stripe.offset + stripe.index_length + stripe.data_length;
  if (stripe.footer_length > kMaxFooterLength) {
    return CorruptFile(
        file.path(), "stripe footer of " + std::to_string(stripe.footer_length) + " bytes", at);
  }
  std::string section(static_cast<size_t>(stripe.footer_length), '\0');
  SKEP_RETURN_IF_ERROR(
      file.ReadAt(static_cast<int64_t>(at), static_cast<int64_t>(section.size()), section.data()));
  const size_t limit = std::min<size_t>(kMaxFooterBytes, (1 << 20) + section.size() * 256);
  const absl::StatusOr<std::string> bytes =
      DecodeSection(tail.compression, tail.block_size, section, limit);
  if (!bytes.ok()) return AtFile(Annotate(bytes.status(), "stripe footer"), file.path(), at);
  proto::StripeFooter footer;
  if (!footer.ParseFromString(*bytes)) {
    return CorruptFile(file.path(), "stripe footer does not parse", at);
  }
  return footer;
}

}  // namespace

const StreamRange* StripeLayout::Find(uint32_t column, StreamKind kind) const {
  for (const StreamRange& stream : streams) {
    if (stream.column == column && stream.kind == kind)
      return stream.length > 0 ? &stream : nullptr;
  }
  return nullptr;
}

absl::StatusOr<StripeLayout> ReadStripeLayout(const fs::RandomAccessFile& file,
                                              const Tail& tail,
                                              size_t index) {
  if (index >= tail.stripes.size()) {
    return MakeError(ErrorReason::kInternal, file.path() + ": no stripe " + std::to_string(index));
  }
  const Stripe& stripe = tail.stripes[index];
  const uint64_t end = stripe.offset + stripe.index_length + stripe.data_length;
  SKEP_ASSIGN_OR_RETURN(const proto::StripeFooter footer, ReadFooter(file, tail, index));
  if (footer.encryption_size() > 0) return UnsupportedFile(file.path(), "column encryption");

  StripeLayout layout;
  layout.writer_zone = footer.writer_timezone();
  uint64_t offset = stripe.offset;
  for (const proto::Stream& stream : footer.streams()) {
    if (stream.length() > end - offset) {
      return CorruptFile(
          file.path(),
          "stream " + std::to_string(layout.streams.size()) + " reaches behind its stripe",
          offset);
    }
    layout.streams.push_back(
        {static_cast<StreamKind>(stream.kind()), stream.column(), offset, stream.length()});
    offset += stream.length();
  }
  if (static_cast<size_t>(footer.columns_size()) != tail.types.size()) {
    return CorruptFile(file.path(),
                       "stripe " + std::to_string(index) + " has " +
                           std::to_string(footer.columns_size()) + " column encodings for " +
                           std::to_string(tail.types.size()) + " columns",
                       end);
  }
  for (const proto::ColumnEncoding& encoding : footer.columns()) {
    auto kind = static_cast<EncodingKind>(encoding.kind());
    if (encoding.kind() > static_cast<uint32_t>(EncodingKind::kDictionaryV2)) {
      // A struct has nothing to encode; some writers leave -1 there.
      if (tail.types[layout.encodings.size()].type.kind != TypeKind::kStruct) {
        return UnsupportedFile(file.path(), "column encoding " + std::to_string(encoding.kind()));
      }
      kind = EncodingKind::kDirect;
    }
    layout.encodings.push_back(
        {kind, encoding.dictionary_size(), encoding.bloom_encoding() == kUtf8AndUtc});
  }
  return layout;
}

absl::StatusOr<std::string> ReadStripeWriterZone(const fs::RandomAccessFile& file,
                                                 const Tail& tail,
                                                 size_t stripe) {
  SKEP_ASSIGN_OR_RETURN(StripeLayout layout, ReadStripeLayout(file, tail, stripe));
  return std::move(layout.writer_zone);
}

}  // namespace skep::orc

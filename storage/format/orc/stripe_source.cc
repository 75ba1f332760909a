#include "storage/format/orc/stripe_source.h"

#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::orc {

StripeSource::StripeSource(const fs::RandomAccessFile& file,
                           const Tail& tail,
                           StripeLayout layout,
                           Calendar calendar)
    : file_(&file), tail_(&tail), layout_(std::move(layout)), calendar_(calendar) {
  for (size_t i = 0; i < layout_.streams.size(); ++i) {
    streams_.emplace(KeyOf(layout_.streams[i].column, layout_.streams[i].kind), i);
  }
}

bool StripeSource::Lists(uint32_t column, StreamKind kind) const {
  return streams_.contains(KeyOf(column, kind));
}

uint64_t StripeSource::StreamLength(uint32_t column, StreamKind kind) const {
  const auto at = streams_.find(KeyOf(column, kind));
  return at == streams_.end() ? 0 : layout_.streams[at->second].length;
}

ByteStream StripeSource::Open(const PlanNode& node, StreamKind kind) const {
  StreamSpec spec;
  spec.file = file_;
  spec.compression = tail_->compression;
  spec.block_size = tail_->block_size;
  spec.column = node.name;
  if (const auto at = streams_.find(KeyOf(node.column, kind)); at != streams_.end()) {
    const StreamRange& stream = layout_.streams[at->second];
    spec.offset = stream.offset;
    spec.length = stream.length;
    if (loaded_ != nullptr && stream.offset >= loaded_at_ &&
        stream.offset + stream.length + ByteStream::kSlack <= loaded_at_ + loaded_->size()) {
      spec.loaded = loaded_;
      spec.loaded_at = loaded_at_;
    }
  }
  return ByteStream(std::move(spec));
}

absl::StatusOr<WriterZone> StripeSource::ZoneFor(const PlanNode& node) const {
  absl::StatusOr<WriterZone> zone = WriterZone::Load(layout_.writer_zone);
  if (zone.ok()) return zone;
  return MakeError(ErrorReason::kNotSupported,
                   path() + ": column " + node.name + ": " + MessageOf(zone.status()),
                   {{"path", path()}, {"column", node.name}, {"what", layout_.writer_zone}});
}

absl::Status StripeSource::Load(uint64_t begin, uint64_t end) {
  auto bytes =
      std::make_shared<std::string>(static_cast<size_t>(end - begin) + ByteStream::kSlack, '\0');
  SKEP_RETURN_IF_ERROR(
      file_->ReadAt(static_cast<int64_t>(begin), static_cast<int64_t>(end - begin), bytes->data()));
  loaded_ = std::move(bytes);
  loaded_at_ = begin;
  return absl::OkStatus();
}

}  // namespace skep::orc

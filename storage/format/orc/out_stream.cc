#include "storage/format/orc/out_stream.h"

#include <algorithm>
#include <utility>

namespace skep::orc {

namespace {

constexpr size_t kPartBytes = 512 << 10;

}  // namespace

void OutStream::Append(const void* bytes, size_t count) {
  const auto* from = static_cast<const char*>(bytes);
  if (compressor_->compression() == Compression::kNone) {
    part_.append(from, count);
    EndPart();
    return;
  }
  while (count > 0) {
    const size_t part = std::min(count, block_size_ - block_.size());
    block_.append(from, part);
    from += part;
    count -= part;
    if (block_.size() == block_size_) EndBlock();
  }
}

void OutStream::EndBlock() {
  if (absl::Status status = compressor_->Append(block_, &part_); !status.ok()) failure_ = status;
  block_.clear();
  EndPart();
}

void OutStream::EndPart() {
  if (part_.size() < kPartBytes) return;
  part_.shrink_to_fit();
  full_length_ += part_.size();
  full_.push_back(std::move(part_));
  part_.clear();
}

std::vector<std::string_view> OutStream::parts() const {
  std::vector<std::string_view> parts(full_.begin(), full_.end());
  if (!part_.empty()) parts.push_back(part_);
  return parts;
}

std::string OutStream::ToString() const {
  std::string out;
  for (const std::string_view part : parts()) out += part;
  return out;
}

void OutStream::AddPosition(Positions* out) const {
  out->push_back(length());
  if (compressor_->compression() != Compression::kNone) out->push_back(block_.size());
}

absl::Status OutStream::Finish() {
  if (!block_.empty()) EndBlock();
  return failure_;
}

void OutStream::Clear() {
  // What one stripe needed the next one needs too, but a writer between stripes should be small.
  full_ = {};
  full_length_ = 0;
  std::string().swap(part_);
  block_.clear();
  failure_ = absl::OkStatus();
}

}  // namespace skep::orc

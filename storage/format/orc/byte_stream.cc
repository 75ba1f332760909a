#include "storage/format/orc/byte_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/orc/decompress.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

constexpr size_t kHeaderBytes = 3;
constexpr size_t kReadAhead = 256 << 10;
// What a decoding step leaves unread in front of new bytes is less than a run: buffers that have
// room for it need not grow again.
constexpr size_t kRest = 8 << 10;
constexpr uint64_t kBestDeflate = 1032;

}  // namespace

ByteStream::ByteStream(StreamSpec spec) : spec_(std::move(spec)) {
  if (spec_.loaded != nullptr) {
    input_at_ =
        reinterpret_cast<const uint8_t*>(spec_.loaded->data()) + (spec_.offset - spec_.loaded_at);
    input_end_ = input_at_ + spec_.length;
    fetched_ = spec_.length;
  }
}

absl::Status ByteStream::Bad(std::string_view what) const {
  if (spec_.file == nullptr) return MakeError(ErrorReason::kCorruptFile, what);
  const uint64_t offset =
      spec_.offset + (compressed() ? fetched_ - input_available() : Tell().offset);
  return MakeError(
      ErrorReason::kCorruptFile,
      spec_.file->path() + ": column " + spec_.column + ": " + std::string(what) + " (offset " +
          std::to_string(offset) + ")",
      {{"path", spec_.file->path()}, {"column", spec_.column}, {"offset", std::to_string(offset)}});
}

absl::Status ByteStream::FillOrFail(size_t count) {
  SKEP_RETURN_IF_ERROR(Fill(count));
  return available() >= count ? absl::OkStatus() : Bad("a stream ends early");
}

// Makes at least `count` stored bytes available.
absl::Status ByteStream::NeedInput(size_t count) {
  const size_t have = input_available();
  if (have >= count) return absl::OkStatus();
  const size_t missing = count - have;
  if (missing > spec_.length - fetched_) return Bad("a stream ends inside of a chunk");
  const auto take = static_cast<size_t>(
      std::min<uint64_t>(spec_.length - fetched_, std::max(missing, kReadAhead)));
  if (input_capacity_ < have + take + kSlack) {
    input_capacity_ = have + take + kSlack + kRest;
    auto larger = std::make_unique_for_overwrite<uint8_t[]>(input_capacity_);
    if (have > 0) std::memcpy(larger.get(), input_at_, have);
    input_ = std::move(larger);
  } else if (have > 0) {
    std::memmove(input_.get(), input_at_, have);
  }
  SKEP_RETURN_IF_ERROR(spec_.file->ReadAt(static_cast<int64_t>(spec_.offset + fetched_),
                                          static_cast<int64_t>(take),
                                          input_.get() + have));
  input_at_ = input_.get();
  input_end_ = input_at_ + have + take;
  fetched_ += take;
  return absl::OkStatus();
}

void ByteStream::Reserve(size_t count) {
  if (block_capacity_ >= count + kSlack) return;
  block_capacity_ = count + kSlack + kRest;
  auto larger = std::make_unique_for_overwrite<uint8_t[]>(block_capacity_);
  const size_t used = available();
  if (used > 0) std::memcpy(larger.get(), at_, used);
  block_ = std::move(larger);
  SetWindow(block_.get(), used);
}

void ByteStream::KeepRest() {
  const size_t left = available();
  const auto gone = static_cast<size_t>(at_ - begin_);
  if (left == 0) {
    marks_.clear();
    SetWindow(block_.get(), 0);
    return;
  }
  const Position here = Tell();
  std::erase_if(marks_, [&](const Mark& mark) { return mark.at <= gone; });
  for (Mark& mark : marks_) mark.at -= gone;
  marks_.insert(marks_.begin(), Mark{0, here});
  if (begin_ != block_.get() && block_capacity_ < left + kSlack) {
    Reserve(left);  // copies
    return;
  }
  std::memmove(block_.get(), at_, left);
  SetWindow(block_.get(), left);
}

// Adds the next chunk to the window; false at the end of the stream.
absl::StatusOr<bool> ByteStream::AppendChunk() {
  if (input_available() == 0 && fetched_ == spec_.length) return false;
  SKEP_RETURN_IF_ERROR(NeedInput(kHeaderBytes));
  const Position position{fetched_ - input_available(), 0};
  const uint32_t header = input_at_[0] | static_cast<uint32_t>(input_at_[1]) << 8 |
                          static_cast<uint32_t>(input_at_[2]) << 16;
  const size_t length = header >> 1;
  SKEP_RETURN_IF_ERROR(NeedInput(kHeaderBytes + length));
  input_at_ += kHeaderBytes;
  const std::string_view body(reinterpret_cast<const char*>(input_at_), length);
  const size_t used = available();
  if ((header & 1) != 0) {
    if (used == 0) {
      SetWindow(input_at_, length);
      marks_.assign(1, Mark{0, position});
      input_at_ += length;
      return true;
    }
    Reserve(used + length);
    std::memcpy(block_.get() + used, body.data(), length);
    SetWindow(block_.get(), used + length);
  } else {
    const size_t most = MostDecompressed(spec_.compression, body, spec_.block_size);
    Reserve(used + most);
    const absl::StatusOr<size_t> produced =
        Decompress(spec_.compression, body, block_.get() + used, most);
    if (!produced.ok()) return Bad(MessageOf(produced.status()));
    SetWindow(block_.get(), used + *produced);
  }
  marks_.push_back(Mark{used, position});
  input_at_ += length;
  return true;
}

// Without compression the window is the stored bytes themselves.
absl::Status ByteStream::FillPlain(size_t count) {
  input_at_ = at_ == nullptr ? input_at_ : at_;
  const uint64_t left = spec_.length - fetched_ + input_available();
  const absl::Status status = NeedInput(static_cast<size_t>(std::min<uint64_t>(count, left)));
  SetWindow(input_at_, input_available());
  return status;
}

absl::Status ByteStream::Fill(size_t count) {
  if (!compressed()) return FillPlain(count);
  KeepRest();
  while (available() < count) {
    // The window may lie in the stored bytes, which the next chunk may move.
    if (begin_ != block_.get() && available() > 0) KeepRest();
    SKEP_ASSIGN_OR_RETURN(const bool more, AppendChunk());
    if (!more) break;
  }
  return absl::OkStatus();
}

absl::Status ByteStream::Read(uint8_t* out, size_t count) {
  while (count > 0) {
    SKEP_RETURN_IF_ERROR(Need(1));
    const size_t take = std::min(count, available());
    std::memcpy(out, at_, take);
    at_ += take;
    out += take;
    count -= take;
  }
  return absl::OkStatus();
}

absl::Status ByteStream::Skip(uint64_t count) {
  while (count > 0) {
    SKEP_RETURN_IF_ERROR(Need(1));
    const auto take = static_cast<size_t>(std::min<uint64_t>(count, available()));
    at_ += take;
    count -= take;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ByteStream::AtEnd() {
  SKEP_RETURN_IF_ERROR(Want(1));
  return available() == 0;
}

ByteStream::Position ByteStream::Tell() const {
  if (!compressed()) return {0, fetched_ - (at_ == nullptr ? input_available() : available())};
  if (marks_.empty()) return {fetched_ - input_available(), 0};
  const auto here = static_cast<size_t>(at_ - begin_);
  const auto after = std::find_if(
      marks_.begin() + 1, marks_.end(), [&](const Mark& mark) { return mark.at > here; });
  const Mark& mark = *(after - 1);
  return {mark.position.chunk, mark.position.offset + (here - mark.at)};
}

absl::Status ByteStream::Seek(Position position) {
  const uint64_t stored = compressed() ? position.chunk : position.offset;
  if (stored > spec_.length) return Bad("a row index points behind its stream");
  if (compressed()) {
    // Still in the window: nothing has to be decompressed again.
    for (size_t i = 0; i < marks_.size(); ++i) {
      const Mark& mark = marks_[i];
      const size_t end =
          i + 1 < marks_.size() ? marks_[i + 1].at : static_cast<size_t>(end_ - begin_);
      if (mark.position.chunk != position.chunk || position.offset < mark.position.offset) continue;
      if (position.offset - mark.position.offset > end - mark.at) continue;
      at_ = begin_ + mark.at + (position.offset - mark.position.offset);
      return absl::OkStatus();
    }
  }
  SetWindow(nullptr, 0);
  marks_.clear();
  if (spec_.loaded != nullptr) {
    input_at_ = input_end_ - (spec_.length - stored);
  } else {
    const uint64_t begin = fetched_ - static_cast<uint64_t>(input_end_ - input_.get());
    if (input_ != nullptr && stored >= begin && stored <= fetched_) {
      input_at_ = input_end_ - (fetched_ - stored);
    } else {
      input_at_ = input_end_ = input_.get();
      fetched_ = stored;
    }
  }
  return compressed() ? Skip(position.offset) : absl::OkStatus();
}

uint64_t ByteStream::MostLeft() const {
  if (!compressed()) return spec_.length - Tell().offset;
  const uint64_t stored = spec_.length - fetched_ + input_available();
  if (stored == 0) return available();
  const uint64_t by_chunks = (stored / (kHeaderBytes + 1) + 1) * spec_.block_size;
  // The other codecs have blocks that no ratio bounds, or bounds beyond those of deflate.
  if (spec_.compression != Compression::kZlib) return available() + std::max(by_chunks, stored);
  return available() + std::min(std::max(by_chunks, stored), (stored + 1) * kBestDeflate);
}

}  // namespace skep::orc

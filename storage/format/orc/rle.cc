#include "storage/format/orc/rle.h"

#include <algorithm>

#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

absl::Status Bad(std::string_view what) { return MakeError(ErrorReason::kCorruptFile, what); }

int64_t Unzigzag(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1)); }

// Width in bits of a 5-bit width code.
constexpr std::array<uint8_t, 32> kWidths{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                          12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                          23, 24, 26, 28, 30, 32, 40, 48, 56, 64};

// The smallest listed width that holds `bits`.
uint32_t ClosestWidth(uint32_t bits) {
  return *std::find_if(
      kWidths.begin(), kWidths.end(), [&](uint8_t width) { return width >= bits; });
}

}  // namespace

absl::Status ByteSource::Refill() {
  SKEP_ASSIGN_OR_RETURN(block_, chunks_.NextBlock());
  used_ = 0;
  return block_.empty() ? Bad("stream ends early") : absl::OkStatus();
}

absl::StatusOr<bool> ByteSource::AtEnd() {
  if (used_ < block_.size()) return false;
  SKEP_ASSIGN_OR_RETURN(block_, chunks_.NextBlock());
  used_ = 0;
  return block_.empty();
}

IntDecoder::IntDecoder(ChunkReader chunks, bool version2, Signedness signedness)
    : bytes_(std::move(chunks)), version2_(version2), signedness_(signedness) {}

int64_t IntDecoder::Unsign(uint64_t value) const {
  return signedness_ == Signedness::kSigned ? Unzigzag(value) : static_cast<int64_t>(value);
}

absl::Status IntDecoder::Next(size_t count, int64_t* out) {
  while (count > 0) {
    if (run_used_ == run_size_) SKEP_RETURN_IF_ERROR(ReadRun());
    const size_t take = std::min(count, run_size_ - run_used_);
    out = std::copy_n(run_.data() + run_used_, take, out);
    run_used_ += take;
    count -= take;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::span<const int64_t>> IntDecoder::NextRun() {
  if (run_used_ == run_size_) {
    SKEP_ASSIGN_OR_RETURN(const bool end, bytes_.AtEnd());
    if (end) return std::span<const int64_t>();
    SKEP_RETURN_IF_ERROR(ReadRun());
  }
  const std::span<const int64_t> rest(run_.data() + run_used_, run_size_ - run_used_);
  run_used_ = run_size_;
  return rest;
}

absl::Status IntDecoder::ReadRun() {
  run_used_ = 0;
  run_size_ = 0;
  if (!version2_) return ReadRunV1();
  SKEP_ASSIGN_OR_RETURN(const uint8_t first, bytes_.Next());
  switch (first >> 6) {
    case 0:
      return ReadShortRepeat(first);
    case 1:
      return ReadDirect(first);
    case 2:
      return ReadPatched(first);
    default:
      return ReadDelta(first);
  }
}

absl::StatusOr<uint64_t> IntDecoder::ReadVarint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    SKEP_ASSIGN_OR_RETURN(const uint8_t byte, bytes_.Next());
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return Bad("varint of more than 10 bytes");
}

absl::StatusOr<uint64_t> IntDecoder::ReadBigEndian(size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) {
    SKEP_ASSIGN_OR_RETURN(const uint8_t byte, bytes_.Next());
    value = value << 8 | byte;
  }
  return value;
}

absl::StatusOr<size_t> IntDecoder::ReadRunLength(uint8_t first) {
  SKEP_ASSIGN_OR_RETURN(const uint8_t low, bytes_.Next());
  return (static_cast<size_t>(first & 1) << 8 | low) + 1;
}

absl::Status IntDecoder::ReadPacked(size_t count, uint32_t width, uint64_t* out) {
  uint32_t have = 0;  // bits of `byte` not yet used
  uint8_t byte = 0;
  for (size_t i = 0; i < count; ++i) {
    uint64_t value = 0;
    for (uint32_t need = width; need > 0;) {
      if (have == 0) {
        SKEP_ASSIGN_OR_RETURN(byte, bytes_.Next());
        have = 8;
      }
      const uint32_t take = std::min(need, have);
      value = value << take | (byte >> (have - take) & ((1U << take) - 1));
      have -= take;
      need -= take;
    }
    out[i] = value;
  }
  return absl::OkStatus();
}

absl::Status IntDecoder::ReadRunV1() {
  SKEP_ASSIGN_OR_RETURN(const uint8_t control, bytes_.Next());
  if (control < 128) {
    SKEP_ASSIGN_OR_RETURN(const uint8_t step, bytes_.Next());
    SKEP_ASSIGN_OR_RETURN(const uint64_t raw, ReadVarint());
    const auto delta = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int8_t>(step)));
    auto value = static_cast<uint64_t>(Unsign(raw));
    run_size_ = static_cast<size_t>(control) + 3;
    for (size_t i = 0; i < run_size_; ++i, value += delta) run_[i] = static_cast<int64_t>(value);
    return absl::OkStatus();
  }
  const size_t count = 256 - static_cast<size_t>(control);
  for (size_t i = 0; i < count; ++i) {
    SKEP_ASSIGN_OR_RETURN(const uint64_t raw, ReadVarint());
    run_[i] = Unsign(raw);
  }
  run_size_ = count;
  return absl::OkStatus();
}

absl::Status IntDecoder::ReadShortRepeat(uint8_t first) {
  SKEP_ASSIGN_OR_RETURN(const uint64_t raw, ReadBigEndian(static_cast<size_t>(first >> 3 & 7) + 1));
  run_size_ = static_cast<size_t>(first & 7) + 3;
  std::fill_n(run_.begin(), run_size_, Unsign(raw));
  return absl::OkStatus();
}

absl::Status IntDecoder::ReadDirect(uint8_t first) {
  const uint32_t width = kWidths[first >> 1 & 31];
  SKEP_ASSIGN_OR_RETURN(const size_t count, ReadRunLength(first));
  std::array<uint64_t, 512> packed;
  SKEP_RETURN_IF_ERROR(ReadPacked(count, width, packed.data()));
  for (size_t i = 0; i < count; ++i) run_[i] = Unsign(packed[i]);
  run_size_ = count;
  return absl::OkStatus();
}

absl::Status IntDecoder::ReadPatched(uint8_t first) {
  const uint32_t width = kWidths[first >> 1 & 31];
  SKEP_ASSIGN_OR_RETURN(const size_t count, ReadRunLength(first));
  SKEP_ASSIGN_OR_RETURN(const uint8_t third, bytes_.Next());
  SKEP_ASSIGN_OR_RETURN(const uint8_t fourth, bytes_.Next());
  const size_t base_bytes = static_cast<size_t>(third >> 5) + 1;
  const uint32_t patch_width = kWidths[third & 31];
  const uint32_t gap_width = static_cast<uint32_t>(fourth >> 5) + 1;
  const size_t patches = fourth & 31;
  if (patches == 0) return Bad("patched run without a patch");
  if (patch_width + gap_width > 64) return Bad("patched run with entries of more than 64 bits");

  SKEP_ASSIGN_OR_RETURN(uint64_t base, ReadBigEndian(base_bytes));
  const uint64_t sign = 1ULL << (base_bytes * 8 - 1);
  if ((base & sign) != 0) base = ~(base & ~sign) + 1;  // sign and magnitude

  std::array<uint64_t, 512> values;
  SKEP_RETURN_IF_ERROR(ReadPacked(count, width, values.data()));
  std::array<uint64_t, 31> entries;
  SKEP_RETURN_IF_ERROR(ReadPacked(patches, ClosestWidth(patch_width + gap_width), entries.data()));
  const uint64_t patch_mask = patch_width == 64 ? ~0ULL : (1ULL << patch_width) - 1;
  uint64_t position = 0;
  for (size_t i = 0; i < patches; ++i) {
    position += patch_width == 64 ? 0 : entries[i] >> patch_width;
    const uint64_t patch = entries[i] & patch_mask;
    if (patch == 0) continue;  // only moves on
    if (position >= count) return Bad("patch behind its run");
    if (width < 64) values[position] |= patch << width;
  }
  for (size_t i = 0; i < count; ++i) run_[i] = static_cast<int64_t>(base + values[i]);
  run_size_ = count;
  return absl::OkStatus();
}

absl::Status IntDecoder::ReadDelta(uint8_t first) {
  const uint32_t code = first >> 1 & 31;
  SKEP_ASSIGN_OR_RETURN(const size_t count, ReadRunLength(first));
  SKEP_ASSIGN_OR_RETURN(const uint64_t raw, ReadVarint());
  SKEP_ASSIGN_OR_RETURN(const uint64_t raw_delta, ReadVarint());
  auto value = static_cast<uint64_t>(Unsign(raw));
  const int64_t delta = Unzigzag(raw_delta);
  run_[0] = static_cast<int64_t>(value);
  if (code == 0) {
    for (size_t i = 1; i < count; ++i) {
      value += static_cast<uint64_t>(delta);
      run_[i] = static_cast<int64_t>(value);
    }
  } else {
    if (count < 2) return Bad("delta run of one value with packed deltas");
    value += static_cast<uint64_t>(delta);
    run_[1] = static_cast<int64_t>(value);
    std::array<uint64_t, 512> packed;
    SKEP_RETURN_IF_ERROR(ReadPacked(count - 2, kWidths[code], packed.data()));
    for (size_t i = 2; i < count; ++i) {
      value = delta < 0 ? value - packed[i - 2] : value + packed[i - 2];
      run_[i] = static_cast<int64_t>(value);
    }
  }
  run_size_ = count;
  return absl::OkStatus();
}

absl::StatusOr<uint8_t> ByteDecoder::Next() {
  if (left_ == 0) {
    SKEP_ASSIGN_OR_RETURN(const uint8_t control, bytes_.Next());
    repeat_ = control < 128;
    left_ = repeat_ ? static_cast<size_t>(control) + 3 : 256 - static_cast<size_t>(control);
    if (repeat_) {
      SKEP_ASSIGN_OR_RETURN(value_, bytes_.Next());
    }
  }
  --left_;
  return repeat_ ? absl::StatusOr<uint8_t>(value_) : bytes_.Next();
}

absl::StatusOr<bool> BitDecoder::Next() {
  if (left_ == 0) {
    SKEP_ASSIGN_OR_RETURN(byte_, bytes_.Next());
    left_ = 8;
  }
  --left_;
  return (byte_ >> left_ & 1) != 0;
}

}  // namespace skep::orc

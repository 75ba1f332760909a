#include "storage/format/orc/rle.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "storage/base/status_macros.h"
#include "storage/format/orc/bit_unpack.h"

namespace skep::orc {

namespace {

constexpr size_t kMaxVarint = 10;
// What a patched run has beside its values: header, base, patch list.
constexpr size_t kMaxPatches = 31;

// Width in bits of a 5-bit width code.
constexpr std::array<uint8_t, 32> kWidths{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                          12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                          23, 24, 26, 28, 30, 32, 40, 48, 56, 64};

// The smallest listed width that holds `bits`.
uint32_t ClosestWidth(uint32_t bits) {
  return *std::find_if(
      kWidths.begin(), kWidths.end(), [&](uint8_t width) { return width >= bits; });
}

uint64_t BigEndian(const uint8_t* in, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | in[i];
  return value;
}

uint64_t* Unsigned(int64_t* values) { return reinterpret_cast<uint64_t*>(values); }

int64_t Plus(int64_t value, int64_t step, size_t times) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) + static_cast<uint64_t>(step) * times);
}

template <class T>
void FillLinear(T* out, size_t count, int64_t first, int64_t step) {
  if (step == 0) {
    std::fill_n(out, count, static_cast<T>(first));
    return;
  }
  auto value = static_cast<uint64_t>(first);
  for (size_t i = 0; i < count; ++i) {
    out[i] = static_cast<T>(value + i * static_cast<uint64_t>(step));
  }
}

}  // namespace

IntDecoder::IntDecoder(ByteStream stream, bool version2, Signedness signedness)
    : stream_(std::move(stream)), version2_(version2), signedness_(signedness) {}

int64_t IntDecoder::Unsign(uint64_t value) const {
  return signedness_ == Signedness::kSigned ? Unzigzag(value) : static_cast<int64_t>(value);
}

template <class T>
absl::Status IntDecoder::Next(T* out, size_t count) {
  while (count > 0) {
    if (left_ == 0) {
      if constexpr (std::is_same_v<T, int64_t>) {
        SKEP_ASSIGN_OR_RETURN(const size_t done, OpenRun(out, count));
        out += done;
        count -= done;
      } else {
        SKEP_RETURN_IF_ERROR(OpenRun(nullptr, 0).status());
      }
      continue;
    }
    const size_t take = std::min(count, left_);
    if (is_linear_) {
      FillLinear(out, take, value_, step_);
      value_ = Plus(value_, step_, take);
    } else {
      for (size_t i = 0; i < take; ++i) out[i] = static_cast<T>(literals_[next_ + i]);
      next_ += take;
    }
    left_ -= take;
    out += take;
    count -= take;
  }
  return absl::OkStatus();
}

template absl::Status IntDecoder::Next(int8_t*, size_t);
template absl::Status IntDecoder::Next(int16_t*, size_t);
template absl::Status IntDecoder::Next(int32_t*, size_t);
template absl::Status IntDecoder::Next(int64_t*, size_t);

absl::Status IntDecoder::Skip(uint64_t count) {
  while (count > 0) {
    if (left_ == 0) SKEP_RETURN_IF_ERROR(OpenRun(nullptr, 0).status());
    const auto take = static_cast<size_t>(std::min<uint64_t>(count, left_));
    if (is_linear_) {
      value_ = Plus(value_, step_, take);
    } else {
      next_ += take;
    }
    left_ -= take;
    count -= take;
  }
  return absl::OkStatus();
}

absl::StatusOr<IntRun> IntDecoder::NextRun(size_t most) {
  if (left_ == 0) SKEP_RETURN_IF_ERROR(OpenRun(nullptr, 0).status());
  if (!is_linear_) {
    --left_;
    return IntRun{1, literals_[next_++], 0};
  }
  const IntRun run{std::min(most, left_), value_, step_};
  value_ = Plus(value_, step_, run.count);
  left_ -= run.count;
  return run;
}

absl::Status IntDecoder::Seek(ByteStream::Position position, uint64_t skip) {
  left_ = 0;
  SKEP_RETURN_IF_ERROR(stream_.Seek(position));
  return Skip(skip);
}

void IntDecoder::Save(Place* place) const {
  place->position = stream_.Tell();
  place->left = left_;
  place->is_linear = is_linear_;
  place->value = value_;
  place->step = step_;
  if (!is_linear_) std::copy_n(literals_.data() + next_, left_, place->literals.data());
}

absl::Status IntDecoder::Restore(const Place& place) {
  SKEP_RETURN_IF_ERROR(stream_.Seek(place.position));
  left_ = place.left;
  is_linear_ = place.is_linear;
  value_ = place.value;
  step_ = place.step;
  next_ = 0;
  if (!is_linear_) std::copy_n(place.literals.data(), left_, literals_.data());
  return absl::OkStatus();
}

int64_t* IntDecoder::Target(size_t count, int64_t* direct, size_t room) {
  return count <= room ? direct : literals_.data();
}

size_t IntDecoder::Keep(size_t count, const int64_t* target) {
  if (target != literals_.data()) return count;
  is_linear_ = false;
  next_ = 0;
  left_ = count;
  return 0;
}

void IntDecoder::SetLinear(size_t count, int64_t first, int64_t step) {
  is_linear_ = true;
  value_ = first;
  step_ = step;
  left_ = count;
}

absl::StatusOr<size_t> IntDecoder::OpenRun(int64_t* direct, size_t room) {
  if (!version2_) return OpenV1(direct, room);
  SKEP_ASSIGN_OR_RETURN(const uint8_t first, stream_.NextByte());
  switch (first >> 6) {
    case 0:
      SKEP_RETURN_IF_ERROR(ShortRepeat(first));
      return size_t{0};
    case 1:
      return Direct(first, direct, room);
    case 2:
      return Patched(first, direct, room);
    default:
      return Delta(first, direct, room);
  }
}

absl::StatusOr<uint64_t> IntDecoder::ReadVarint() {
  SKEP_RETURN_IF_ERROR(stream_.Want(kMaxVarint));
  const uint8_t* in = stream_.data();
  const size_t most = std::min(kMaxVarint, stream_.available());
  uint64_t value = 0;
  for (size_t i = 0; i < most; ++i) {
    value |= static_cast<uint64_t>(in[i] & 0x7f) << (7 * i);
    if (in[i] < 0x80) {
      stream_.Advance(i + 1);
      return value;
    }
  }
  return stream_.Bad(most == kMaxVarint ? "a varint of more than 10 bytes" : "a stream ends early");
}

absl::StatusOr<size_t> IntDecoder::ReadRunLength(uint8_t first) {
  SKEP_ASSIGN_OR_RETURN(const uint8_t low, stream_.NextByte());
  return (static_cast<size_t>(first & 1) << 8 | low) + 1;
}

absl::StatusOr<size_t> IntDecoder::OpenV1(int64_t* direct, size_t room) {
  SKEP_ASSIGN_OR_RETURN(const uint8_t control, stream_.NextByte());
  if (control < 128) {
    SKEP_ASSIGN_OR_RETURN(const uint8_t step, stream_.NextByte());
    SKEP_ASSIGN_OR_RETURN(const uint64_t raw, ReadVarint());
    SetLinear(static_cast<size_t>(control) + 3, Unsign(raw), static_cast<int8_t>(step));
    return size_t{0};
  }
  const size_t count = 256 - static_cast<size_t>(control);
  int64_t* out = Target(count, direct, room);
  for (size_t i = 0; i < count; ++i) {
    SKEP_ASSIGN_OR_RETURN(const uint64_t raw, ReadVarint());
    out[i] = Unsign(raw);
  }
  return Keep(count, out);
}

absl::Status IntDecoder::ShortRepeat(uint8_t first) {
  const size_t bytes = static_cast<size_t>(first >> 3 & 7) + 1;
  SKEP_RETURN_IF_ERROR(stream_.Need(bytes));
  SetLinear(static_cast<size_t>(first & 7) + 3, Unsign(BigEndian(stream_.data(), bytes)), 0);
  stream_.Advance(bytes);
  return absl::OkStatus();
}

absl::StatusOr<size_t> IntDecoder::Direct(uint8_t first, int64_t* direct, size_t room) {
  const uint32_t width = kWidths[first >> 1 & 31];
  SKEP_ASSIGN_OR_RETURN(const size_t count, ReadRunLength(first));
  const size_t bytes = PackedBytes(count, width);
  SKEP_RETURN_IF_ERROR(stream_.Need(bytes));
  int64_t* out = Target(count, direct, room);
  UnpackBits(stream_.data(), width, count, Unsigned(out));
  if (signedness_ == Signedness::kSigned) UnzigzagAll(Unsigned(out), count);
  stream_.Advance(bytes);
  return Keep(count, out);
}

absl::StatusOr<size_t> IntDecoder::Patched(uint8_t first, int64_t* direct, size_t room) {
  const uint32_t width = kWidths[first >> 1 & 31];
  SKEP_ASSIGN_OR_RETURN(const size_t count, ReadRunLength(first));
  SKEP_RETURN_IF_ERROR(stream_.Need(2));
  const uint8_t third = stream_.data()[0], fourth = stream_.data()[1];
  const size_t base_bytes = static_cast<size_t>(third >> 5) + 1;
  const uint32_t patch_width = kWidths[third & 31];
  const uint32_t gap_width = static_cast<uint32_t>(fourth >> 5) + 1;
  const size_t patches = fourth & kMaxPatches;
  if (patches == 0) return stream_.Bad("a patched run without a patch");
  if (patch_width + gap_width > 64) {
    return stream_.Bad("a patched run with entries of more than 64 bits");
  }
  const uint32_t entry_width = ClosestWidth(patch_width + gap_width);
  const size_t packed = PackedBytes(count, width);
  const size_t bytes = 2 + base_bytes + packed + PackedBytes(patches, entry_width);
  SKEP_RETURN_IF_ERROR(stream_.Need(bytes));
  const uint8_t* in = stream_.data() + 2;

  uint64_t base = BigEndian(in, base_bytes);
  const uint64_t sign = 1ULL << (base_bytes * 8 - 1);
  if ((base & sign) != 0) base = ~(base & ~sign) + 1;  // sign and magnitude

  int64_t* out = Target(count, direct, room);
  uint64_t* values = Unsigned(out);
  UnpackBits(in + base_bytes, width, count, values);
  std::array<uint64_t, kMaxPatches> entries;
  UnpackBits(in + base_bytes + packed, entry_width, patches, entries.data());
  const uint64_t patch_mask = (1ULL << patch_width) - 1;  // patch_width < 64: gaps need a bit
  uint64_t position = 0;
  for (size_t i = 0; i < patches; ++i) {
    position += entries[i] >> patch_width;
    const uint64_t patch = entries[i] & patch_mask;
    if (patch == 0) continue;  // only moves on
    if (position >= count) return stream_.Bad("a patch behind its run");
    if (width < 64) values[position] |= patch << width;
  }
  for (size_t i = 0; i < count; ++i) values[i] += base;
  stream_.Advance(bytes);
  return Keep(count, out);
}

absl::StatusOr<size_t> IntDecoder::Delta(uint8_t first, int64_t* direct, size_t room) {
  const uint32_t code = first >> 1 & 31;
  SKEP_ASSIGN_OR_RETURN(const size_t count, ReadRunLength(first));
  SKEP_ASSIGN_OR_RETURN(const uint64_t raw, ReadVarint());
  SKEP_ASSIGN_OR_RETURN(const uint64_t raw_delta, ReadVarint());
  const int64_t delta = Unzigzag(raw_delta);
  if (code == 0) {
    SetLinear(count, Unsign(raw), delta);
    return size_t{0};
  }
  if (count < 2) return stream_.Bad("a delta run of one value with packed deltas");
  const size_t bytes = PackedBytes(count - 2, kWidths[code]);
  SKEP_RETURN_IF_ERROR(stream_.Need(bytes));
  int64_t* out = Target(count, direct, room);
  uint64_t* values = Unsigned(out);
  values[0] = static_cast<uint64_t>(Unsign(raw));
  values[1] = values[0] + static_cast<uint64_t>(delta);
  UnpackBits(stream_.data(), kWidths[code], count - 2, values + 2);
  uint64_t value = values[1];
  if (delta < 0) {
    for (size_t i = 2; i < count; ++i) values[i] = value -= values[i];
  } else {
    for (size_t i = 2; i < count; ++i) values[i] = value += values[i];
  }
  stream_.Advance(bytes);
  return Keep(count, out);
}

absl::Status ByteDecoder::OpenRun() {
  SKEP_ASSIGN_OR_RETURN(const uint8_t control, stream_.NextByte());
  repeats_ = control < 128;
  left_ = repeats_ ? static_cast<size_t>(control) + 3 : 256 - static_cast<size_t>(control);
  if (repeats_) {
    const absl::StatusOr<uint8_t> value = stream_.NextByte();
    if (!value.ok()) {
      left_ = 0;
      return value.status();
    }
    value_ = *value;
  }
  return absl::OkStatus();
}

absl::Status ByteDecoder::Next(uint8_t* out, size_t count) {
  while (count > 0) {
    if (left_ == 0) SKEP_RETURN_IF_ERROR(OpenRun());
    const size_t take = std::min(count, left_);
    if (repeats_) {
      std::memset(out, value_, take);
    } else {
      SKEP_RETURN_IF_ERROR(stream_.Read(out, take));
    }
    left_ -= take;
    out += take;
    count -= take;
  }
  return absl::OkStatus();
}

absl::Status ByteDecoder::Skip(uint64_t count) {
  while (count > 0) {
    if (left_ == 0) SKEP_RETURN_IF_ERROR(OpenRun());
    const auto take = static_cast<size_t>(std::min<uint64_t>(count, left_));
    if (!repeats_) SKEP_RETURN_IF_ERROR(stream_.Skip(take));
    left_ -= take;
    count -= take;
  }
  return absl::OkStatus();
}

absl::Status ByteDecoder::Seek(ByteStream::Position position, uint64_t skip) {
  left_ = 0;
  SKEP_RETURN_IF_ERROR(stream_.Seek(position));
  return Skip(skip);
}

absl::Status ByteDecoder::Restore(const Place& place) {
  SKEP_RETURN_IF_ERROR(stream_.Seek(place.position));
  left_ = place.left;
  repeats_ = place.repeats;
  value_ = place.value;
  return absl::OkStatus();
}

absl::Status BitDecoder::Next(uint8_t* out, size_t count) {
  if (count == 0) return absl::OkStatus();
  const size_t out_bytes = (count + 7) / 8;
  if (count <= pending_bits_) {
    *out = static_cast<uint8_t>(pending_ & ((1U << count) - 1));
    pending_ = static_cast<uint8_t>(pending_ >> count);
    pending_bits_ -= static_cast<uint32_t>(count);
    return absl::OkStatus();
  }
  const size_t missing = count - pending_bits_;
  const size_t bytes = (missing + 7) / 8;  // at most out_bytes
  SKEP_RETURN_IF_ERROR(bytes_.Next(out, bytes));
  ReverseBits(out, bytes);
  const auto spare = static_cast<uint32_t>(bytes * 8 - missing);
  const uint8_t last = out[bytes - 1];
  if (pending_bits_ > 0) {
    // Every byte moves up by the bits that were pending.
    uint32_t carry = pending_;
    for (size_t i = 0; i < bytes; ++i) {
      const uint32_t both = carry | static_cast<uint32_t>(out[i]) << pending_bits_;
      out[i] = static_cast<uint8_t>(both);
      carry = both >> 8;
    }
    if (out_bytes > bytes) out[bytes] = static_cast<uint8_t>(carry);
  }
  if (const size_t used = count % 8; used != 0) {
    out[out_bytes - 1] = static_cast<uint8_t>(out[out_bytes - 1] & ((1U << used) - 1));
  }
  pending_bits_ = spare;
  pending_ = spare == 0 ? uint8_t{0} : static_cast<uint8_t>(last >> (8 - spare));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> BitDecoder::Skip(uint64_t count) {
  std::array<uint8_t, 512> bits;
  uint64_t set = 0;
  while (count > 0) {
    const auto take = static_cast<size_t>(std::min<uint64_t>(count, bits.size() * 8));
    SKEP_RETURN_IF_ERROR(Next(bits.data(), take));
    for (size_t i = 0; i < (take + 7) / 8; ++i)
      set += static_cast<uint64_t>(std::popcount(bits[i]));
    count -= take;
  }
  return set;
}

absl::Status BitDecoder::Seek(ByteStream::Position position,
                              uint64_t skip_bytes,
                              uint64_t skip_bits) {
  pending_bits_ = 0;
  pending_ = 0;
  SKEP_RETURN_IF_ERROR(bytes_.Seek(position, skip_bytes));
  return Skip(skip_bits).status();
}

void BitDecoder::Save(Place* place) const {
  bytes_.Save(&place->bytes);
  place->pending = pending_;
  place->pending_bits = pending_bits_;
}

absl::Status BitDecoder::Restore(const Place& place) {
  SKEP_RETURN_IF_ERROR(bytes_.Restore(place.bytes));
  pending_ = place.pending;
  pending_bits_ = place.pending_bits;
  return absl::OkStatus();
}

}  // namespace skep::orc

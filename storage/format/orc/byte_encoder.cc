#include "storage/format/orc/byte_encoder.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace skep::orc {

namespace {

constexpr size_t kMinRun = 3, kMaxRun = 130, kMaxLiterals = 128;
// A shorter run joins the bytes before it.
constexpr size_t kWorthARun = 32;

constexpr auto kReversed = [] {
  std::array<uint8_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    for (uint32_t bit = 0; bit < 8; ++bit) {
      if ((byte >> bit & 1) != 0) table[byte] |= static_cast<uint8_t>(0x80 >> bit);
    }
  }
  return table;
}();

}  // namespace

void ByteEncoder::Add(const uint8_t* bytes, size_t count) {
  while (count > 0) {
    if (run_count_ > 0) {
      size_t same = 0;
      while (same < count && bytes[same] == run_byte_) ++same;
      AddRun(run_byte_, same);
      bytes += same;
      count -= same;
      if (count == 0) return;
      EndRun();
    }
    buffer_.resize(kBuffer);
    const size_t part = std::min(count, kBuffer - pending_);
    std::memcpy(buffer_.data() + pending_, bytes, part);
    pending_ += part;
    bytes += part;
    count -= part;
    if (pending_ == kBuffer) EncodeBuffer();
  }
}

void ByteEncoder::AddRun(uint8_t byte, size_t count) {
  while (count > 0) {
    if (run_count_ == 0 && pending_ > 0 && count < kWorthARun) {
      const size_t part = std::min(count, kBuffer - pending_);
      std::memset(buffer_.data() + pending_, byte, part);
      pending_ += part;
      count -= part;
      if (pending_ == kBuffer) EncodeBuffer();
      continue;
    }
    if (pending_ > 0) EncodeBuffer();
    if (run_count_ > 0 && run_byte_ != byte) {
      EndRun();
      continue;
    }
    run_byte_ = byte;
    const size_t part = std::min(count, kMaxRun - run_count_);
    run_count_ += part;
    count -= part;
    if (run_count_ == kMaxRun) {
      EncodeRun(run_byte_, run_count_);
      run_count_ = 0;
    }
  }
}

// The pending run becomes a run of the stream or, where it is short, part of the buffer.
void ByteEncoder::EndRun() {
  if (run_count_ >= kMinRun) {
    EncodeRun(run_byte_, run_count_);
  } else {
    buffer_.resize(kBuffer);
    std::memset(buffer_.data(), run_byte_, run_count_);
    pending_ = run_count_;
  }
  run_count_ = 0;
}

void ByteEncoder::EncodeRun(uint8_t byte, size_t count) {
  const uint8_t out[2] = {static_cast<uint8_t>(count - kMinRun), byte};
  stream_.Append(out, sizeof(out));
}

void ByteEncoder::EncodeLiterals(size_t from, size_t end) {
  for (; from < end; from += std::min(kMaxLiterals, end - from)) {
    const size_t part = std::min(kMaxLiterals, end - from);
    const auto control = static_cast<uint8_t>(256 - part);
    stream_.Append(&control, 1);
    stream_.Append(buffer_.data() + from, part);
  }
}

void ByteEncoder::EncodeBuffer() {
  size_t literal = 0, at = 0;
  while (at < pending_) {
    size_t end = at + 1;
    while (end < pending_ && buffer_[end] == buffer_[at] && end - at < kMaxRun) ++end;
    if (end - at >= kMinRun) {
      EncodeLiterals(literal, at);
      EncodeRun(buffer_[at], end - at);
      literal = end;
    }
    at = end;
  }
  EncodeLiterals(literal, pending_);
  pending_ = 0;
}

absl::Status ByteEncoder::Finish() {
  if (run_count_ > 0) EndRun();
  if (pending_ > 0) EncodeBuffer();
  return stream_.Finish();
}

void ByteEncoder::Clear() {
  stream_.Clear();
  pending_ = run_count_ = 0;
}

void BitEncoder::AddBit(bool bit) {
  if (bit) partial_ |= static_cast<uint8_t>(0x80 >> used_);
  if (++used_ < 8) return;
  bytes_.Add(&partial_, 1);
  used_ = partial_ = 0;
}

void BitEncoder::Add(const uint8_t* bitmap, int64_t from, int64_t count) {
  const auto bit = [&](int64_t i) { return (bitmap[i >> 3] >> (i & 7) & 1) != 0; };
  for (; count > 0 && used_ != 0; ++from, --count) AddBit(bit(from));
  std::array<uint8_t, 64> bytes;
  while (count >= 8) {
    const auto part = std::min<int64_t>(count / 8, bytes.size());
    const auto shift = static_cast<uint32_t>(from & 7);
    const uint8_t* const first = bitmap + (from >> 3);
    for (int64_t i = 0; i < part; ++i) {
      uint32_t byte = first[i];
      if (shift != 0) byte = (byte | static_cast<uint32_t>(first[i + 1]) << 8) >> shift;
      bytes[static_cast<size_t>(i)] = kReversed[byte & 0xff];
    }
    bytes_.Add(bytes.data(), static_cast<size_t>(part));
    from += part * 8;
    count -= part * 8;
  }
  for (; count > 0; ++from, --count) AddBit(bit(from));
}

void BitEncoder::AddRun(bool bit, int64_t count) {
  for (; count > 0 && used_ != 0; --count) AddBit(bit);
  bytes_.AddRun(bit ? 0xff : 0, static_cast<size_t>(count / 8));
  for (count %= 8; count > 0; --count) AddBit(bit);
}

absl::Status BitEncoder::Finish() {
  if (used_ > 0) {
    bytes_.Add(&partial_, 1);
    used_ = partial_ = 0;
  }
  return bytes_.Finish();
}

void BitEncoder::Clear() {
  bytes_.Clear();
  used_ = partial_ = 0;
}

}  // namespace skep::orc

#include "storage/format/orc/rle_encode.h"

#include <algorithm>
#include <array>
#include <bit>

namespace skep::orc {

namespace {

constexpr size_t kMinRepeat = 3;
constexpr size_t kMaxShortRepeat = 10;
constexpr size_t kMaxRun = 512;

struct Width {
  uint32_t bits;
  uint32_t code;
};

// Widths that are whole in bytes or divide one: quick to unpack.
constexpr std::array<Width, 11> kWidths{{{1, 0},
                                         {2, 1},
                                         {4, 3},
                                         {8, 7},
                                         {16, 15},
                                         {24, 23},
                                         {32, 27},
                                         {40, 28},
                                         {48, 29},
                                         {56, 30},
                                         {64, 31}}};

void AppendBigEndian(uint64_t value, size_t bytes, std::string* out) {
  for (size_t i = bytes; i-- > 0;) out->push_back(static_cast<char>(value >> (i * 8) & 0xff));
}

void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendHeader(uint32_t kind, uint32_t code, size_t count, std::string* out) {
  const auto rest = static_cast<uint32_t>(count - 1);
  out->push_back(static_cast<char>(kind << 6 | code << 1 | rest >> 8));
  out->push_back(static_cast<char>(rest & 0xff));
}

void AppendRepeat(uint64_t value, size_t count, std::string* out) {
  constexpr uint32_t kDelta = 3;
  if (count <= kMaxShortRepeat) {
    const size_t bytes = std::max<size_t>(1, (static_cast<size_t>(std::bit_width(value)) + 7) / 8);
    out->push_back(static_cast<char>((bytes - 1) << 3 | (count - kMinRepeat)));
    AppendBigEndian(value, bytes, out);
    return;
  }
  AppendHeader(kDelta, 0, count, out);
  AppendVarint(value, out);
  AppendVarint(0, out);  // the difference
}

void AppendDirect(std::span<const uint64_t> values, std::string* out) {
  constexpr uint32_t kDirect = 1;
  uint64_t all = 0;
  for (const uint64_t value : values) all |= value;
  const auto needed = static_cast<uint32_t>(std::bit_width(all));
  const Width width =
      *std::find_if(kWidths.begin(), kWidths.end(), [&](Width w) { return w.bits >= needed; });
  AppendHeader(kDirect, width.code, values.size(), out);
  if (width.bits >= 8) {
    for (const uint64_t value : values) AppendBigEndian(value, width.bits / 8, out);
    return;
  }
  uint32_t byte = 0, used = 0;
  for (const uint64_t value : values) {
    byte = byte << width.bits | static_cast<uint32_t>(value);
    used += width.bits;
    if (used == 8) {
      out->push_back(static_cast<char>(byte));
      byte = used = 0;
    }
  }
  if (used > 0) out->push_back(static_cast<char>(byte << (8 - used)));
}

}  // namespace

void EncodeUnsignedRuns(std::span<const uint64_t> values, std::string* out) {
  size_t literal = 0;  // where values not yet written begin
  size_t at = 0;
  const auto flush = [&](size_t end) {
    for (; literal < end; literal += std::min(kMaxRun, end - literal)) {
      AppendDirect(values.subspan(literal, std::min(kMaxRun, end - literal)), out);
    }
  };
  while (at < values.size()) {
    size_t end = at + 1;
    while (end < values.size() && values[end] == values[at] && end - at < kMaxRun) ++end;
    if (end - at >= kMinRepeat) {
      flush(at);
      AppendRepeat(values[at], end - at, out);
      literal = end;
    }
    at = end;
  }
  flush(values.size());
}

uint64_t NanosCode(uint32_t nanos) {
  if (nanos == 0) return 0;
  if (nanos % 100 != 0) return static_cast<uint64_t>(nanos) << 3;
  uint64_t value = nanos / 100;
  uint64_t zeros = 1;  // as stored: one less than there are
  while (value % 10 == 0 && zeros < 7) {
    value /= 10;
    ++zeros;
  }
  return value << 3 | zeros;
}

}  // namespace skep::orc

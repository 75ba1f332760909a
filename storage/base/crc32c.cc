#include "storage/base/crc32c.h"

#include <string.h>

#include <array>
#include <bit>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace skep {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// tables[k][b]: what byte b contributes when k bytes follow it in the same step of eight.
constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint32_t OneByte(uint32_t state, char byte) {
  return (state >> 8) ^ kTables[0][(state ^ static_cast<uint8_t>(byte)) & 0xff];
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t WithInstruction(std::string_view bytes, uint32_t crc) {
  uint64_t state = ~crc;
  while (bytes.size() >= 8) {
    uint64_t word = 0;
    memcpy(&word, bytes.data(), 8);
    state = _mm_crc32_u64(state, word);
    bytes.remove_prefix(8);
  }
  auto narrow = static_cast<uint32_t>(state);
  for (const char byte : bytes) narrow = _mm_crc32_u8(narrow, static_cast<uint8_t>(byte));
  return ~narrow;
}
#endif

}  // namespace

uint32_t Crc32cPortable(std::string_view bytes, uint32_t crc) {
  uint32_t state = ~crc;
  if constexpr (std::endian::native == std::endian::little) {
    while (bytes.size() >= 8) {
      uint64_t word = 0;
      memcpy(&word, bytes.data(), 8);
      word ^= state;
      state = 0;
      for (int k = 0; k < 8; ++k) state ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
      bytes.remove_prefix(8);
    }
  }
  for (const char byte : bytes) state = OneByte(state, byte);
  return ~state;
}

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return WithInstruction(bytes, crc);
#endif
  return Crc32cPortable(bytes, crc);
}

}  // namespace skep

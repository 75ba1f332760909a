#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace skep::meta {

// A number at a place of `out`, which must be long enough; least significant byte first.
template <std::unsigned_integral Number>
void PutNumber(std::string& out, size_t at, Number value) {
  for (size_t i = 0; i < sizeof(Number); ++i) out[at + i] = static_cast<char>(value >> (8 * i));
}

template <std::unsigned_integral Number>
Number GetNumber(std::string_view bytes, size_t at) {
  Number value = 0;
  for (size_t i = 0; i < sizeof(Number); ++i) {
    value |= static_cast<Number>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  }
  return value;
}

}  // namespace skep::meta

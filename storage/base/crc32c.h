#pragma once

#include <cstdint>
#include <string_view>

namespace skep {

// CRC-32C (Castagnoli, as in iSCSI, RFC 3720): Crc32c("123456789") is 0xe3069283. Goes on from
// `crc`, the value of the bytes before; 0 begins.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

// The same without the processor's instruction, for tests.
uint32_t Crc32cPortable(std::string_view bytes, uint32_t crc = 0);

}  // namespace skep

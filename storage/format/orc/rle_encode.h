#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace skep::orc {

// Appends unsigned integers as runs of version 2: short repeats, long repeats and direct runs. That
// is less than the format has, and legal for every input.
void EncodeUnsignedRuns(std::span<const uint64_t> values, std::string* out);

// The code of a fraction of a second (TY-14).
uint64_t NanosCode(uint32_t nanos);

}  // namespace skep::orc

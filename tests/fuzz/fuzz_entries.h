#pragma once

#include <cstddef>
#include <cstdint>

namespace skep::fuzz {

// Entry functions of fuzzers: they take any bytes, and abort where a promise is broken. 0, as
// libFuzzer wants it.

// The body of a record of the store's log behind a checksum that is right by accident or on
// purpose: the first two bytes are the number of effects (little-endian), the rest is the body. It
// is refused or is a unit that is written as it was read.
int FuzzLogRecord(const uint8_t* data, size_t size);

// A file of the store's log. The lowest bit of the first byte says whether its checksums are made
// right first, so that what lies behind them is reached; the file is the rest.
int FuzzLogSegment(const uint8_t* data, size_t size);

// ORC: a whole file, of which the first rows and some in its middle are read; a stripe footer; a
// stream of integer runs of either version; a stream of byte runs and of bits. Each is refused with
// a reason that such bytes have, or read into valid arrays.
int FuzzOrcFile(const uint8_t* data, size_t size);
int FuzzOrcStripeFooter(const uint8_t* data, size_t size);
int FuzzOrcIntegers(const uint8_t* data, size_t size);
int FuzzOrcBytes(const uint8_t* data, size_t size);

}  // namespace skep::fuzz

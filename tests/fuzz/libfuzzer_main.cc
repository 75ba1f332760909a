// The door of libFuzzer to one entry function, which the build names.

#include "tests/fuzz/fuzz_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return skep::fuzz::SKEP_FUZZ_ENTRY(data, size);
}

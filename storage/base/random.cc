#include "storage/base/random.h"

#include <cstring>
#include <random>

#include "storage/base/text.h"

namespace skep {

uint64_t SystemRandom::NextUint64() {
  thread_local std::mt19937_64 engine = [] {
    std::random_device device;
    std::seed_seq seed{
        device(), device(), device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return engine();
}

// SplitMix64: one word of state, every seed is a good one.
uint64_t SeededRandom::NextUint64() {
  state_ += 0x9E3779B97F4A7C15ULL;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

Uuid MakeUuid(Random& random) {
  Uuid uuid;
  const uint64_t words[2] = {random.NextUint64(), random.NextUint64()};
  std::memcpy(uuid.data(), words, sizeof(words));
  uuid[6] = static_cast<uint8_t>((uuid[6] & 0x0F) | 0x40);
  uuid[8] = static_cast<uint8_t>((uuid[8] & 0x3F) | 0x80);
  return uuid;
}

std::string FormatUuid(const Uuid& uuid) {
  const std::string hex = BytesToHex({reinterpret_cast<const char*>(uuid.data()), uuid.size()});
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20);
}

double Jitter(Random& random, double base, double fraction) {
  const double unit =
      static_cast<double>(random.NextUint64() >> 11) / static_cast<double>(1ULL << 53);
  return base * (1 + fraction * (2 * unit - 1));
}

}  // namespace skep

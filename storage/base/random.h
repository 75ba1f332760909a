#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace skep {

// Randomness as a dependency: request ids and jitter. Implementations state their thread class.
class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t NextUint64() = 0;
};

// Seeded from the operating system. Thread-safe.
class SystemRandom final : public Random {
 public:
  uint64_t NextUint64() override;
};

// Reproducible: the same seed gives the same sequence. Thread-compatible.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t NextUint64() override;

 private:
  uint64_t state_;
};

// 16 random bytes in the form of a version-4 UUID.
using Uuid = std::array<uint8_t, 16>;
Uuid MakeUuid(Random& random);
std::string FormatUuid(const Uuid& uuid);

// `base` ± `fraction` of it, uniformly.
double Jitter(Random& random, double base, double fraction);

}  // namespace skep

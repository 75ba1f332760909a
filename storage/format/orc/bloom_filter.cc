#include "storage/format/orc/bloom_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace skep::orc {

namespace {

uint64_t HashInteger(int64_t value) {
  auto key = static_cast<uint64_t>(value);
  key = ~key + (key << 21);
  key ^= static_cast<uint64_t>(static_cast<int64_t>(key) >> 24);
  key += (key << 3) + (key << 8);
  key ^= static_cast<uint64_t>(static_cast<int64_t>(key) >> 14);
  key += (key << 2) + (key << 4);
  key ^= static_cast<uint64_t>(static_cast<int64_t>(key) >> 28);
  key += key << 31;
  return key;
}

uint64_t HashBytes(std::string_view bytes) {
  constexpr uint64_t kFirst = 0x87c37b91114253d5, kSecond = 0x4cf5ad432745937f, kSeed = 104729;
  uint64_t hash = kSeed;
  const auto mix = [](uint64_t word) { return std::rotl(word * kFirst, 31) * kSecond; };
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    hash = std::rotl(hash ^ mix(word), 27) * 5 + 0x52dce729;
  }
  if (at < bytes.size()) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, bytes.size() - at);
    hash ^= mix(word);
  }
  hash ^= bytes.size();
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccd;
  hash ^= hash >> 33;
  hash *= 0xc4ceb9fe1a85ec53;
  hash ^= hash >> 33;
  return hash;
}

uint64_t HashDouble(double value) {
  // NaNs differ in their payload; Java knows one.
  constexpr int64_t kNan = 0x7ff8000000000000;
  return HashInteger(std::isnan(value) ? kNan : std::bit_cast<int64_t>(value));
}

}  // namespace

BloomFilter::BloomFilter(uint64_t entries, double false_positives) {
  const double ln2 = std::log(2.0);
  const auto wanted = static_cast<uint64_t>(-static_cast<double>(entries) *
                                            std::log(false_positives) / (ln2 * ln2));
  const uint64_t bits = wanted + 64 - wanted % 64;
  hash_functions_ = static_cast<uint32_t>(
      std::max(1.0, std::round(static_cast<double>(bits) / static_cast<double>(entries) * ln2)));
  bits_.assign(bits / 8, '\0');
}

std::optional<BloomFilter> BloomFilter::Of(uint32_t hash_functions, std::string bits) {
  constexpr uint32_t kMostFunctions = 64;
  constexpr size_t kMostBytes = (1U << 31) / 8;  // positions have 31 bits
  if (hash_functions == 0 || hash_functions > kMostFunctions || bits.empty() ||
      bits.size() > kMostBytes || bits.size() % 8 != 0) {
    return std::nullopt;
  }
  return BloomFilter(hash_functions, std::move(bits));
}

template <class Visit>
bool BloomFilter::EachBit(uint64_t hash, const Visit& visit) const {
  const auto low = static_cast<uint32_t>(hash), high = static_cast<uint32_t>(hash >> 32);
  const auto bits = static_cast<uint32_t>(bits_.size() * 8);
  for (uint32_t i = 1; i <= hash_functions_; ++i) {
    uint32_t combined = low + i * high;
    if (static_cast<int32_t>(combined) < 0) combined = ~combined;
    if (!visit(combined % bits)) return false;
  }
  return true;
}

void BloomFilter::Add(uint64_t hash) {
  EachBit(hash, [&](uint32_t bit) {
    bits_[bit >> 3] = static_cast<char>(bits_[bit >> 3] | 1 << (bit & 7));
    return true;
  });
}

bool BloomFilter::MayContain(uint64_t hash) const {
  return EachBit(hash, [&](uint32_t bit) { return (bits_[bit >> 3] >> (bit & 7) & 1) != 0; });
}

void BloomFilter::AddInteger(int64_t value) { Add(HashInteger(value)); }
void BloomFilter::AddDouble(double value) { Add(HashDouble(value)); }
void BloomFilter::AddBytes(std::string_view bytes) { Add(HashBytes(bytes)); }
bool BloomFilter::MayContainInteger(int64_t value) const { return MayContain(HashInteger(value)); }
bool BloomFilter::MayContainDouble(double value) const { return MayContain(HashDouble(value)); }
bool BloomFilter::MayContainBytes(std::string_view bytes) const {
  return MayContain(HashBytes(bytes));
}

void BloomFilter::Clear() { std::fill(bits_.begin(), bits_.end(), '\0'); }

}  // namespace skep::orc

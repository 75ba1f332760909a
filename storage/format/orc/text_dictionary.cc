#include "storage/format/orc/text_dictionary.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace skep::orc {

namespace {

constexpr size_t kFirstSlots = 64;

uint64_t Mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t LoadUpTo8(const char* at, size_t count) {
  uint64_t word = 0;
  std::memcpy(&word, at, count);
  return word;
}

uint64_t Hash(std::string_view text) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15, kOther = 0xe7037ed1a0b428db;
  uint64_t hash = text.size() * kOdd;
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) hash = Mix(hash ^ LoadUpTo8(at, 8), kOdd);
  if (left > 0) hash = Mix(hash ^ LoadUpTo8(at, left), kOther);
  return Mix(hash ^ kOther, kOdd);
}

}  // namespace

uint32_t TextDictionary::Add(std::string_view text) {
  const uint64_t hash = Hash(text);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const uint32_t entry = slots_[slot] - 1;
    if (hashes_[entry] == hash && At(entry) == text) return entry;
  }
  const auto entry = static_cast<uint32_t>(ends_.size());
  bytes_.append(text);
  ends_.push_back(bytes_.size());
  hashes_.push_back(hash);
  slots_[slot] = entry + 1;
  if (ends_.size() * 2 > slots_.size()) Grow();
  return entry;
}

void TextDictionary::Grow() {
  slots_.assign(slots_.size() * 4, 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t entry = 0; entry < hashes_.size(); ++entry) {
    size_t slot = hashes_[entry] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = entry + 1;
  }
}

uint64_t TextDictionary::memory() const {
  return bytes_.capacity() + (ends_.capacity() + hashes_.capacity()) * sizeof(uint64_t) +
         slots_.capacity() * sizeof(uint32_t);
}

std::vector<uint32_t> TextDictionary::Sorted() const {
  std::vector<uint32_t> order(size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return At(a) < At(b); });
  return order;
}

void TextDictionary::Clear() {
  std::string().swap(bytes_);
  ends_ = {};
  hashes_ = {};
  slots_.assign(kFirstSlots, 0);
  slots_.shrink_to_fit();
}

}  // namespace skep::orc

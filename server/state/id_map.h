#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <utility>

#include "storage/base/check.h"

namespace skep::state {

// A map from ids that are given out in ascending order, of which most live shortly: found by their
// number instead of by search. Find, insert at the end and erase take O(1); iteration is in
// ascending order. An id that outlives all around it costs one block, and eight bytes for every 256
// ids given out since. Addresses hold until the entry is erased. Thread-compatible.
template <class Id, class Value>
class IdMap {
 public:
  using Entry = std::pair<const Id, Value>;

 private:
  static constexpr int64_t kBlock = 256;
  struct Block {
    std::array<std::unique_ptr<Entry>, kBlock> entries;
    int used = 0;
  };

 public:
  // Over the entries as they are: Find gives what may be changed.
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;

    const_iterator() = default;
    const_iterator(const IdMap* map, int64_t number) : map_(map), number_(number) {}
    const Entry& operator*() const { return *map_->At(number_); }
    const Entry* operator->() const { return map_->At(number_); }
    const_iterator& operator++() {
      number_ = map_->NextUsed(number_ + 1);
      return *this;
    }
    const_iterator operator++(int) {
      return std::exchange(*this, const_iterator(map_, map_->NextUsed(number_ + 1)));
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) {
      return a.number_ == b.number_;
    }

   private:
    const IdMap* map_ = nullptr;
    int64_t number_ = 0;
  };
  const_iterator begin() const { return {this, NextUsed(First())}; }
  const_iterator end() const { return {this, End()}; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // nullptr if it is not there.
  Value* Find(Id id) {
    Entry* const entry = At(id.value());
    return entry == nullptr ? nullptr : &entry->second;
  }
  const Value* Find(Id id) const {
    const Entry* const entry = At(id.value());
    return entry == nullptr ? nullptr : &entry->second;
  }
  // The first at or above, or above, `id`.
  const_iterator lower_bound(Id id) const {
    return {this, NextUsed(std::max(id.value(), First()))};
  }
  const_iterator upper_bound(Id id) const {
    return id.value() >= End() ? end() : lower_bound(id.Next());
  }

  // `id` must be above every id ever inserted while the map was not empty.
  Value& Append(Id id) {
    const int64_t block = id.value() / kBlock;
    if (blocks_.empty()) first_block_ = block;
    SKEP_CHECK(block >= first_block_ + std::ssize(blocks_) - 1 && At(id.value()) == nullptr);
    while (first_block_ + std::ssize(blocks_) <= block) blocks_.emplace_back();
    std::unique_ptr<Block>& home = blocks_.back();
    if (home == nullptr) home = std::make_unique<Block>();
    std::unique_ptr<Entry>& entry = home->entries[id.value() % kBlock];
    entry = std::make_unique<Entry>(id, Value());
    ++home->used;
    ++size_;
    return entry->second;
  }
  // It must be there.
  void Erase(Id id) {
    std::unique_ptr<Block>& home = blocks_[id.value() / kBlock - first_block_];
    home->entries[id.value() % kBlock].reset();
    --size_;
    if (--home->used > 0) return;
    home.reset();
    while (!blocks_.empty() && blocks_.front() == nullptr) {
      blocks_.pop_front();
      ++first_block_;
    }
    while (!blocks_.empty() && blocks_.back() == nullptr) blocks_.pop_back();
  }

 private:
  int64_t First() const { return first_block_ * kBlock; }
  int64_t End() const { return (first_block_ + std::ssize(blocks_)) * kBlock; }
  Entry* At(int64_t number) const {
    const int64_t block = number / kBlock - first_block_;
    if (number < First() || block >= std::ssize(blocks_) || blocks_[block] == nullptr)
      return nullptr;
    return blocks_[block]->entries[number % kBlock].get();
  }
  int64_t NextUsed(int64_t number) const {
    const int64_t end = End();
    while (number < end) {
      const Block* const block = blocks_[number / kBlock - first_block_].get();
      if (block == nullptr) {
        number = (number / kBlock + 1) * kBlock;
      } else if (block->entries[number % kBlock] == nullptr) {
        ++number;
      } else {
        return number;
      }
    }
    return end;
  }

  std::deque<std::unique_ptr<Block>> blocks_;  // of numbers from First(); null: none of them lives
  int64_t first_block_ = 0;
  size_t size_ = 0;
};

}  // namespace skep::state

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
// ids given out since. Addresses of values hold until they are erased. Thread-compatible.
template <class Id, class Value>
class IdMap {
 public:
  using Entry = std::pair<const Id, const Value&>;

 private:
  static constexpr int64_t kBlock = 256;
  struct Block {
    std::array<std::unique_ptr<Value>, kBlock> values;
    int used = 0;
  };
  // What an arrow gives must live as long as the expression.
  struct Arrow {
    Entry entry;
    const Entry* operator->() const { return &entry; }
  };

 public:
  // Over the entries as they are: Find gives what may be changed.
  class const_iterator {
   public:
    using iterator_category = std::input_iterator_tag;  // entries are made as they are asked for
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = Arrow;
    using reference = Entry;

    const_iterator() = default;
    const_iterator(const IdMap* map, int64_t number) : map_(map), number_(number) {}
    Entry operator*() const { return {Id(number_), *map_->At(number_)}; }
    Arrow operator->() const { return {**this}; }
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
  Value* Find(Id id) { return At(id.value()); }
  const Value* Find(Id id) const { return At(id.value()); }
  // The first at or above, or above, `id`.
  const_iterator lower_bound(Id id) const {
    return {this, NextUsed(std::max(id.value(), First()))};
  }
  const_iterator upper_bound(Id id) const {
    return id.value() >= End() ? end() : lower_bound(id.Next());
  }

  // It must not be there. O(1) at the end, and elsewhere near others.
  template <class... Args>
  Value& Insert(Id id, Args&&... args) {
    const int64_t block = id.value() / kBlock;
    SKEP_CHECK(At(id.value()) == nullptr);
    if (blocks_.empty()) first_block_ = block;
    for (; block < first_block_; --first_block_) blocks_.emplace_front();
    while (first_block_ + std::ssize(blocks_) <= block) blocks_.emplace_back();
    std::unique_ptr<Block>& home = blocks_[block - first_block_];
    if (home == nullptr) home = std::make_unique<Block>();
    std::unique_ptr<Value>& value = home->values[id.value() % kBlock];
    value = std::make_unique<Value>(std::forward<Args>(args)...);
    ++home->used;
    ++size_;
    return *value;
  }
  // It must be there.
  void Erase(Id id) {
    std::unique_ptr<Block>& home = blocks_[id.value() / kBlock - first_block_];
    home->values[id.value() % kBlock].reset();
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
  Value* At(int64_t number) const {
    const int64_t block = number / kBlock - first_block_;
    if (number < First() || block >= std::ssize(blocks_) || blocks_[block] == nullptr)
      return nullptr;
    return blocks_[block]->values[number % kBlock].get();
  }
  int64_t NextUsed(int64_t number) const {
    const int64_t end = End();
    while (number < end) {
      const Block* const block = blocks_[number / kBlock - first_block_].get();
      if (block == nullptr) {
        number = (number / kBlock + 1) * kBlock;
      } else if (block->values[number % kBlock] == nullptr) {
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

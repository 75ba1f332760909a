#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include <absl/container/btree_map.h>

#include "storage/base/check.h"

namespace skep::state {

// A map from ids that are given out in ascending order, of which most live shortly: found by their
// number instead of by search: in blocks of 256 ids, which are found by one search among those that
// live, and the newest without any. Iteration is in ascending order. An id that outlives all around
// it costs one block, however far the others are. Addresses of values hold until they are erased.
// Thread-compatible.
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
    Entry operator*() const { return {Id(number_), *map_->Find(Id(number_))}; }
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
  const_iterator begin() const { return {this, NextUsed(0)}; }
  const_iterator end() const { return {this, kEnd}; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // nullptr if it is not there.
  Value* Find(Id id) {
    Block* const block = BlockAt(id.value() / kBlock);
    return block == nullptr || id.value() < 0 ? nullptr : block->values[id.value() % kBlock].get();
  }
  const Value* Find(Id id) const { return const_cast<IdMap*>(this)->Find(id); }
  // The first at or above, or above, `id`.
  const_iterator lower_bound(Id id) const { return {this, NextUsed(id.value())}; }
  const_iterator upper_bound(Id id) const {
    return id.value() == INT64_MAX ? end() : lower_bound(id.Next());
  }

  // It must not be there, and not be negative.
  template <class... Args>
  Value& Insert(Id id, Args&&... args) {
    SKEP_CHECK(id.value() >= 0 && Find(id) == nullptr);
    const int64_t number = id.value() / kBlock;
    Block* block = BlockAt(number);
    if (block == nullptr) {
      const auto made = blocks_.emplace(number, std::make_unique<Block>()).first;
      block = made->second.get();
      if (number > newest_number_) {
        newest_ = block;
        newest_number_ = number;
      }
    }
    std::unique_ptr<Value>& value = block->values[id.value() % kBlock];
    value = std::make_unique<Value>(std::forward<Args>(args)...);
    ++block->used;
    ++size_;
    return *value;
  }
  // It must be there.
  void Erase(Id id) {
    const int64_t number = id.value() / kBlock;
    Block* const block = BlockAt(number);
    block->values[id.value() % kBlock].reset();
    --size_;
    if (--block->used > 0) return;
    blocks_.erase(number);
    if (number != newest_number_) return;
    newest_ = blocks_.empty() ? nullptr : blocks_.rbegin()->second.get();
    newest_number_ = blocks_.empty() ? -1 : blocks_.rbegin()->first;
  }

 private:
  static constexpr int64_t kEnd = INT64_MAX;

  Block* BlockAt(int64_t number) const {
    if (number == newest_number_) return newest_;
    const auto block = blocks_.find(number);
    return block == blocks_.end() ? nullptr : block->second.get();
  }
  // kEnd: none. No id is that high.
  int64_t NextUsed(int64_t number) const {
    number = std::max<int64_t>(number, 0);
    for (auto it = blocks_.lower_bound(number / kBlock); it != blocks_.end(); ++it) {
      for (int64_t i = std::max(number - it->first * kBlock, int64_t{0}); i < kBlock; ++i) {
        if (it->second->values[i] != nullptr) return it->first * kBlock + i;
      }
    }
    return kEnd;
  }

  absl::btree_map<int64_t, std::unique_ptr<Block>> blocks_;  // by number; none is empty
  Block* newest_ = nullptr;  // the last of them, where most look-ups go
  int64_t newest_number_ = -1;
  size_t size_ = 0;
};

}  // namespace skep::state

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <absl/container/flat_hash_set.h>

namespace skep::state {

// Values that many records share: one copy of each, as long as somebody holds it. `Traits` says
// what a value can be looked up by (`View`), and hashes and compares values and views. Confined to
// one thread.
template <class Value, class Traits>
class Interned {
  struct Entry {
    Value value;
    int64_t holders = 0;
  };

 public:
  // As small as a pointer. Must not outlive the pool it came from.
  class Ref {
   public:
    Ref() = default;  // stands for an empty Value
    Ref(const Ref& other) : Ref(other.entry_) {}
    Ref(Ref&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
      std::swap(entry_, other.entry_);
      return *this;
    }
    ~Ref() {
      if (entry_ != nullptr) --entry_->holders;
    }

    const Value& operator*() const {
      static const Value kEmpty;
      return entry_ == nullptr ? kEmpty : entry_->value;
    }
    const Value* operator->() const { return &**this; }

   private:
    friend class Interned;
    explicit Ref(Entry* entry) : entry_(entry) {
      if (entry_ != nullptr) ++entry_->holders;
    }
    Entry* entry_ = nullptr;
  };

  Ref Get(const typename Traits::View& view) {
    if (const auto it = entries_.find(view); it != entries_.end()) return Ref(it->get());
    if (entries_.size() >= sweep_at_) Sweep();
    return Ref(entries_.insert(std::make_unique<Entry>(Entry{Traits::Make(view), 0})).first->get());
  }
  size_t size() const { return entries_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(const typename Traits::View& view) const { return Traits::HashOf(view); }
    size_t operator()(const std::unique_ptr<Entry>& e) const {
      return Traits::HashOf(Traits::ViewOf(e->value));
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const std::unique_ptr<Entry>& a, const typename Traits::View& b) const {
      return Traits::ViewOf(a->value) == b;
    }
    bool operator()(const std::unique_ptr<Entry>& a, const std::unique_ptr<Entry>& b) const {
      return a == b;
    }
  };

  // What nobody holds goes when it would be half of all: at a constant cost for each new value.
  void Sweep() {
    absl::erase_if(entries_, [](const auto& entry) { return entry->holders == 0; });
    sweep_at_ = std::max(kSmallest, 2 * entries_.size());
  }

  static constexpr size_t kSmallest = 64;
  absl::flat_hash_set<std::unique_ptr<Entry>, Hash, Equal> entries_;
  size_t sweep_at_ = kSmallest;
};

}  // namespace skep::state

#pragma once

// The numbers that name things. Self-contained: installed with the client library.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <utility>

namespace skep {

// An int64 that cannot be mixed up with another kind of int64. 0 means "none" for every kind.
template <class Tag>
class StrongId {
 public:
  constexpr StrongId() = default;
  explicit constexpr StrongId(int64_t value) : value_(value) {}

  constexpr int64_t value() const { return value_; }
  constexpr bool is_none() const { return value_ == 0; }
  constexpr StrongId Next() const { return StrongId(value_ + 1); }
  std::string ToString() const { return std::to_string(value_); }

  friend constexpr auto operator<=>(StrongId, StrongId) = default;
  friend std::ostream& operator<<(std::ostream& out, StrongId id) { return out << id.value_; }
  template <class H>
  friend H AbslHashValue(H hash, StrongId id) {
    return H::combine(std::move(hash), id.value_);
  }

 private:
  int64_t value_ = 0;
};

using TxnId = StrongId<struct TxnIdTag>;                // whole server, from 1
using WriteId = StrongId<struct WriteIdTag>;            // one table, from 1
using LockId = StrongId<struct LockIdTag>;              // one lock request, whole server, from 1
using CompactionId = StrongId<struct CompactionIdTag>;  // whole server, from 1
using TableId =
    StrongId<struct TableIdTag>;  // survives rename; a table of the same name later is another
// The number of a durable unit of work (one batch of the loop). A snapshot is named by the last
// unit it contains; whatever a unit changes is visible to snapshots of that number and above.
using CommitSeq = StrongId<struct CommitSeqTag>;

}  // namespace skep

template <class Tag>
struct std::hash<skep::StrongId<Tag>> {
  size_t operator()(skep::StrongId<Tag> id) const noexcept {
    return std::hash<int64_t>()(id.value());
  }
};

#pragma once

// Inside of the lock table: the tree of locked resources with its queues, and the records of
// requests and owners. Nothing outside server/state/lock_*.cc includes it.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/inlined_vector.h>

#include "server/state/lock_table.h"

namespace skep::state::locks {

inline constexpr size_t kKinds = 4;
using KindSet = uint8_t;  // bit k = LockKind k

constexpr KindSet BitOf(LockKind kind) {
  return static_cast<KindSet>(1u << static_cast<unsigned>(kind));
}

struct Record;

// Requests with components of one kind at one place, or below it, in the order of their ids. All
// components of a request come and go together, so how many of them are there is not kept.
using Queue = absl::btree_map<LockId, Record*>;
using Queues = std::array<Queue, kKinds>;

// A database, table or partition that somebody has or wants locked. `below` counts components on
// what it contains, so that a wide lock finds narrow ones without walking the tree.
struct Node {
  Node* parent = nullptr;
  std::string name;
  std::unordered_map<std::string, std::unique_ptr<Node>> children;
  Queues granted_self, granted_below;
  Queues waiting_self, waiting_below;
  int64_t components = 0;  // in all queues of this node

  bool is_database() const { return parent == nullptr; }
};

// A distinct component of a request.
struct Place {
  Node* node = nullptr;
  LockKind kind = LockKind::kSharedRead;
};

using Places = absl::InlinedVector<Place, 1>;

// One request. A server holds many: bytes count here.
struct Record {
  Record(LockId id, const LockOwner& owner) : id_(id), owner_(owner) {}

  LockId id() const { return id_; }
  const LockOwner& owner() const { return owner_; }

  LockId id_;
  LockOwner owner_;
  Places places;
  // Neighbours among the requests of its owner, by id.
  Record* next_of_owner = nullptr;
  Record* previous_of_owner = nullptr;
  // While waiting: one of those that block it, and the place in that one's list. When that one
  // goes, and only then (or by a grant to the own transaction), this one is looked at again.
  Record* parked_on = nullptr;
  std::unique_ptr<std::vector<Record*>> parked_here;  // null: nobody
  uint32_t parked_slot = 0;
  bool granted = false;
  bool only_reads = false;  // nothing but SHARED_READ
  bool readers_pass = false;
};

// The requests of one owner, by id.
struct OwnerRecord {
  Record* first = nullptr;
  Record* last = nullptr;
  uint32_t waiting = 0;
  uint32_t granted_places = 0;
};
// Ascending. Waiting requests are the last ones, mostly: who waits asks for nothing more.
std::vector<Record*> WaitingOf(const OwnerRecord& owner);

// Kinds that conflict with `kind` at `node` when they are held at `node` or at a container `outer`
// of it …
KindSet ConflictsAbove(LockKind kind, const Node& node, const Node& outer);
// … or at something within `node`.
KindSet ConflictsBelow(LockKind kind, const Node& node);

// One of the places is at the other or around it, and the kinds conflict there.
bool PlacesConflict(const Place& a, const Place& b);
// a lock held at `at` covers one that is asked for at `on`: the same or a wider scope and the
// same or a stronger kind, but SHARED_READ on a database covers nothing below it.
bool LockCovers(LockKind held, const Node& at, LockKind asked, const Node& on);

// Own requests never block; outside transactions every request is another's (LCM-3).
bool SameTxn(const Record& a, const Record& b);

// The resource itself and what contains it, narrow to wide.
std::vector<LockResource> Containers(const LockResource& resource);

// The tree, and the queues in it.
class Index {
 public:
  // The places of a request without repetitions. Makes nodes that are not there.
  Places PlacesOf(const LockRequest& request);
  // Into and out of the queues that `record.granted` says.
  void Insert(Record& record);
  void Remove(const Record& record);
  // Drops the nodes of `places` and their parents where no queue has anybody left.
  void Prune(const Places& places);
  const Node* FindNode(const LockResource& resource) const;

 private:
  Node* Make(const LockResource& resource);

  std::unordered_map<std::string, std::unique_ptr<Node>> databases_;
};

// Calls visit(queue) for each queue of granted (or waiting) requests that conflict with `place`,
// until it returns false. False if a visit did.
template <class Visit>
bool ForEachConflictingQueue(const Place& place, LockState state, Visit visit) {
  const bool granted = state == LockState::kAcquired;
  auto some = [&](const Queues& queues, KindSet kinds) {
    for (size_t k = 0; k < kKinds; ++k) {
      if ((kinds >> k & 1) != 0 && !queues[k].empty() && !visit(queues[k])) return false;
    }
    return true;
  };
  for (const Node* outer = place.node; outer != nullptr; outer = outer->parent) {
    const KindSet kinds = ConflictsAbove(place.kind, *place.node, *outer);
    if (!some(granted ? outer->granted_self : outer->waiting_self, kinds)) return false;
  }
  const KindSet kinds = ConflictsBelow(place.kind, *place.node);
  return some(granted ? place.node->granted_below : place.node->waiting_below, kinds);
}

}  // namespace skep::state::locks

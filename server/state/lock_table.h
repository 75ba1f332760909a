#pragma once

// Who holds and who waits for which database, table and partition. Memory only: no clock, no
// leases, no IO.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/model/ids.h"
#include "storage/model/lock.h"
#include "storage/model/rows.h"

namespace skep::state {

// On whose behalf a request is made, and a node of the wait-for graph. Value type.
//
// Requests of one transaction never block each other; requests outside transactions always can,
// also two of one session (LCM-3).
class LockOwner {
 public:
  enum class Kind { kTxn = 0, kSession = 1, kLock = 2 };

  static LockOwner OfTxn(TxnId txn) { return {Kind::kTxn, txn.value()}; }
  // A client process that holds locks outside transactions. `session` names it, and is not
  // negative.
  static LockOwner OfSession(int64_t session) { return {Kind::kSession, session}; }
  // A lock outside transactions that is known by nothing but itself.
  static LockOwner OfLock(LockId lock) { return {Kind::kLock, lock.value()}; }

  Kind kind() const { return static_cast<Kind>(bits_ >> kValueBits); }
  bool is_txn() const { return kind() == Kind::kTxn; }
  TxnId txn() const { return is_txn() ? TxnId(value()) : TxnId(); }
  int64_t value() const { return static_cast<int64_t>(bits_ & ((uint64_t{1} << kValueBits) - 1)); }
  std::string ToString() const;  // "transaction 7", "session 3", "lock 12"

  friend auto operator<=>(const LockOwner&, const LockOwner&) = default;
  template <class H>
  friend H AbslHashValue(H hash, const LockOwner& owner) {
    return H::combine(std::move(hash), owner.bits_);
  }

 private:
  static constexpr int kValueBits = 62;
  LockOwner(Kind kind, int64_t value)
      : bits_(static_cast<uint64_t>(kind) << kValueBits | static_cast<uint64_t>(value)) {}

  uint64_t bits_;  // the kind above the value: there is one in every record of a lock
};

// One component of a request.
struct LockTarget {
  LockResource resource;
  LockKind kind = LockKind::kSharedRead;

  std::string ToString() const;  // "EXCL_WRITE on sales.orders"
  friend auto operator<=>(const LockTarget&, const LockTarget&) = default;
};

struct LockRequest {
  LockId id;
  LockOwner owner = LockOwner::OfLock(LockId());
  std::vector<LockTarget> targets;  // not empty; repetitions are harmless
  // While it waits, requests for SHARED_READ alone pass it, until EndBypass. A transaction that is
  // granted such a one may wait for itself by another: ask FindDeadlock for each of WaitingOf.
  bool readers_pass = false;
};

enum class IfBlocked { kWait, kRefuse };

// Another's lock that stands in the way of one component of a waiting request.
struct LockBlocker {
  LockId lock;
  LockOwner owner = LockOwner::OfLock(LockId());
  LockState state =
      LockState::kAcquired;  // kAcquired, or kWaiting for an earlier place in the queue
  LockTarget held;           // what the blocker has or wants
  LockTarget wanted;         // the component that it blocks
};

struct LockAdded {
  LockState state =
      LockState::kWaiting;  // kAcquired, kWaiting, or kNotAcquired (nothing is left of it)
  std::vector<LockBlocker> blocked_by;  // unless acquired: at most kShownBlockers
  // Acquired past a waiting one: the owner's waiting requests that R-20 lets through by that.
  std::vector<LockId> granted;
};

// A circle of waiters. Somebody must go.
struct LockDeadlock {
  struct Step {
    LockOwner owner = LockOwner::OfLock(LockId());
    LockId waiting;       // the request with which `owner` waits for the owner of the next step
    LockBlocker blocker;  // by which the next owner is in its way
  };
  std::vector<Step> cycle;  // closed: the last one waits for the first
  // The youngest transaction; in a cycle of sessions only, the one whose request came last.
  LockOwner victim = LockOwner::OfLock(LockId());
  LockId victim_request;  // its waiting request in the cycle
  std::string text;       // for people: who waits for what of whom, in order
};

// All lock requests, granted and waiting. Confined to one thread.
//
// Rules (docs/rules.md, Locks): a request gets all of its components or none (LCK-11). A component
// is blocked by a conflicting one of another owner that is granted, or that waits and came earlier
// (LCM-1: lock ids are the queue), except
//   - LCM-4: SHARED_READ on a database and EXCLUSIVE on something in it do not conflict;
//   - what an own granted lock of the same or a wider scope and the same or a stronger kind
//   covers is
//     blocked by nothing; SHARED_READ on a database covers nothing below it;
//   - a request passes a waiting one exactly if that one is blocked by a granted lock of the
//     requester's own transaction;
//   - LCQ-1, where it is wanted: a request for SHARED_READ alone passes a waiting one for a while.
//
// Invariants after each call: granted locks of different owners never conflict; every waiting
// request is blocked by another one.
//
// Costs, R = components of the request: Add and Release O(R · log n) plus what they grant; who
// waits elsewhere, or waits for the same in a longer queue, costs nothing. A waiting request that
// gives up makes those that waited for it alone look for another blocker.
class LockTable {
 public:
  static constexpr int64_t kShownBlockers = 10;

  LockTable();
  ~LockTable();
  LockTable(LockTable&&) noexcept;
  LockTable& operator=(LockTable&&) noexcept;

  // The table as the store describes it: rows of one lock adjacent, locks ascending. A row without
  // a transaction is owned by its lock. `granted` receives the waiting requests that nothing
  // blocks, in the order of their grants: none if the rows come from a table like this one. Errors:
  // kCorruptStore for granted locks that conflict, naming both.
  struct Loaded;
  static absl::StatusOr<Loaded> Load(std::span<const LockRow> rows);

  // `request.id` must be above every id added before. A request that starts to wait may close a
  // circle: ask FindDeadlock.
  LockAdded Add(LockRequest request, IfBlocked if_blocked);

  // Nobody passes this one any more, but by R-20. Who passed it and waits elsewhere now waits for
  // it too: ask FindDeadlock for each of WaitingOf(its owner).
  void EndBypass(LockId lock);

  // Takes a request away, granted or waiting; unknown ids are ignored (LCU-3). Returns the requests
  // granted by that, in the order of their grants, oldest first among those that the same release
  // lets through.
  //
  // After a granted lock was taken from a transaction that lives on its own waiting requests
  // may have lost a privilege and now wait in a circle: ask FindDeadlock for each of
  // WaitingOf(owner).
  std::vector<LockId> Release(LockId lock);
  // Everything of one owner at once.
  std::vector<LockId> ReleaseAll(const LockOwner& owner);

  // A cycle of the wait-for graph through this waiting request: nodes are owners, edges are what
  // Blockers says, the queue included. nullopt if there is none or the request does not
  // wait. After the victim is gone ask again, there may be another. O(R) if nobody waits for the
  // request's owner; else at most the requests reachable along edges.
  std::optional<LockDeadlock> FindDeadlock(LockId lock) const;

  std::optional<LockState> StateOf(LockId lock) const;  // kAcquired or kWaiting; nullopt: unknown
  std::optional<LockOwner> OwnerOf(LockId lock) const;  // nullopt: unknown
  std::vector<LockId> LocksOf(const LockOwner& owner) const;    // ascending
  std::vector<LockId> WaitingOf(const LockOwner& owner) const;  // ascending
  // A granted lock of the owner covers this (same or wider scope, same or stronger kind, R-19's
  // exception).
  bool Holds(const LockOwner& owner, const LockTarget& target) const;
  // Requests with a component on an overlapping resource, whatever their kinds, ascending.
  std::vector<LockId> Overlapping(const LockResource& resource) const;

  // What blocks a waiting request now: one entry per blocking lock, granted ones first, then the
  // queue ahead; each by lock id. Empty for granted and unknown ones.
  std::vector<LockBlocker> Blockers(LockId lock, int64_t limit = kShownBlockers) const;
  // 1 + the number of waiting requests ahead that block it; 0 if it does not wait. O(those).
  int64_t Position(LockId lock) const;

  int64_t granted_count() const;  // requests
  int64_t waiting_count() const;
  // How often a request was held against the others: grows with requests and grants, not with
  // waiters.
  int64_t looks() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct LockTable::Loaded {
  LockTable table;
  std::vector<LockId> granted;
};

}  // namespace skep::state

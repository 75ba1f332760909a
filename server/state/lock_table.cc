#include "server/state/lock_table.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "server/state/lock_deadlock.h"
#include "server/state/lock_queue.h"
#include "storage/base/check.h"
#include "storage/model/errors.h"

namespace skep::state {

using locks::DescribeBlocker;
using locks::LockQueue;
using locks::OwnerRecord;
using locks::Place;
using locks::Record;
using locks::Worklist;

std::string LockOwner::ToString() const {
  switch (kind()) {
    case Kind::kTxn:
      return "transaction " + std::to_string(value());
    case Kind::kSession:
      return "session " + std::to_string(value());
    case Kind::kLock:
      break;
  }
  return "lock " + std::to_string(value());
}

std::string LockTarget::ToString() const {
  return std::string(LockKindName(kind)) + " on " + resource.ToString();
}

struct LockTable::Impl {
  LockQueue queue;
  LockId last;  // highest id ever added

  // One entry per lock that blocks `record`, in the given state, oldest first; at most `limit`.
  std::vector<LockBlocker> Blockers(const Record& record, LockState state, int64_t limit) const {
    std::map<LockId, std::pair<const Record*, Place>> found;
    queue.ForEachBlocker(record, state, limit, [&](const Record& blocker, const Place& wanted) {
      found.try_emplace(blocker.id(), &blocker, wanted);
    });
    std::vector<LockBlocker> blockers;
    for (const auto& [id, what] : found) {
      if (static_cast<int64_t>(blockers.size()) == limit) break;
      blockers.push_back(DescribeBlocker(*what.first, what.second));
    }
    return blockers;
  }

  std::vector<LockBlocker> Blockers(const Record& record, int64_t limit) const {
    std::vector<LockBlocker> blockers = Blockers(record, LockState::kAcquired, limit);
    const int64_t left = limit - static_cast<int64_t>(blockers.size());
    if (left > 0) {
      std::vector<LockBlocker> ahead = Blockers(record, LockState::kWaiting, left);
      std::move(ahead.begin(), ahead.end(), std::back_inserter(blockers));
    }
    return blockers;
  }

  // Enters a row's request as the store describes it.
  absl::Status Restore(LockRequest request, LockState state, std::vector<LockId>& granted) {
    last = std::max(last, request.id);
    Record& record = queue.Enter(request, state);
    if (state == LockState::kAcquired) {
      const Record* other = queue.GrantedConflict(record);
      if (other == nullptr) return absl::OkStatus();
      return MakeError(
          ErrorReason::kCorruptStore,
          "the store holds two granted locks that exclude each other: lock " +
              other->id().ToString() + " of " + other->owner().ToString() + " and lock " +
              record.id().ToString() + " of " + record.owner().ToString() +
              "; restore the data directory from a backup",
          {{"lockId", record.id().ToString()}, {"otherLockId", other->id().ToString()}});
    }
    std::vector<LockId> now = queue.Settle({record.id()});
    granted.insert(granted.end(), now.begin(), now.end());
    return absl::OkStatus();
  }
};

LockTable::LockTable() : impl_(std::make_unique<Impl>()) {}
LockTable::~LockTable() = default;
LockTable::LockTable(LockTable&&) noexcept = default;
LockTable& LockTable::operator=(LockTable&&) noexcept = default;

absl::StatusOr<LockTable::Loaded> LockTable::Load(std::span<const LockRow> rows) {
  struct Stored {
    LockRequest request;
    LockState state = LockState::kWaiting;
  };
  std::vector<Stored> stored;
  for (const LockRow& row : rows) {
    if (stored.empty() || stored.back().request.id != row.lock) {
      Stored& next = stored.emplace_back();
      next.request.id = row.lock;
      next.request.owner =
          row.txn.is_none() ? LockOwner::OfLock(row.lock) : LockOwner::OfTxn(row.txn);
      next.state = row.state;
    }
    stored.back().request.targets.push_back({row.resource, row.kind});
  }
  Loaded loaded;
  Impl& impl = *loaded.table.impl_;
  // Granted ones first: they block waiting ones with smaller ids too.
  for (const LockState state : {LockState::kAcquired, LockState::kWaiting}) {
    for (Stored& one : stored) {
      if (one.state != state) continue;
      absl::Status status = impl.Restore(std::move(one.request), state, loaded.granted);
      if (!status.ok()) return status;
    }
  }
  return loaded;
}

LockAdded LockTable::Add(LockRequest request, IfBlocked if_blocked) {
  SKEP_CHECK(request.id > impl_->last && !request.targets.empty());
  const LockId last = std::exchange(impl_->last, request.id);
  LockQueue& queue = impl_->queue;
  Record& record = queue.Enter(request, LockState::kWaiting);
  LockAdded added;
  Record* blocker = queue.FindBlocker(record);
  Worklist work;
  if (blocker == nullptr) {
    added.state = LockState::kAcquired;
    queue.Grant(record, work);
    added.granted = queue.Settle(std::move(work));
    return added;
  }
  added.blocked_by = impl_->Blockers(record, kShownBlockers);
  if (if_blocked == IfBlocked::kWait) {
    queue.Park(record, *blocker);
  } else {
    added.state = LockState::kNotAcquired;
    queue.Leave(record, work);
    impl_->last = last;
  }
  return added;
}

std::vector<LockId> LockTable::Release(LockId lock) {
  Record* record = impl_->queue.FindRecord(lock);
  if (record == nullptr) return {};
  Worklist work;
  impl_->queue.Leave(*record, work);
  return impl_->queue.Settle(std::move(work));
}

std::vector<LockId> LockTable::ReleaseAll(const LockOwner& owner) {
  Worklist work;
  for (const LockId lock : LocksOf(owner)) impl_->queue.Leave(*impl_->queue.FindRecord(lock), work);
  return impl_->queue.Settle(std::move(work));
}

void LockTable::EndBypass(LockId lock) {
  if (Record* record = impl_->queue.FindRecord(lock)) record->readers_pass = false;
}

std::optional<LockDeadlock> LockTable::FindDeadlock(LockId lock) const {
  const Record* record = impl_->queue.FindRecord(lock);
  if (record == nullptr) return std::nullopt;
  return locks::FindCycle(impl_->queue, *record);
}

std::optional<LockState> LockTable::StateOf(LockId lock) const {
  const Record* record = impl_->queue.FindRecord(lock);
  if (record == nullptr) return std::nullopt;
  return record->granted ? LockState::kAcquired : LockState::kWaiting;
}

std::optional<LockOwner> LockTable::OwnerOf(LockId lock) const {
  const Record* record = impl_->queue.FindRecord(lock);
  if (record == nullptr) return std::nullopt;
  return record->owner();
}

std::vector<LockId> LockTable::LocksOf(const LockOwner& owner) const {
  std::vector<LockId> ids;
  const OwnerRecord* found = impl_->queue.FindOwner(owner);
  if (found == nullptr) return ids;
  for (const Record* record = found->first; record != nullptr; record = record->next_of_owner) {
    ids.push_back(record->id());
  }
  return ids;
}

std::vector<LockId> LockTable::WaitingOf(const LockOwner& owner) const {
  std::vector<LockId> ids;
  const OwnerRecord* found = impl_->queue.FindOwner(owner);
  if (found == nullptr) return ids;
  for (const Record* record : locks::WaitingOf(*found)) ids.push_back(record->id());
  return ids;
}

bool LockTable::Holds(const LockOwner& owner, const LockTarget& target) const {
  const OwnerRecord* found = impl_->queue.FindOwner(owner);
  return found != nullptr && impl_->queue.Holds(*found, target);
}

std::vector<LockId> LockTable::Overlapping(const LockResource& resource) const {
  std::set<LockId> ids;
  auto add = [&](const locks::Queues& queues) {
    for (const locks::Queue& queue : queues) {
      for (const auto& [id, record] : queue) ids.insert(id);
    }
  };
  const locks::Index& index = impl_->queue.index();
  if (const locks::Node* node = index.FindNode(resource); node != nullptr) {
    add(node->granted_below);
    add(node->waiting_below);
  }
  for (const LockResource& outer : locks::Containers(resource)) {
    if (const locks::Node* node = index.FindNode(outer); node != nullptr) {
      add(node->granted_self);
      add(node->waiting_self);
    }
  }
  return {ids.begin(), ids.end()};
}

std::vector<LockBlocker> LockTable::Blockers(LockId lock, int64_t limit) const {
  const Record* record = impl_->queue.FindRecord(lock);
  if (record == nullptr || record->granted) return {};
  return impl_->Blockers(*record, limit);
}

int64_t LockTable::Position(LockId lock) const {
  const Record* record = impl_->queue.FindRecord(lock);
  if (record == nullptr || record->granted) return 0;
  std::set<LockId> ahead;
  impl_->queue.ForEachBlocker(
      *record,
      LockState::kWaiting,
      std::numeric_limits<int64_t>::max(),
      [&](const Record& blocker, const Place&) { ahead.insert(blocker.id()); });
  return 1 + static_cast<int64_t>(ahead.size());
}

int64_t LockTable::granted_count() const {
  return impl_->queue.size() - impl_->queue.waiting_count();
}
int64_t LockTable::waiting_count() const { return impl_->queue.waiting_count(); }
int64_t LockTable::looks() const { return impl_->queue.looks(); }

}  // namespace skep::state

// The lock table against a model that knows no index: a list of requests, and the rules as they are
// written.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/state/lock_table.h"
#include "storage/base/random.h"
#include "tests/server/state/lock_builders.h"

namespace skep::state {
namespace {

struct ModelRequest {
  LockRequest request;
  bool granted = false;
};

class Model {
 public:
  using Requests = std::map<LockId, ModelRequest>;

  static bool Conflict(const LockTarget& a, const LockTarget& b) {
    const LockResource& x = a.resource;
    const LockResource& y = b.resource;
    if (x.database != y.database) return false;
    if (!x.table.empty() && !y.table.empty() && x.table != y.table) return false;
    if (!x.partition.empty() && !y.partition.empty() && x.partition != y.partition) return false;
    const bool x_is_db = x.table.empty();
    const bool y_is_db = y.table.empty();
    if (x_is_db && !y_is_db && a.kind == LockKind::kSharedRead && b.kind == LockKind::kExclusive)
      return false;
    if (y_is_db && !x_is_db && b.kind == LockKind::kSharedRead && a.kind == LockKind::kExclusive)
      return false;
    return LocksConflict(a.kind, b.kind);
  }

  static bool SameTxn(const LockRequest& a, const LockRequest& b) {
    return a.owner.is_txn() && a.owner == b.owner;
  }

  bool Covered(const LockOwner& owner, const LockTarget& asked) const {
    if (!owner.is_txn()) return false;
    for (const auto& [id, other] : requests) {
      if (!other.granted || other.request.owner != owner) continue;
      for (const LockTarget& own : other.request.targets) {
        if (own.kind < asked.kind || !ResourceCovers(own.resource, asked.resource)) continue;
        if (own.kind == LockKind::kSharedRead && own.resource.table.empty() &&
            !asked.resource.table.empty()) {
          continue;
        }
        return true;
      }
    }
    return false;
  }

  bool BlockedByGrantedOf(const LockRequest& waiting, const LockOwner& owner) const {
    if (!owner.is_txn()) return false;
    for (const auto& [id, other] : requests) {
      if (!other.granted || other.request.owner != owner) continue;
      for (const LockTarget& held : other.request.targets) {
        for (const LockTarget& wanted : waiting.targets) {
          if (Conflict(wanted, held)) return true;
        }
      }
    }
    return false;
  }

  static bool OnlyReads(const LockRequest& request) {
    return std::all_of(
        request.targets.begin(), request.targets.end(), [](const LockTarget& target) {
          return target.kind == LockKind::kSharedRead;
        });
  }

  std::set<LockId> Blockers(const LockRequest& request) const {
    std::set<LockId> blockers;
    for (const LockTarget& wanted : request.targets) {
      if (Covered(request.owner, wanted)) continue;
      for (const auto& [id, other] : requests) {
        if (id == request.id || SameTxn(request, other.request)) continue;
        const auto& targets = other.request.targets;
        const bool conflict =
            std::any_of(targets.begin(), targets.end(), [&](const LockTarget& held) {
              return Conflict(wanted, held);
            });
        if (!conflict) continue;
        const bool passes = other.request.readers_pass && OnlyReads(request);
        const bool queue =
            id < request.id && !passes && !BlockedByGrantedOf(other.request, request.owner);
        if (other.granted || queue) blockers.insert(id);
      }
    }
    return blockers;
  }

  // Grants the first that nothing blocks, until there is none.
  std::vector<LockId> Settle() {
    std::vector<LockId> granted;
    while (true) {
      auto it = std::find_if(requests.begin(), requests.end(), [&](const auto& entry) {
        return !entry.second.granted && Blockers(entry.second.request).empty();
      });
      if (it == requests.end()) return granted;
      it->second.granted = true;
      granted.push_back(it->first);
    }
  }

  // Owners that can be reached from `from` along wait-for edges, beginning with those of one
  // request.
  std::set<LockOwner> Reachable(const LockRequest& from) const {
    std::set<LockOwner> reached;
    std::vector<LockOwner> todo;
    auto follow = [&](const LockRequest& request) {
      for (const LockId id : Blockers(request)) {
        const LockOwner& owner = requests.at(id).request.owner;
        if (reached.insert(owner).second) todo.push_back(owner);
      }
    };
    follow(from);
    while (!todo.empty()) {
      const LockOwner owner = todo.back();
      todo.pop_back();
      for (const auto& [id, one] : requests) {
        if (!one.granted && one.request.owner == owner) follow(one.request);
      }
    }
    return reached;
  }

  Requests requests;
};

class Walk {
 public:
  enum class Bypass { kNo, kYes };
  Walk(uint64_t seed, Bypass bypass) : random_(seed), bypass_(bypass == Bypass::kYes) {}

  void Steps(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
      const uint64_t dice = Below(10);
      if (dice < 6) {
        Ask();
      } else if (dice < 8) {
        EndOne();
      } else {
        ReleaseOne();
      }
      if (bypass_ && Below(3) == 0) EndOneBypass();
      ResolveAfterGrants();
      Check();
    }
    Drain();
  }

 private:
  uint64_t Below(uint64_t n) { return random_.NextUint64() % n; }

  LockOwner AnyOwner() {
    const auto number = static_cast<int64_t>(Below(8)) + 1;
    return number <= 6 ? LockOwner::OfTxn(TxnId(number)) : LockOwner::OfSession(number);
  }

  std::vector<LockTarget> AnyTargets() {
    std::vector<LockTarget> targets;
    // Now and then so many that the owner gets an index of what it holds.
    const uint64_t count = 1 + Below(Below(8) == 0 ? 24 : 3);
    for (uint64_t i = 0; i < count; ++i) {
      LockTarget target;
      target.resource.database = Below(4) == 0 ? "e" : "d";
      const uint64_t depth = Below(8);
      if (depth > 0) target.resource.table = Below(2) == 0 ? "t" : "u";
      if (depth > 4) target.resource.partition = Below(2) == 0 ? "p" : "q";
      target.kind = static_cast<LockKind>(Below(4));
      targets.push_back(target);
    }
    return targets;
  }

  void Ask() {
    LockRequest request{LockId(++last_), AnyOwner(), AnyTargets(), bypass_ && Below(2) == 0};
    if (bypass_ && Below(2) == 0) {
      for (LockTarget& target : request.targets) target.kind = LockKind::kSharedRead;
    }
    const bool wait = Below(5) != 0;
    const LockAdded added = table_.Add(request, wait ? IfBlocked::kWait : IfBlocked::kRefuse);
    model_.requests[request.id] = {request, false};
    const std::vector<LockId> granted = model_.Settle();
    if (added.state == LockState::kAcquired) {
      std::vector<LockId> through{request.id};
      through.insert(through.end(), added.granted.begin(), added.granted.end());
      ASSERT_EQ(granted, through);
      EXPECT_TRUE(bypass_ || added.granted.empty());
      granted_.insert(granted_.end(), granted.begin(), granted.end());
      return;
    }
    ASSERT_TRUE(granted.empty());
    if (!wait) {
      ASSERT_EQ(added.state, LockState::kNotAcquired);
      model_.requests.erase(request.id);
      return;
    }
    ASSERT_EQ(added.state, LockState::kWaiting);
    ResolveDeadlocks(request.id);
  }

  void ResolveDeadlocks(LockId lock) {
    while (model_.requests.count(lock) != 0 && !::testing::Test::HasFatalFailure()) {
      const ModelRequest& mine = model_.requests.at(lock);
      const std::optional<LockDeadlock> deadlock = table_.FindDeadlock(lock);
      const bool expected =
          !mine.granted && model_.Reachable(mine.request).count(mine.request.owner) != 0;
      ASSERT_EQ(deadlock.has_value(), expected);
      if (!deadlock.has_value()) return;
      ++deadlocks_;
      for (size_t i = 0; i < deadlock->cycle.size(); ++i) {
        const LockDeadlock::Step& step = deadlock->cycle[i];
        const LockDeadlock::Step& next = deadlock->cycle[(i + 1) % deadlock->cycle.size()];
        EXPECT_EQ(step.blocker.owner, next.owner);
        EXPECT_EQ(
            model_.Blockers(model_.requests.at(step.waiting).request).count(step.blocker.lock), 1u);
        EXPECT_TRUE(Model::Conflict(step.blocker.wanted, step.blocker.held));
      }
      if (deadlock->victim.is_txn()) {
        End(deadlock->victim);
      } else {
        Release(deadlock->victim_request);
      }
    }
  }

  void Expect(const std::vector<LockId>& granted) {
    EXPECT_EQ(granted, model_.Settle());
    granted_.insert(granted_.end(), granted.begin(), granted.end());
  }

  // Who was granted something past a waiting one may now wait for itself.
  void ResolveAfterGrants() {
    while (!granted_.empty()) {
      const auto found = model_.requests.find(granted_.back());
      granted_.pop_back();
      if (!bypass_ || found == model_.requests.end()) continue;
      const LockOwner owner = found->second.request.owner;
      for (const LockId waiting : table_.WaitingOf(owner)) ResolveDeadlocks(waiting);
    }
  }

  void End(const LockOwner& owner) {
    std::erase_if(model_.requests,
                  [&](const auto& entry) { return entry.second.request.owner == owner; });
    Expect(table_.ReleaseAll(owner));
  }

  void Release(LockId lock) {
    model_.requests.erase(lock);
    Expect(table_.Release(lock));
  }

  void EndOne() { End(AnyOwner()); }

  void ReleaseOne() {
    if (model_.requests.empty()) return;
    auto it = model_.requests.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(Below(model_.requests.size())));
    const LockOwner owner = it->second.request.owner;
    Release(it->first);
    for (const LockId waiting : table_.WaitingOf(owner)) ResolveDeadlocks(waiting);
  }

  void EndOneBypass() {
    for (auto& [id, one] : model_.requests) {
      if (one.granted || !one.request.readers_pass || Below(2) == 0) continue;
      one.request.readers_pass = false;
      table_.EndBypass(id);
      const LockOwner owner = one.request.owner;
      for (const LockId waiting : table_.WaitingOf(owner)) ResolveDeadlocks(waiting);
      return;
    }
  }

  void Check() {
    int64_t granted = 0;
    for (const auto& [id, one] : model_.requests) {
      ASSERT_EQ(table_.StateOf(id), one.granted ? LockState::kAcquired : LockState::kWaiting) << id;
      granted += one.granted ? 1 : 0;
      const std::set<LockId> blockers = model_.Blockers(one.request);
      std::set<LockId> seen;
      int64_t ahead = 0;
      for (const LockBlocker& blocker : table_.Blockers(id, 1'000)) {
        seen.insert(blocker.lock);
        ahead += blocker.state == LockState::kWaiting ? 1 : 0;
      }
      if (one.granted) {
        EXPECT_TRUE(seen.empty());
        for (const LockId other : blockers)
          ASSERT_FALSE(model_.requests.at(other).granted) << "conflict";
        continue;
      }
      ASSERT_EQ(seen, blockers);
      ASSERT_FALSE(seen.empty()) << "a waiter that nobody blocks";
      ASSERT_EQ(table_.Position(id), ahead + 1);
      ASSERT_EQ(model_.Reachable(one.request).count(one.request.owner), 0u) << "an unseen deadlock";
    }
    EXPECT_EQ(table_.granted_count(), granted);
    EXPECT_EQ(table_.waiting_count(), static_cast<int64_t>(model_.requests.size()) - granted);
    CheckLoad();
  }

  // A table made from rows answers like this one. Sessions are not stored: only without them.
  void CheckLoad() {
    if (Below(20) != 0) return;
    std::vector<LockRow> rows;
    for (const auto& [id, one] : model_.requests) {
      if (!one.request.owner.is_txn() || (!one.granted && one.request.readers_pass)) return;
      int32_t component = 0;
      for (const LockTarget& target : one.request.targets) {
        LockRow row;
        row.lock = id;
        row.component = ++component;
        row.txn = one.request.owner.txn();
        row.resource = target.resource;
        row.kind = target.kind;
        row.state = one.granted ? LockState::kAcquired : LockState::kWaiting;
        rows.push_back(row);
      }
    }
    absl::StatusOr<LockTable::Loaded> loaded = LockTable::Load(rows);
    ASSERT_TRUE(loaded.ok());
    ASSERT_TRUE(loaded->granted.empty());
    if (Below(2) == 0) table_ = std::move(loaded->table);
    ++loads_;
  }

  // Whoever waits for nothing ends; then everybody must have had his turn.
  void Drain() {
    while (!model_.requests.empty() && !::testing::Test::HasFailure()) {
      const size_t before = model_.requests.size();
      std::set<LockOwner> waiting;
      for (const auto& [id, one] : model_.requests) {
        if (!one.granted) waiting.insert(one.request.owner);
      }
      for (const auto& [id, one] : model_.requests) {
        if (waiting.count(one.request.owner) != 0) continue;
        End(LockOwner(one.request.owner));
        break;
      }
      ResolveAfterGrants();
      ASSERT_LT(model_.requests.size(), before) << "starvation";
    }
  }

  SeededRandom random_;
  const bool bypass_;
  LockTable table_;
  Model model_;
  int64_t last_ = 0;
  std::vector<LockId> granted_;

 public:
  int deadlocks_ = 0;
  int loads_ = 0;
};

class LockTableProperty : public ::testing::TestWithParam<Walk::Bypass> {};

TEST_P(LockTableProperty, AgreesWithTheRulesAsWritten) {
  int deadlocks = 0;
  int loads = 0;
  for (uint64_t seed = 1; seed <= 150 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Walk walk(seed, GetParam());
    walk.Steps(120);
    deadlocks += walk.deadlocks_;
    loads += walk.loads_;
  }
  EXPECT_GT(deadlocks, 100) << "the runs must meet deadlocks to say something about them";
  EXPECT_GT(loads, 20);
}

INSTANTIATE_TEST_SUITE_P(Bypass,
                         LockTableProperty,
                         ::testing::Values(Walk::Bypass::kNo, Walk::Bypass::kYes));

}  // namespace
}  // namespace skep::state

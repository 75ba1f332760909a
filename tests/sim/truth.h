#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "storage/model/stored_state.h"
#include "tests/sim/event_model.h"
#include "tests/sim/snapshot_model.h"

namespace skep::sim {

// How a transaction ended, as a durable unit said it.
struct TxnOutcome {
  CommitSeq seq;
  CommitSeq snapshot;                    // what it had by then
  AbortCause cause = AbortCause::kNone;  // kNone: committed

  bool committed() const { return cause == AbortCause::kNone; }
};

// What must be durable, kept outside the product: the meaning of every unit that the store took,
// applied in order. A unit whose outcome nobody knows is settled by the next load.
//
// It also checks each unit by itself, from its rows: sequence numbers and ids only grow, no two
// incompatible locks are granted, a write id has one owner for ever. Confined to one thread.
class Truth {
 public:
  using Report = std::function<void(const std::string&)>;
  using OnEnd = std::function<void(TxnId, const TxnOutcome&)>;
  // `report` takes what is wrong, `on_end` every transaction that ended, once; `model` (may be
  // null, else must outlive it) hears of every id.
  using OnPublish = std::function<void(const CompactionRow&)>;
  // Of every compaction whose output becomes visible, after the ends of its unit.
  void OnPublished(OnPublish on_publish) { on_publish_ = std::move(on_publish); }

  Truth(Report report, OnEnd on_end, SnapshotModel* model = nullptr)
      : report_(std::move(report)), on_end_(std::move(on_end)), model_(model) {}

  // ---- what the store did ----

  void Stored(const Effects& effects);
  // It may be there or not.
  void Unknown(const Effects& effects);
  void Loaded(const StoredState& state);

  // ---- what is known ----

  const StoredState& state() const { return state_; }
  bool settled() const { return !pending_; }
  const std::map<TxnId, TxnOutcome>& outcomes() const { return outcomes_; }
  // What each unit tells.
  const EventModel& events() const { return events_; }
  // How many units there were when one granted it; never: more than there can be.
  int64_t GrantedSince(LockId lock) const {
    const auto found = granted_.find(lock);
    return found == granted_.end() ? INT64_MAX / 2 : found->second;
  }
  int64_t units() const { return units_; }
  int64_t settled_as_there() const { return settled_as_there_; }
  int64_t settled_as_lost() const { return settled_as_lost_; }

 private:
  void CheckCounters(const CounterRow& before);
  void CheckLocks();
  std::map<TxnId, AbortCause> NoteEnds(const Effects& effects);
  void NoteWriteIds(const Effects& effects);
  void TellModel(const Effects& effects);

  const Report report_;
  const OnEnd on_end_;
  SnapshotModel* const model_;
  OnPublish on_publish_;
  StoredState state_;
  std::optional<Effects> pending_;
  std::map<TxnId, TxnOutcome> outcomes_;
  std::map<TxnId, CommitSeq> snapshots_;  // of open ones
  std::map<std::pair<TableId, WriteId>, TxnId> owners_;
  std::map<LockId, int64_t> granted_;
  EventModel events_;
  int64_t units_ = 0;
  int64_t settled_as_there_ = 0;
  int64_t settled_as_lost_ = 0;
};

// The parts in which two states differ, by name; empty if in none.
std::string Differences(const StoredState& a, const StoredState& b);

}  // namespace skep::sim

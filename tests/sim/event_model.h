#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/model/stored_state.h"

namespace skep::sim {

// Something that those who watch events are told.
struct Fact {
  std::string kind;
  std::string text;
  friend auto operator<=>(const Fact&, const Fact&) = default;
};

// What each unit must tell those who watch events, from its rows alone: what is there that was not,
// and what is not there any more. Confined to one thread.
class EventModel {
 public:
  // A durable unit, in order. `ended`: what became of each transaction that it ended.
  void Stored(CommitSeq unit, const Effects& effects, const std::map<TxnId, AbortCause>& ended);
  // Sorted.
  std::vector<Fact> Of(CommitSeq unit) const;
  // Units after `after` up to `until` that tell anything.
  std::vector<CommitSeq> Between(CommitSeq after, CommitSeq until) const;
  CommitSeq last() const { return last_; }

 private:
  void Note(CommitSeq unit, std::string kind, std::string text);

  std::map<CommitSeq, std::vector<Fact>> facts_;
  std::map<TxnId, TxnType> txns_;
  std::set<std::pair<TableId, WriteId>> write_ids_;
  std::set<TableId> tables_;
  std::set<std::pair<TableId, std::string>> partitions_;
  std::map<CompactionId, CompactionState> compactions_;
  CommitSeq last_;
};

// One who watches: what he is told is what the model says, each fact once, in the order of the
// units, and nothing between is left out. Confined to one thread.
class EventReader {
 public:
  using Report = std::function<void(const std::string&)>;
  // `kinds`: those that he asked for; empty: all.
  EventReader(const EventModel& model, std::set<std::string> kinds, Report report)
      : model_(model), kinds_(std::move(kinds)), report_(std::move(report)) {}

  // The stream begins behind unit `seq`, which he has not asked for.
  void Begin(CommitSeq seq);
  void Told(CommitSeq seq, int32_t index, std::vector<Fact> facts);
  // He is told that this was everything up to here. Index 0: the whole unit.
  void UpTo(CommitSeq seq, int32_t index);

  CommitSeq seq() const { return seq_; }
  int32_t index() const { return index_; }

 private:
  std::vector<Fact> Wanted(CommitSeq seq) const;

  const EventModel& model_;
  const std::set<std::string> kinds_;
  const Report report_;
  CommitSeq seq_;
  int32_t index_ = 0;
  std::pair<CommitSeq, int32_t> newest_;
  std::map<CommitSeq, std::vector<Fact>> told_;  // of units that he has not seen all of
};

}  // namespace skep::sim

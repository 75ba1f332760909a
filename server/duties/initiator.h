#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/duties/command_port.h"
#include "server/duties/initiator_rules.h"
#include "server/duties/pacer.h"
#include "server/duties/table_facts.h"
#include "storage/fs/file_system.h"

namespace skep::duties {

// Looks for tables and partitions that want compaction and enqueues it.
//
// A pass takes what was written since the pass before and what was put off until now; the first
// pass after a load of the state takes every table and partition, since what was written before is
// not known. One that fails is put off and the others go on.
//
// Confined to the tasks of its executor, of which one runs at a time; Start, Wake, Stop and status
// are thread-safe.
class Initiator {
 public:
  struct Options {
    std::string name = "initiator";  // in compactions: "host-initiator"
    std::chrono::milliseconds interval{300'000};
    std::chrono::milliseconds retry{300'000};  // for one whose directory could not be looked at
    int64_t per_pass = 1'000;  // candidates; the rest follows at once in the next pass
    InitiatorRules rules;
  };

  // All must outlive the initiator.
  Initiator(
      Options options, CommandPort& port, Executor& executor, Clock& clock, fs::FileSystem& fs);

  void Start() { pacer_.Start(); }
  void Wake() { pacer_.Wake(); }
  void Stop(Executor::Task stopped) { pacer_.Stop(std::move(stopped)); }
  Pacer::Status status() const { return pacer_.status(); }

 private:
  using Candidate = std::pair<TableId, std::string>;  // partition "" = the table

  // What the loop knows of a candidate. `table_gone`: nothing else is set.
  struct Facts {
    bool table_gone = false;
    state::TableView view;
    std::vector<CompactionRow> of_object;
  };

  void Pass(Pacer::Finished finished);
  void CollectChanged();
  void CollectDue();
  void Enqueue(Candidate candidate);
  void NextCandidate();
  void Consider(const Candidate& candidate, const Facts& facts);
  void Request(const Candidate& candidate, const state::EnqueueCompaction& command);
  void NoteNotInitiated(const Candidate& candidate, const TableName& name, const std::string& why);
  void PutOff(const Candidate& candidate, Timestamp until);
  void Fail(const Candidate& candidate, const TableName& name, const absl::Status& status);
  void Finish(absl::Status status);

  const Options options_;
  CommandPort& port_;
  Executor& executor_;
  Clock& clock_;
  fs::FileSystem& fs_;

  // Of the running pass.
  Pacer::Finished finished_;
  int64_t left_in_pass_ = 0;

  CommitSeq seen_;  // everything up to here was taken
  std::deque<Candidate> todo_;
  std::set<Candidate> in_todo_;
  std::map<Candidate, Timestamp> due_;

  Pacer pacer_;  // last: it calls the others
};

}  // namespace skep::duties

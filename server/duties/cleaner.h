#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "server/duties/command_port.h"
#include "server/duties/pacer.h"
#include "storage/compact/clean.h"
#include "storage/fs/file_system.h"

namespace skep::duties {

// Removes what compactions replaced, once nobody can read it any more.
//
//   ReadyToClean ─▶ each: BeginClean ─▶ remove, verify ─▶ FinishCleaning
//                             └─ pinned: the entry waits, the others go on
//
// BeginClean is durable before the first file goes, and what goes is selected with the list
// of the compaction's own sequence; of directories that hold nothing but aborted writes with the
// newest one. A pass that leaves something comes again after a growing delay (RB-1, RB-2).
//
// Confined to the tasks of its executor; Start, Wake, Stop and status are thread-safe.
class Cleaner {
 public:
  struct Options {
    std::chrono::milliseconds interval{5'000};
    std::chrono::milliseconds retry{
        300'000};  // after the first pass that leaves something; doubles
    std::chrono::milliseconds max_retry{4'800'000};
    // For tests that kill or fail before a removal.
    std::function<void(const acid::Removal&)> before_removal;
  };

  // All must outlive the cleaner.
  Cleaner(Options options, CommandPort& port, Executor& executor, Clock& clock, fs::FileSystem& fs);

  void Start() { pacer_.Start(); }
  void Wake() { pacer_.Wake(); }
  void Stop(Executor::Task stopped) { pacer_.Stop(std::move(stopped)); }
  Pacer::Status status() const { return pacer_.status(); }

 private:
  // What one entry is cleaned by.
  struct Task {
    state::CleanTask clean;
    std::optional<state::TableView> now;  // for aborted directories
  };

  void Pass(Pacer::Finished finished);
  void NextEntry();
  void CleanEntry(const Task& task);
  compact::CleanRequest RequestOf(const Task& task, const std::string& dir);
  absl::Status BeforeRemoval(const state::CleanTask& task,
                             const std::string& dir,
                             const acid::Removal& removal);
  void Conclude(const state::CleanTask& task,
                const std::string& dir,
                const compact::CleanReport& report);
  void Report(state::FinishClean command);
  void Retry(const state::CleanTask& task, const std::string& dir, const std::string& error);
  void Finish(absl::Status status);

  const Options options_;
  CommandPort& port_;
  Executor& executor_;
  Clock& clock_;
  fs::FileSystem& fs_;

  // Of the running pass.
  Pacer::Finished finished_;
  std::deque<CompactionId> todo_;
  bool cleaned_any_ = false;

  Pacer pacer_;  // last: it calls the others
};

}  // namespace skep::duties

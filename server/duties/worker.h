#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <absl/status/statusor.h>

#include "server/duties/claim_watch.h"
#include "server/duties/command_port.h"
#include "server/duties/pacer.h"
#include "storage/compact/job.h"
#include "storage/fs/file_system.h"

namespace skep::duties {

// Works off the compaction queue, one entry after another.
//
//   Claim ─▶ ClaimView ─▶ plan and merge, beating the claim ─▶ Publish
//                             │                                  └─ claim lost: what was made is
//                             removed ├─ nothing to do, or a layout that is not supported:
//                             Finish(REFUSED) ├─ failed: Finish(FAILED) with the text └─ told to
//                             stop: Finish(INITIATED), another worker may take it
//
// The job blocks its executor for as long as it runs: give each worker one with a thread of its
// own. Start, Wake, Stop and status are thread-safe; Stop reports once the job has ended and the
// claim is given back.
class Worker {
 public:
  struct Options {
    std::string name = "worker";             // in compactions: "host-1"
    std::chrono::milliseconds rest{10'800};  // without work; the queue wakes it sooner
    std::chrono::milliseconds beat{10'000};  // between renewals of the claim
    std::chrono::milliseconds retry{1'000};  // of a publication that the loop could not take
    int publish_attempts = 10;
    // For tests that kill or fail at a step of the job (compact::kStep…), and after "published".
    std::function<void(std::string_view)> at_step;
    // Does the work of one compaction; another one for the simulation, whose files are its own.
    std::function<absl::StatusOr<compact::CompactionResult>(fs::FileSystem&,
                                                            const compact::CompactionRequest&)>
        merge = compact::RunCompaction;
  };

  // All must outlive the worker.
  Worker(Options options, CommandPort& port, Executor& executor, Clock& clock, fs::FileSystem& fs);

  void Start() { pacer_.Start(); }
  void Wake() { pacer_.Wake(); }
  void Stop(Executor::Task stopped) { pacer_.Stop(std::move(stopped)); }
  Pacer::Status status() const { return pacer_.status(); }

 private:
  using Outputs = std::vector<std::string>;  // absolute paths

  void Pass(Pacer::Finished finished);
  void View(CompactionId id, int64_t claim);
  void Work(const state::ClaimedCompaction& claimed);
  compact::CompactionRequest RequestOf(const state::ClaimedCompaction& claimed,
                                       const std::string& dir);
  absl::Status Progress();
  void SweepLeftovers(const state::ClaimedCompaction& claimed, const std::string& dir);
  void Conclude(const absl::StatusOr<compact::CompactionResult>& result, const std::string& dir);
  void Publish(WriteId highest, Outputs outputs, int attempt);
  void Published(const absl::Status& status, WriteId highest, Outputs outputs, int attempt);
  void GiveUp(CompactionState state, const std::string& message);
  void Finish(absl::Status status, PassResult::Next next);

  const Options options_;
  CommandPort& port_;
  Executor& executor_;
  Clock& clock_;
  fs::FileSystem& fs_;

  // Of the running pass.
  Pacer::Finished finished_;
  CompactionRow row_;
  MonoTime began_{};
  std::shared_ptr<ClaimWatch> watch_;

  Pacer pacer_;  // last: it calls the others
};

}  // namespace skep::duties

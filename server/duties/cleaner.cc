#include "server/duties/cleaner.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "server/duties/ask.h"
#include "server/duties/table_facts.h"
#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::duties {
namespace {

std::string ProblemOf(const compact::CleanReport& report) {
  if (!report.failed.empty()) {
    const compact::CleanFailure& first = report.failed.front();
    return fmt::format("{} of {} removals failed, the first of {}: {}",
                       report.failed.size(),
                       report.failed.size() + report.removed.size(),
                       Printable(first.removal.name),
                       MessageOf(first.status));
  }
  return fmt::format("{} came back or stayed after it was removed",
                     Printable(report.left.front().name));
}

}  // namespace

Cleaner::Cleaner(
    Options options, CommandPort& port, Executor& executor, Clock& clock, fs::FileSystem& fs)
    : options_(std::move(options)),
      port_(port),
      executor_(executor),
      clock_(clock),
      fs_(fs),
      pacer_({.name = "cleaner", .rest = options_.interval},
             executor,
             clock,
             [this](Pacer::Finished finished) { Pass(std::move(finished)); }) {}

void Cleaner::Pass(Pacer::Finished finished) {
  finished_ = std::move(finished);
  cleaned_any_ = false;
  Ask<std::vector<CompactionId>>(
      port_,
      executor_,
      [](state::State& state, state::Now now, state::Unit&)
          -> absl::StatusOr<std::vector<CompactionId>> { return state.ReadyToClean(now); },
      [this](absl::StatusOr<std::vector<CompactionId>> ready) {
        if (!ready.ok()) return Finish(ready.status());
        todo_.assign(ready->begin(), ready->end());
        NextEntry();
      });
}

void Cleaner::NextEntry() {
  if (todo_.empty() || pacer_.stopping()) return Finish(absl::OkStatus());
  const CompactionId id = todo_.front();
  todo_.pop_front();
  Ask<Task>(
      port_,
      executor_,
      [id](state::State& state, state::Now now, state::Unit& unit) -> absl::StatusOr<Task> {
        Task task;
        SKEP_ASSIGN_OR_RETURN(task.clean, state.BeginClean(id, now, unit));
        if (absl::StatusOr<state::TableView> view = state.View(task.clean.table.id); view.ok()) {
          task.now = *std::move(view);
        }
        return task;
      },
      [this](absl::StatusOr<Task> task) {
        if (WasNotTaken(task.status())) return Finish(task.status());
        // Ended meanwhile, dropped with its table, or refused (NO_CLEANUP): the state has said so.
        if (!task.ok() || !task->clean.pinned_by.empty()) return NextEntry();
        CleanEntry(*task);
      });
}

void Cleaner::CleanEntry(const Task& task) {
  const std::string dir = DirectoryOf(task.clean.table, task.clean.row.partition);
  const absl::StatusOr<compact::CleanReport> report = compact::Clean(fs_, RequestOf(task, dir));
  if (report.ok()) return Conclude(task.clean, dir, *report);
  if (ReasonOf(report.status()) == ErrorReason::kShuttingDown) return Finish(absl::OkStatus());
  Retry(task.clean, dir, MessageOf(report.status()));
}

compact::CleanRequest Cleaner::RequestOf(const Task& task, const std::string& dir) {
  const state::CleanTask& clean = task.clean;
  compact::CleanRequest request;
  request.directory = dir;
  request.obsolete = compact::ObsoleteScope{
      clean.write_ids, VisibilityOf(clean.table, clean.txns), clean.row.highest_write_id};
  if (task.now) {
    request.aborted =
        compact::AbortedScope{task.now->write_ids, VisibilityOf(clean.table, task.now->txns)};
  }
  request.before_removal = [this, &clean, dir](const acid::Removal& removal) {
    return BeforeRemoval(clean, dir, removal);
  };
  return request;
}

// The proof is in the log before the bytes are gone.
absl::Status Cleaner::BeforeRemoval(const state::CleanTask& task,
                                    const std::string& dir,
                                    const acid::Removal& removal) {
  if (pacer_.stopping())
    return MakeError(ErrorReason::kShuttingDown, "the cleaner was told to stop");
  Log(LogLevel::kInfo,
      "clean.delete",
      {{"path", fs::JoinPath(dir, removal.name)},
       {"because", removal.because},
       {"table", ObjectName(task.row.name, task.row.partition)},
       {"compaction_id", task.row.id.value()},
       {"no_snapshot_before_seq", task.row.published_seq.value()}});
  if (options_.before_removal) options_.before_removal(removal);
  return absl::OkStatus();
}

void Cleaner::Conclude(const state::CleanTask& task,
                       const std::string& dir,
                       const compact::CleanReport& report) {
  if (!report.IsDone()) return Retry(task, dir, ProblemOf(report));
  Log(LogLevel::kInfo,
      "clean.done",
      {{"compaction_id", task.row.id.value()},
       {"table", ObjectName(task.row.name, task.row.partition)},
       {"removed", static_cast<int64_t>(report.removed.size())}});
  Report({.id = task.row.id, .done = true, .error = "", .retry_at = {}});
}

void Cleaner::Retry(const state::CleanTask& task,
                    const std::string& dir,
                    const std::string& error) {
  const int doublings = std::clamp(task.row.clean_attempts, 0, 30);
  const std::chrono::milliseconds delay =
      std::min(options_.retry * (int64_t{1} << doublings), options_.max_retry);
  Log(LogLevel::kWarn,
      "clean.failed",
      {{"compaction_id", task.row.id.value()},
       {"path", dir},
       {"error", error},
       {"attempt", task.row.clean_attempts + 1},
       {"retry_ms", delay.count()}});
  Report({.id = task.row.id, .done = false, .error = error, .retry_at = clock_.Now() + delay});
}

void Cleaner::Report(state::FinishClean command) {
  const bool done = command.done;
  AskStatus(
      port_,
      executor_,
      [command = std::move(command)](state::State& state, state::Now now, state::Unit& unit) {
        return state.FinishCleaning(command, now, unit);
      },
      [this, done](const absl::Status& status) {
        // What the loop could not take is done again by the next pass; what it refuses has ended.
        if (WasNotTaken(status)) return Finish(status);
        cleaned_any_ |= status.ok() && done;
        NextEntry();
      });
}

void Cleaner::Finish(absl::Status status) {
  // Of each object only the oldest entry is ready: the next one may be now.
  const auto next = cleaned_any_ ? PassResult::Next::kGoOn : PassResult::Next::kRest;
  // The last touch of this pass: the next may begin inside.
  Pacer::Finished finished = std::move(finished_);
  finished({std::move(status), next});
}

}  // namespace skep::duties

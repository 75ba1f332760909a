#include "server/duties/worker.h"

#include <optional>
#include <vector>

#include "server/duties/ask.h"
#include "server/duties/table_facts.h"
#include "storage/acid/names.h"
#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/compact/clean.h"
#include "storage/model/errors.h"

namespace skep::duties {
namespace {

constexpr std::string_view kStepPublished = "published";

// What no repetition would change: the object is not compacted by Skep. Everything else is a
// failure.
bool IsRefusal(const absl::Status& status) {
  const ErrorReason reason = ReasonOf(status);
  return reason == ErrorReason::kNotSupported || reason == ErrorReason::kLegacyLayout;
}

int64_t MillisecondsSince(const Clock& clock, MonoTime began) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(clock.MonoNow() - began).count();
}

// Between two passes a worker holds no claim: one under its name is that of a process that died
// (ST-4).
absl::Status TakeBackFromPredecessor(state::State& state,
                                     const std::string& name,
                                     state::Now now,
                                     state::Unit& unit) {
  for (const CompactionRow& row : state.Compactions({.states = {CompactionState::kWorking}})) {
    if (row.worker != name) continue;
    SKEP_RETURN_IF_ERROR(state.Finish({.id = row.id,
                                       .claim = row.claim,
                                       .state = CompactionState::kInitiated,
                                       .message = "its worker ended without a word"},
                                      now,
                                      unit));
  }
  return absl::OkStatus();
}

}  // namespace

Worker::Worker(
    Options options, CommandPort& port, Executor& executor, Clock& clock, fs::FileSystem& fs)
    : options_(std::move(options)),
      port_(port),
      executor_(executor),
      clock_(clock),
      fs_(fs),
      pacer_({.name = "worker", .rest = options_.rest},
             executor,
             clock,
             [this](Pacer::Finished finished) { Pass(std::move(finished)); }) {}

void Worker::Pass(Pacer::Finished finished) {
  finished_ = std::move(finished);
  Ask<std::optional<state::ClaimedCompaction>>(
      port_,
      executor_,
      [name = options_.name](state::State& state, state::Now now, state::Unit& unit)
          -> absl::StatusOr<std::optional<state::ClaimedCompaction>> {
        SKEP_RETURN_IF_ERROR(TakeBackFromPredecessor(state, name, now, unit));
        return state.Claim(name, now, unit);
      },
      [this](absl::StatusOr<std::optional<state::ClaimedCompaction>> claimed) {
        if (!claimed.ok()) return Finish(claimed.status(), PassResult::Next::kRest);
        if (!claimed->has_value()) return Finish(absl::OkStatus(), PassResult::Next::kRest);
        row_ = (*claimed)->row;
        View(row_.id, row_.claim);
      });
}

// The view is that of the unit which claimed, so it is asked for once that unit is published.
void Worker::View(CompactionId id, int64_t claim) {
  Ask<state::ClaimedCompaction>(
      port_,
      executor_,
      [id, claim](state::State& state, state::Now now, state::Unit& unit) {
        return state.ClaimView(id, claim, now, unit);
      },
      [this](absl::StatusOr<state::ClaimedCompaction> claimed) {
        // Without a view the claim is gone, or ends by itself.
        if (!claimed.ok()) return Finish(claimed.status(), PassResult::Next::kRest);
        row_ = claimed->row;
        Work(*claimed);
      });
}

compact::CompactionRequest Worker::RequestOf(const state::ClaimedCompaction& claimed,
                                             const std::string& dir) {
  compact::CompactionRequest request;
  request.directory = dir;
  request.type = claimed.row.type;
  request.txn = claimed.row.txn;
  request.write_ids = claimed.write_ids;
  request.visibility = VisibilityOf(claimed.table, claimed.txns);
  request.columns = claimed.table.schema.columns;
  request.properties = claimed.table.properties;
  request.on_progress = [this](const compact::CompactionProgress&) { return Progress(); };
  request.at_step = options_.at_step;
  return request;
}

absl::Status Worker::Progress() {
  if (pacer_.stopping()) {
    return MakeError(ErrorReason::kShuttingDown,
                     "the worker was told to stop; another one begins anew");
  }
  return watch_->Beat();
}

void Worker::Work(const state::ClaimedCompaction& claimed) {
  began_ = clock_.MonoNow();
  const std::string dir = DirectoryOf(claimed.table, claimed.row.partition);
  watch_ = std::make_shared<ClaimWatch>(port_, clock_, row_.id, row_.claim, options_.beat);
  Log(LogLevel::kInfo,
      "compaction.start",
      {{"compaction_id", row_.id.value()},
       {"table", ObjectName(row_.name, row_.partition)},
       {"type", CompactionTypeName(row_.type)},
       {"txn_id", row_.txn.value()},
       {"highest_write_id", row_.highest_write_id.value()}});
  SweepLeftovers(claimed, dir);
  Conclude(options_.merge(fs_, RequestOf(claimed, dir)), dir);
}

// Temporary directories of compactors that ended without tidying up: killed, or cut off from the
// disk.
void Worker::SweepLeftovers(const state::ClaimedCompaction& claimed, const std::string& dir) {
  const absl::StatusOr<std::vector<fs::DirEntry>> entries = fs_.List(dir);
  if (!entries.ok()) return;  // the job meets the same error and reports it
  std::vector<TxnId> ended;
  for (const fs::DirEntry& entry : *entries) {
    const std::optional<TxnId> txn = acid::ParseCompactorTempDirName(entry.name);
    const ValidIds& txns = claimed.txns.ids;
    if (txn && *txn != row_.txn && txn->value() <= txns.high && !txns.IsOpen(txn->value())) {
      ended.push_back(*txn);
    }
  }
  const absl::StatusOr<compact::SweepReport> swept = compact::SweepTemporary(fs_, dir, ended);
  if (!swept.ok()) return;
  for (const std::string& name : swept->removed) {
    Log(LogLevel::kInfo,
        "clean.delete",
        {{"path", fs::JoinPath(dir, name)}, {"because", "left over"}});
  }
}

void Worker::Conclude(const absl::StatusOr<compact::CompactionResult>& result,
                      const std::string& dir) {
  if (!result.ok()) {
    const bool stopped = ReasonOf(result.status()) == ErrorReason::kShuttingDown;
    return GiveUp(stopped                      ? CompactionState::kInitiated
                  : IsRefusal(result.status()) ? CompactionState::kRefused
                                               : CompactionState::kFailed,
                  MessageOf(result.status()));
  }
  if (result->plan.outcome == compact::PlanOutcome::kNothing) {
    return GiveUp(CompactionState::kRefused, result->plan.because);
  }
  Outputs outputs;
  for (const std::string& name : result->outputs) outputs.push_back(fs::JoinPath(dir, name));
  Log(LogLevel::kInfo,
      "compaction.merged",
      {{"compaction_id", row_.id.value()},
       {"outputs", JoinText(result->outputs, ",")},
       {"rows_read", result->totals.rows_read},
       {"rows_written", result->totals.rows_written},
       {"deletes_written", result->totals.deletes_written},
       {"bytes_written", result->totals.bytes_written},
       {"took_ms", MillisecondsSince(clock_, began_)}});
  Publish(result->plan.highest_write_id, std::move(outputs), 1);
}

void Worker::Publish(WriteId highest, Outputs outputs, int attempt) {
  AskStatus(
      port_,
      executor_,
      [command = state::PublishCompaction{row_.id, row_.claim, highest}](
          state::State& state, state::Now now, state::Unit& unit) {
        return state.Publish(command, now, unit);
      },
      [this, highest, outputs = std::move(outputs), attempt](const absl::Status& status) mutable {
        Published(status, highest, std::move(outputs), attempt);
      });
}

void Worker::Published(const absl::Status& status, WriteId highest, Outputs outputs, int attempt) {
  if (status.ok()) {
    if (options_.at_step) options_.at_step(kStepPublished);
    Log(LogLevel::kInfo,
        "compaction.done",
        {{"compaction_id", row_.id.value()},
         {"table", ObjectName(row_.name, row_.partition)},
         {"highest_write_id", highest.value()},
         {"took_ms", MillisecondsSince(clock_, began_)}});
    return Finish(absl::OkStatus(), PassResult::Next::kGoOn);
  }
  if (ReasonOf(status) == ErrorReason::kOperationNotAllowed ||
      ReasonOf(status) == ErrorReason::kNoSuchCompaction) {
    // Its transaction ended without it: nobody will ever see what was made, and the name says whose
    // it is.
    for (const std::string& output : outputs) {
      const absl::Status removed = fs_.RemoveTree(output);
      if (removed.ok()) continue;
      Log(LogLevel::kWarn,
          "compaction.leftover",
          {{"path", output}, {"error", MessageOf(removed)}});
    }
    return GiveUp(CompactionState::kFailed, MessageOf(status));
  }
  // Not known to have happened, and not known not to: asking again is safe, removing anything is
  // not.
  if (!absl::IsUnavailable(status) || attempt >= options_.publish_attempts || pacer_.stopping()) {
    return Finish(status, PassResult::Next::kRest);
  }
  executor_.PostAt(clock_.MonoNow() + options_.retry,
                   [this, highest, outputs = std::move(outputs), attempt]() mutable {
                     Publish(highest, std::move(outputs), attempt + 1);
                   });
}

void Worker::GiveUp(CompactionState state, const std::string& message) {
  Log(state == CompactionState::kFailed ? LogLevel::kWarn : LogLevel::kInfo,
      state == CompactionState::kFailed    ? "compaction.failed"
      : state == CompactionState::kRefused ? "compaction.refused"
                                           : "compaction.given_back",
      {{"compaction_id", row_.id.value()},
       {"table", ObjectName(row_.name, row_.partition)},
       {"reason", message},
       {"took_ms", MillisecondsSince(clock_, began_)}});
  AskStatus(
      port_,
      executor_,
      [command = state::FinishCompaction{row_.id, row_.claim, state, message}](
          state::State& state, state::Now now, state::Unit& unit) {
        return state.Finish(command, now, unit);
      },
      [this](const absl::Status& status) {
        // A claim that is lost has ended already.
        const bool lost = ReasonOf(status) == ErrorReason::kOperationNotAllowed ||
                          ReasonOf(status) == ErrorReason::kNoSuchCompaction;
        // A worker that loses claims rests before it takes another.
        Finish(lost ? absl::OkStatus() : status,
               lost ? PassResult::Next::kRest : PassResult::Next::kGoOn);
      });
}

void Worker::Finish(absl::Status status, PassResult::Next next) {
  watch_.reset();
  // The last touch of this pass: the next may begin inside.
  Pacer::Finished finished = std::move(finished_);
  finished({std::move(status), next});
}

}  // namespace skep::duties

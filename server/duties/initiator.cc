#include "server/duties/initiator.h"

#include <utility>

#include <absl/status/statusor.h>

#include "server/duties/ask.h"
#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"

namespace skep::duties {
namespace {

constexpr int64_t kHistoryLimit = 1'000;

}  // namespace

Initiator::Initiator(
    Options options, CommandPort& port, Executor& executor, Clock& clock, fs::FileSystem& fs)
    : options_(std::move(options)),
      port_(port),
      executor_(executor),
      clock_(clock),
      fs_(fs),
      pacer_({.name = "initiator", .rest = options_.interval},
             executor,
             clock,
             [this](Pacer::Finished finished) { Pass(std::move(finished)); }) {}

void Initiator::Pass(Pacer::Finished finished) {
  finished_ = std::move(finished);
  left_in_pass_ = options_.per_pass;
  if (!todo_.empty()) return NextCandidate();
  CollectDue();
  CollectChanged();
}

void Initiator::CollectChanged() {
  struct Answer {
    std::vector<state::State::Changed> changed;
    CommitSeq seen;
  };
  Ask<Answer>(
      port_,
      executor_,
      [since = seen_](
          state::State& state, state::Now, state::Unit& unit) -> absl::StatusOr<Answer> {
        // What this very unit changes may come after this command: it is taken by the next pass.
        return Answer{state.ChangedSince(since), CommitSeq(unit.seq().value() - 1)};
      },
      [this](absl::StatusOr<Answer> answer) {
        if (!answer.ok()) return Finish(answer.status());
        seen_ = answer->seen;
        for (state::State::Changed& one : answer->changed)
          Enqueue({one.table, std::move(one.partition)});
        NextCandidate();
      });
}

void Initiator::CollectDue() {
  const Timestamp now = clock_.Now();
  for (auto it = due_.begin(); it != due_.end();) {
    if (it->second > now) {
      ++it;
      continue;
    }
    Enqueue(it->first);
    it = due_.erase(it);
  }
}

void Initiator::Enqueue(Candidate candidate) {
  if (!in_todo_.insert(candidate).second) return;
  todo_.push_back(std::move(candidate));
}

void Initiator::NextCandidate() {
  if (todo_.empty() || left_in_pass_ == 0 || pacer_.stopping()) return Finish(absl::OkStatus());
  --left_in_pass_;
  const Candidate candidate = std::move(todo_.front());
  todo_.pop_front();
  in_todo_.erase(candidate);
  Ask<Facts>(
      port_,
      executor_,
      [candidate](state::State& state, state::Now, state::Unit&) -> absl::StatusOr<Facts> {
        Facts facts;
        absl::StatusOr<state::TableView> view = state.View(candidate.first);
        facts.table_gone = !view.ok();
        if (facts.table_gone) return facts;
        facts.view = *std::move(view);
        state::ListCompactions of_object;
        of_object.table = facts.view.table.name;
        of_object.partition = candidate.second;
        of_object.limit = kHistoryLimit;
        facts.of_object = state.Compactions(of_object);
        return facts;
      },
      [this, candidate](absl::StatusOr<Facts> facts) {
        if (!facts.ok()) {
          Enqueue(candidate);
          return Finish(facts.status());
        }
        Consider(candidate, *facts);
      });
}

void Initiator::Consider(const Candidate& candidate, const Facts& facts) {
  if (facts.table_gone) return NextCandidate();
  const TableRow& table = facts.view.table;
  const std::string& partition = candidate.second;
  const std::optional<Obstacle> obstacle =
      FindObstacle(table, partition, facts.of_object, options_.rules, clock_.Now());
  if (obstacle) {
    if (obstacle->until) PutOff(candidate, *obstacle->until);
    if (LogEnabled(LogLevel::kDebug)) {
      Log(LogLevel::kDebug,
          "initiator.skip",
          {{"table", ObjectName(table.name, partition)}, {"reason", obstacle->reason}});
    }
    if (obstacle->noted) return NoteNotInitiated(candidate, table.name, obstacle->reason);
    return NextCandidate();
  }
  const absl::StatusOr<Outlook> outlook = LookAt(fs_,
                                                 DirectoryOf(table, partition),
                                                 table.properties,
                                                 facts.view.write_ids,
                                                 VisibilityOf(table, facts.view.txns),
                                                 options_.rules);
  if (!outlook.ok()) {
    Fail(candidate, table.name, outlook.status());
    return NoteNotInitiated(candidate, table.name, MessageOf(outlook.status()));
  }
  if (!outlook->decision.type) return NextCandidate();
  state::EnqueueCompaction command;
  command.table = table.name;
  command.partition = partition;
  command.type = *outlook->decision.type;
  command.initiator = options_.name;
  command.reason = outlook->decision.reason;
  Request(candidate, command);
}

void Initiator::Request(const Candidate& candidate, const state::EnqueueCompaction& command) {
  Ask<state::EnqueuedCompaction>(
      port_,
      executor_,
      [command](state::State& state, state::Now now, state::Unit& unit) {
        return state.Enqueue(command, now, unit);
      },
      [this, candidate, command](absl::StatusOr<state::EnqueuedCompaction> answer) {
        if (WasNotTaken(answer.status())) {
          Enqueue(candidate);
          return Finish(answer.status());
        }
        if (!answer.ok()) {
          // Dropped meanwhile, or not to be compacted after all: nothing to come back for.
          Fail(candidate, command.table, answer.status());
        } else if (answer->accepted) {
          Log(LogLevel::kInfo,
              "compaction.enqueue",
              {{"compaction_id", answer->id.value()},
               {"table", ObjectName(command.table, command.partition)},
               {"type", CompactionTypeName(command.type)},
               {"reason", command.reason}});
        }
        NextCandidate();
      });
}

void Initiator::NoteNotInitiated(const Candidate& candidate,
                                 const TableName& name,
                                 const std::string& why) {
  state::EnqueueCompaction command;
  command.table = name;
  command.partition = candidate.second;
  command.initiator = options_.name;
  command.reason = why;
  Ask<CompactionId>(
      port_,
      executor_,
      [command](state::State& state, state::Now now, state::Unit& unit) {
        return state.NoteNotInitiated(command, now, unit);
      },
      [this, candidate](const absl::StatusOr<CompactionId>& noted) {
        if (WasNotTaken(noted.status())) {
          Enqueue(candidate);
          return Finish(noted.status());
        }
        NextCandidate();  // a table that was dropped meanwhile needs no record
      });
}

void Initiator::PutOff(const Candidate& candidate, Timestamp until) {
  due_.insert_or_assign(candidate, until);
}

void Initiator::Fail(const Candidate& candidate,
                     const TableName& name,
                     const absl::Status& status) {
  PutOff(candidate, clock_.Now() + options_.retry);
  Log(LogLevel::kWarn,
      "initiator.candidate_failed",
      {{"table", ObjectName(name, candidate.second)},
       {"error", MessageOf(status)},
       {"retry_ms", options_.retry.count()}});
}

void Initiator::Finish(absl::Status status) {
  const auto next = todo_.empty() ? PassResult::Next::kRest : PassResult::Next::kGoOn;
  // The last touch of this pass: the next may begin inside.
  Pacer::Finished finished = std::move(finished_);
  finished({std::move(status), next});
}

}  // namespace skep::duties

#include "server/duties/directory_desk.h"

#include "server/duties/ask.h"
#include "storage/base/status_macros.h"

namespace skep::duties {
namespace {

constexpr int64_t kMaxCleanerEntries = 1'000;

// What was given up is the next one's, which cleans everything up to its own highest write id.
bool IsCleanedByLater(const state::State& state, const CompactionRow& row) {
  if (row.state == CompactionState::kReadyForCleaning) return false;
  state::ListCompactions later;
  later.table = row.name;
  later.partition = row.partition;
  later.states = {CompactionState::kReadyForCleaning, CompactionState::kSucceeded};
  later.after = row.id;
  later.limit = 1;
  return !state.Compactions(later).empty();
}

std::vector<state::CleanTask> CleanTasks(const state::State& state,
                                         const std::optional<TableName>& table,
                                         state::Now now) {
  std::vector<state::CleanTask> tasks;
  // Those that wait, and those whose cleaning was given up.
  state::ListCompactions wanted;
  wanted.table = table;
  wanted.states = {CompactionState::kReadyForCleaning, CompactionState::kFailed};
  wanted.limit = kMaxCleanerEntries;
  for (const CompactionRow& row : state.Compactions(wanted)) {
    // A failed one that was never published leaves nothing; one that this very unit publishes is
    // not explained yet.
    absl::StatusOr<state::CleanTask> task = state.ExplainClean(row.id, now);
    if (task.ok() && !IsCleanedByLater(state, row)) tasks.push_back(*std::move(task));
  }
  return tasks;
}

}  // namespace

DirectoryDesk::DirectoryDesk(InitiatorRules rules,
                             DutiesAtWork at_work,
                             CommandPort& port,
                             Executor& executor,
                             Clock& clock,
                             fs::FileSystem& fs)
    : rules_(std::move(rules)),
      at_work_(at_work),
      port_(port),
      executor_(executor),
      clock_(clock),
      fs_(fs) {}

void DirectoryDesk::ScanForRegister(RegisterScanRequest request, Done<RegisterScanResult> done) {
  executor_.Post([this, request = std::move(request), done = std::move(done)]() mutable {
    done(duties::ScanForRegister(fs_, request));
  });
}

void DirectoryDesk::ListDirectories(TableName table,
                                    std::string partition,
                                    Done<std::vector<DirectoryInfo>> done) {
  Ask<TableFacts>(
      port_,
      executor_,
      [table = std::move(table), partition = std::move(partition)](
          state::State& state, state::Now, state::Unit&) {
        return ReadTableFacts(state, table, partition);
      },
      [this, done = std::move(done)](absl::StatusOr<TableFacts> facts) mutable {
        if (!facts.ok()) return done(facts.status());
        done(ListTableDirectories(fs_, *facts));
      });
}

void DirectoryDesk::ExplainCleaner(std::optional<TableName> table,
                                   Done<std::vector<CleanerEntry>> done) {
  Ask<std::vector<state::CleanTask>>(
      port_,
      executor_,
      [table = std::move(table)](state::State& state,
                                 state::Now now,
                                 state::Unit&) -> absl::StatusOr<std::vector<state::CleanTask>> {
        if (table) SKEP_RETURN_IF_ERROR(state.GetTable(*table).status());
        return CleanTasks(state, table, now);
      },
      [this, done = std::move(done)](absl::StatusOr<std::vector<state::CleanTask>> tasks) mutable {
        if (!tasks.ok()) return done(tasks.status());
        std::vector<CleanerEntry> entries;
        for (state::CleanTask& task : *tasks) {
          entries.push_back(ExplainClean(fs_, std::move(task), at_work_, clock_.Now()));
        }
        done(std::move(entries));
      });
}

void DirectoryDesk::ExplainCompactions(TableName table,
                                       std::string partition,
                                       Done<std::vector<CompactionEntry>> done) {
  Ask<CompactionFacts>(
      port_,
      executor_,
      [table = std::move(table), partition = std::move(partition)](
          state::State& state, state::Now, state::Unit&) {
        return ReadCompactionFacts(state, table, partition);
      },
      [this, done = std::move(done)](absl::StatusOr<CompactionFacts> facts) mutable {
        if (!facts.ok()) return done(facts.status());
        done(ExplainCompaction(fs_, *facts, rules_, at_work_, clock_.Now()));
      });
}

}  // namespace skep::duties

// Cleaning: what a compaction replaced goes when nobody can read it any more.

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/state/compaction_rules.h"
#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"

namespace skep::state {

namespace {

// What the cleaner of `row` may see: never more than the compaction's own sequence did.
//
// Write ids at or below the compaction's highest were all resolved when it was claimed, so what is
// known of them now was known then. Compactions of one object never overlap (ST-1): those with ids
// up to this one's transaction had ended when it was claimed, later ones came after; cutting the
// list of transactions there gives the judgement of the compaction's sequence for every `_vN` of
// the object.
void FillViews(const State::Impl& s,
               const TableRow& table,
               const CompactionRow& row,
               CleanTask& task) {
  task.write_ids.table = table.name;
  task.write_ids.table_id = table.id;
  task.write_ids.seq = row.published_seq;
  task.write_ids.role = SnapshotRole::kCleaner;
  task.write_ids.ids = *s.write_ids.At(table.id, s.published, table.next_write_id);
  task.txns.seq = row.published_seq;
  task.txns.ids = *s.txns.At(s.published);
  const auto cut = [](ValidIds& ids, int64_t high) {
    ids.high = std::min(ids.high, high);
    for (auto* list : {&ids.open, &ids.aborted}) {
      std::erase_if(*list, [&](int64_t id) { return id > ids.high; });
    }
  };
  cut(task.write_ids.ids, row.highest_write_id.value());
  cut(task.txns.ids, row.txn.value());
}

absl::Status NothingToClean(const CompactionRow& row) {
  return MakeError(
      ErrorReason::kOperationNotAllowed,
      fmt::format("cannot clean after compaction {}: it is {}, and only after a published one "
                  "there is something to clean",
                  row.id.value(),
                  CompactionStateName(row.state)),
      {{"compactionId", row.id.ToString()}, {"operation", "clean"}});
}

// `row` is published, and its table is there.
CleanTask MakeTask(const State::Impl& s, const CompactionRow& row, Now now) {
  const TableRow& table = *s.registry.Find(row.table);
  CleanTask task;
  task.row = row;
  task.table = table;
  FillViews(s, table, row, task);
  task.pinned_by = s.PinsBelow(table, row.published_seq, now);
  return task;
}

}  // namespace

std::vector<Pin> State::Impl::PinsBelow(const TableRow& table, CommitSeq below, Now now) const {
  std::vector<Pin> found;
  for (TxnId id : pins.Of(table.id, table.name.database, below)) {
    const OpenTxn* open = txns.Find(id);
    const auto ended = lingering.find(id);
    if (open == nullptr && (ended == lingering.end() || lingering_leases.IsOver(id, now.mono)))
      continue;
    const TxnFacts& row = open != nullptr ? open->row : ended->second;
    Pin pin;
    pin.txn = id;
    pin.every_table = pins.PinsEveryTable(id);
    pin.snapshot_seq = row.snapshot_seq;
    pin.user = row.client->user;
    pin.host = row.client->host;
    pin.agent = row.client->agent;
    pin.open_time = row.open_time;
    pin.ended = open == nullptr;
    found.push_back(std::move(pin));
  }
  return found;
}

std::vector<CompactionId> State::ReadyToClean(Now now) const {
  const Impl& s = *impl_;
  std::vector<CompactionRow> ready;
  for (CompactionId id : s.queue.InState(CompactionState::kReadyForCleaning)) {
    ready.push_back(*s.queue.Find(id));
  }
  return SelectReady(ready, now.wall);
}

absl::StatusOr<CleanTask> State::ExplainClean(CompactionId id, Now now) const {
  const Impl& s = *impl_;
  const CompactionRow* row = s.queue.Find(id);
  if (row == nullptr) return NoSuchCompaction(id);
  const bool has_something =
      row->state == CompactionState::kReadyForCleaning || CleaningWasGivenUp(*row);
  if (!has_something || row->published_seq > s.published) return NothingToClean(*row);
  return MakeTask(s, *row, now);
}

absl::StatusOr<CleanTask> State::BeginClean(CompactionId id, Now now, Unit& unit) {
  Impl& s = *impl_;
  const CompactionRow* row = s.queue.Find(id);
  if (row == nullptr) return NoSuchCompaction(id);
  if (row->state != CompactionState::kReadyForCleaning || row->published_seq > s.published) {
    return NothingToClean(*row);
  }
  CleanTask task = MakeTask(s, *row, now);
  if (AsciiEqualsIgnoreCase(PropertyIgnoreCase(task.table.properties, "NO_CLEANUP"), "true")) {
    task.row.error = "the table has NO_CLEANUP=true";
    s.FinishRow(task.row, CompactionState::kRefused, now, unit);
    return TableMayNot(
        task.table.name, "clean", "it has NO_CLEANUP=true; unset it and compact again");
  }
  if (!task.pinned_by.empty()) return task;
  // Durable before the first file goes: from here on an older snapshot that names the table is
  // refused.
  if (task.table.cleaned_seq < task.row.published_seq) {
    TableRow& table = *s.registry.Change(task.table.id);
    table.cleaned_seq = task.row.published_seq;
    s.registry.Save(table.id, unit);
    task.table = table;
  }
  return task;
}

absl::Status State::FinishCleaning(const FinishClean& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  const CompactionRow* found = s.queue.Find(command.id);
  if (found == nullptr) return NoSuchCompaction(command.id);
  if (found->state == CompactionState::kSucceeded && command.done) return absl::OkStatus();
  if (found->state != CompactionState::kReadyForCleaning) {
    return MakeError(ErrorReason::kOperationNotAllowed,
                     fmt::format("cannot finish cleaning after compaction {}: it is {}",
                                 command.id.value(),
                                 CompactionStateName(found->state)),
                     {{"compactionId", command.id.ToString()}, {"operation", "clean"}});
  }
  CompactionRow row = *found;
  row.error = command.error;
  if (command.done) {
    s.FinishRow(std::move(row), CompactionState::kSucceeded, now, unit);
    return absl::OkStatus();
  }
  ++row.clean_attempts;
  if (row.clean_attempts > s.options.clean_retries) {
    row.next_clean_time = Timestamp();
    row.error = fmt::format(
        "cleaning was given up after {} attempts: {}; the compaction's result is in use, what it "
        "replaced still takes up space: put the cause right and compact again, which cleans both",
        row.clean_attempts,
        command.error);
    s.FinishRow(std::move(row), CompactionState::kFailed, now, unit);
    return absl::OkStatus();
  }
  row.next_clean_time = command.retry_at;
  s.queue.Save(std::move(row), unit);
  return absl::OkStatus();
}

std::vector<Pin> State::PinsOf(TableId table, Now now) const {
  const TableRow* row = impl_->registry.Find(table);
  if (row == nullptr) return {};
  constexpr CommitSeq kAny(INT64_MAX);
  return impl_->PinsBelow(*row, kAny, now);
}

}  // namespace skep::state

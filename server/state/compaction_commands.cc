// The compaction queue: enqueue, claim, publish, fail, cancel. A claim's lease is the lease of its
// transaction, so one of them cannot outlive the other.

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/state/compaction_rules.h"
#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/status_macros.h"

namespace skep::state {

namespace {

absl::Status NotPossible(CompactionId id, std::string_view operation, std::string_view why) {
  return MakeError(ErrorReason::kOperationNotAllowed,
                   fmt::format("cannot {} compaction {}: {}", operation, id.value(), why),
                   {{"compactionId", id.ToString()}, {"operation", std::string(operation)}});
}

absl::Status CheckTarget(const TableRow& table, CompactionType type) {
  if (table.kind == TableKind::kExternal) return NotTransactional(table.name, "compact");
  if (table.kind == TableKind::kInsertOnly) {
    return MakeError(
        ErrorReason::kNotSupported,
        fmt::format("{} is insert-only, and compaction of such tables is not supported yet; "
                    "its files stay as they are",
                    table.name.ToString()),
        {{"what", "compaction of insert-only tables"}, {"table", table.name.ToString()}});
  }
  if (type == CompactionType::kRebalance) {
    return MakeError(ErrorReason::kNotSupported,
                     fmt::format("rebalance compaction of {} is not supported yet; use major",
                                 table.name.ToString()),
                     {{"what", "rebalance compaction"}, {"table", table.name.ToString()}});
  }
  return absl::OkStatus();
}

int64_t FingerprintOf(const EnqueueCompaction& c, const std::string& partition) {
  return Fingerprint()
      .Add(c.table.ToString())
      .Add(partition)
      .Add(static_cast<int64_t>(c.type))
      .Add(c.initiator)
      .value();
}

// Back to where another worker may take it.
void Unclaim(CompactionRow& row, const std::string& why) {
  row.state = CompactionState::kInitiated;
  row.worker.clear();
  row.txn = TxnId();
  row.highest_write_id = WriteId();
  row.start_time = Timestamp();
  row.error = why;
}

std::string ResourceText(const CompactionRow& row) {
  return row.partition.empty() ? row.name.ToString() : row.name.ToString() + "/" + row.partition;
}

}  // namespace

CompactionRow State::Impl::NewRow(const TableRow& table,
                                  const std::string& partition,
                                  const EnqueueCompaction& command,
                                  Now now) {
  CompactionRow row;
  row.id = next_compaction;
  next_compaction = next_compaction.Next();
  row.table = table.id;
  row.name = table.name;
  row.partition = partition;
  row.type = command.type;
  row.initiator = command.initiator;
  row.enqueue_time = now.wall;
  return row;
}

absl::StatusOr<EnqueuedCompaction> State::Enqueue(const EnqueueCompaction& command,
                                                  Now now,
                                                  Unit& unit) {
  Impl& s = *impl_;
  const TableRow* table = s.registry.Find(command.table);
  if (table == nullptr) return NoSuchTable(command.table);
  SKEP_ASSIGN_OR_RETURN(const std::string partition, CanonicalPartition(*table, command.partition));
  const int64_t fingerprint = FingerprintOf(command, partition);
  SKEP_ASSIGN_OR_RETURN(const RequestRow* known,
                        s.requests.Find(command.request, RequestKind::kEnqueue, fingerprint));
  if (known != nullptr) {
    const CompactionRow* row = s.queue.Find(CompactionId(known->first_id));
    if (row == nullptr) return NoSuchCompaction(CompactionId(known->first_id));
    return EnqueuedCompaction{row->id, true, row->state, ""};
  }
  SKEP_RETURN_IF_ERROR(CheckTarget(*table, command.type));
  if (!partition.empty() && !s.registry.HasPartition(table->id, partition)) {
    return InvalidField(
        "partition",
        fmt::format("{} has no partition {}; `skepctl show deltas {}` shows those there are",
                    table->name.ToString(),
                    partition,
                    table->name.ToString()));
  }
  const std::vector<CompactionRow> others = s.queue.OfObject(table->id, partition);
  const WriteId high = s.write_ids.CompactorHigh(table->id, table->next_write_id);
  if (const CompactionRow* other = FindDuplicate(others, command.type, high)) {
    return EnqueuedCompaction{other->id,
                              false,
                              other->state,
                              fmt::format("compaction {} of {} is {} already{}",
                                          other->id.value(),
                                          ResourceText(*other),
                                          CompactionStateName(other->state),
                                          other->state == CompactionState::kReadyForCleaning
                                              ? " and nothing was written since"
                                              : "")};
  }
  CompactionRow row = s.NewRow(*table, partition, command, now);
  row.reason = command.reason;
  const CompactionId id = row.id;
  s.queue.Save(std::move(row), unit);
  s.Remember(command.request, RequestKind::kEnqueue, fingerprint, id.value(), 1, now, unit);
  return EnqueuedCompaction{id, true, CompactionState::kInitiated, ""};
}

absl::StatusOr<CompactionId> State::NoteNotInitiated(const EnqueueCompaction& command,
                                                     Now now,
                                                     Unit& unit) {
  Impl& s = *impl_;
  const TableRow* table = s.registry.Find(command.table);
  if (table == nullptr) return NoSuchTable(command.table);
  SKEP_ASSIGN_OR_RETURN(const std::string partition, CanonicalPartition(*table, command.partition));
  const std::vector<CompactionRow> others = s.queue.OfObject(table->id, partition);
  if (!others.empty() && others.back().state == CompactionState::kNotInitiated &&
      others.back().error == command.reason) {
    CompactionRow again = others.back();
    again.end_time = now.wall;
    s.queue.Save(again, unit);
    return again.id;
  }
  CompactionRow row = s.NewRow(*table, partition, command, now);
  row.error = command.reason;
  const CompactionId id = row.id;
  s.FinishRow(std::move(row), CompactionState::kNotInitiated, now, unit);
  return id;
}

std::vector<CompactionRow> State::Compactions(const ListCompactions& command) const {
  TableId table;
  if (command.table) {
    // Entries of a table go with it.
    const TableRow* row = impl_->registry.Find(*command.table);
    if (row == nullptr) return {};
    table = row->id;
  }
  return impl_->queue.List(command, table);
}

int64_t State::compactions_read() const { return impl_->queue.looks(); }

absl::StatusOr<CompactionRow> State::Cancel(CompactionId id, Now now, Unit& unit) {
  Impl& s = *impl_;
  const CompactionRow* row = s.queue.Find(id);
  if (row == nullptr) return NoSuchCompaction(id);
  if (row->state != CompactionState::kInitiated) {
    return NotPossible(id,
                       "cancel",
                       fmt::format("it is {}; only an INITIATED one can be taken out of the queue",
                                   CompactionStateName(row->state)));
  }
  CompactionRow cancelled = *row;
  cancelled.state = CompactionState::kCancelled;
  cancelled.end_time = now.wall;
  s.FinishRow(cancelled, CompactionState::kCancelled, now, unit);
  return cancelled;
}

absl::StatusOr<std::optional<ClaimedCompaction>> State::Claim(const std::string& worker,
                                                              Now now,
                                                              Unit& unit) {
  Impl& s = *impl_;
  for (CompactionId id : s.queue.InState(CompactionState::kInitiated)) {
    CompactionRow row = *s.queue.Find(id);
    const TableRow* table = s.registry.Find(row.table);
    const LockTarget target{{table->name.database, table->name.table, row.partition},
                            LockKind::kSharedRead};
    // An exclusive lock in the way: another entry's turn (W-42 of Hive's weaknesses: no failure is
    // counted).
    if (!s.IsFree(target)) continue;
    TxnFacts txn;
    txn.type = TxnType::kCompaction;
    txn.client = s.clients.Get(
        {"skep", worker, fmt::format("compaction {} of {}", id.value(), ResourceText(row))});
    txn.timeout_ms = s.options.claim_lease.count();
    OpenTxn& open = s.OpenOne(std::move(txn), Pins::Reach::kNamed, now, unit);
    open.compaction = id;
    AcquireLocks locks;
    locks.txn = open.row.id;
    locks.components.push_back({target.resource, target.kind, std::nullopt, false});
    SKEP_ASSIGN_OR_RETURN(LockRows::Request request, s.MakeLockRequest(locks, &open, now));
    s.Enqueue(std::move(request), IfBlocked::kWait, now, unit);
    row.state = CompactionState::kWorking;
    row.worker = worker;
    row.claim += 1;
    row.txn = open.row.id;
    row.start_time = now.wall;
    s.queue.Save(row, unit);
    return ClaimedCompaction{row, *table, {}, {}};
  }
  return std::nullopt;
}

absl::StatusOr<CompactionRow> State::Impl::Claimed(CompactionId id,
                                                   int64_t claim,
                                                   Now now,
                                                   Unit& unit) {
  const CompactionRow* row = queue.Find(id);
  if (row == nullptr) return NoSuchCompaction(id);
  const auto lost = [&](std::string_view how) {
    return NotPossible(
        id, "go on with", fmt::format("claim {} {}; throw away what it made", claim, how));
  };
  if (row->claim != claim) return lost(fmt::format("was followed by claim {}", row->claim));
  if (row->state != CompactionState::kWorking) {
    return lost(fmt::format("is over, the compaction is {}", CompactionStateName(row->state)));
  }
  if (!Use(row->txn, now, unit).ok()) return lost("was not renewed in time");
  return *queue.Find(id);
}

absl::StatusOr<ClaimedCompaction> State::ClaimView(CompactionId id,
                                                   int64_t claim,
                                                   Now now,
                                                   Unit& unit) {
  Impl& s = *impl_;
  SKEP_ASSIGN_OR_RETURN(CompactionRow row, s.Claimed(id, claim, now, unit));
  const OpenTxn& txn = *s.txns.Find(row.txn);
  if (txn.row.snapshot_seq > s.published) return NotPublishedYet(row.txn);
  const TableRow& table = *s.registry.Find(row.table);
  ClaimedCompaction view;
  view.write_ids = s.ListOf(table, txn, CommitSeq()).first.ForCompactor();
  view.txns = {txn.row.snapshot_seq, *s.txns.At(txn.row.snapshot_seq), row.txn};
  view.table = table;
  const WriteId high(view.write_ids.ids.high);
  if (row.highest_write_id != high) {
    row.highest_write_id = high;
    s.queue.Save(row, unit);
  }
  view.row = std::move(row);
  return view;
}

absl::Status State::BeatClaim(CompactionId id, int64_t claim, Now now, Unit& unit) {
  return impl_->Claimed(id, claim, now, unit).status();
}

absl::Status State::Publish(const PublishCompaction& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  const CompactionRow* before = s.queue.Find(command.id);
  // Whatever became of the cleaning since: the output is visible, and must not be thrown away.
  const bool again =
      before != nullptr && before->claim == command.claim && !before->published_seq.is_none();
  if (again) return absl::OkStatus();
  SKEP_ASSIGN_OR_RETURN(CompactionRow row, s.Claimed(command.id, command.claim, now, unit));
  if (command.highest_write_id > row.highest_write_id) {
    return InvalidField("highest_write_id",
                        fmt::format("{} is above {}, the highest that the claim's view allows",
                                    command.highest_write_id.value(),
                                    row.highest_write_id.value()));
  }
  if (s.txns.Find(row.txn)->row.abort_only) {
    return NotPossible(
        command.id, "publish", "an operator released its lock by force; give the claim back");
  }
  row.state = CompactionState::kReadyForCleaning;
  row.highest_write_id = command.highest_write_id;
  row.published_seq = unit.seq();
  row.commit_time = now.wall;
  row.error.clear();
  const TxnId txn = row.txn;
  s.row_changes.Compacted(row.table, unit.seq());
  s.queue.Save(std::move(row), unit);
  s.EndTxn(txn, {}, now, unit);
  return absl::OkStatus();
}

absl::Status State::Finish(const FinishCompaction& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  const bool possible = command.state == CompactionState::kFailed ||
                        command.state == CompactionState::kRefused ||
                        command.state == CompactionState::kInitiated;
  if (!possible) {
    return InvalidField("state",
                        fmt::format("a claim ends as FAILED, REFUSED or INITIATED, not {}",
                                    CompactionStateName(command.state)));
  }
  const CompactionRow* before = s.queue.Find(command.id);
  if (before != nullptr && before->claim == command.claim && before->state == command.state) {
    return absl::OkStatus();
  }
  SKEP_ASSIGN_OR_RETURN(CompactionRow row, s.Claimed(command.id, command.claim, now, unit));
  const TxnId txn = row.txn;
  row.error = command.message;
  if (command.state == CompactionState::kInitiated) {
    Unclaim(row, command.message);
    s.queue.Save(std::move(row), unit);
  } else {
    s.FinishRow(std::move(row), command.state, now, unit);
  }
  // Aborted also where there was nothing to do: whatever lies under its `_vN` must never count.
  s.EndTxn(txn, {AbortCause::kCompaction, Impl::EndedBy::kOwner, command.message}, now, unit);
  return absl::OkStatus();
}

void State::Impl::ReturnClaim(CompactionId id, const std::string& why, Unit& unit) {
  const CompactionRow* found = queue.Find(id);
  if (found == nullptr || found->state != CompactionState::kWorking) return;
  CompactionRow row = *found;
  Unclaim(row, fmt::format("claim {} of {} ended: {}", row.claim, row.worker, why));
  queue.Save(std::move(row), unit);
}

void State::Impl::FinishRow(CompactionRow row, CompactionState state, Now now, Unit& unit) {
  row.state = state;
  row.end_time = now.wall;
  const TableId table = row.table;
  const std::string partition = row.partition;
  queue.Save(std::move(row), unit);
  for (CompactionId old : HistoryToDrop(queue.OfObject(table, partition), options))
    queue.Erase(old, unit);
  NoteOutdated(queue.OfObject(table, partition));
}

void State::Impl::NoteOutdated(const std::vector<CompactionRow>& of_object) {
  for (const CompactionRow* row : Outdated(of_object)) {
    outdated.insert({BirthOf(*row) + options.history_max_age, row->id});
  }
}

void State::Impl::ForgetOutdated(Now now, Unit& unit) {
  for (size_t i = 0; i < kMaxEndedAtOnce && !outdated.empty(); ++i) {
    const auto [due, id] = *outdated.begin();
    if (due >= now.wall) return;
    outdated.erase(outdated.begin());
    queue.Erase(id, unit);  // if it was not too many before
  }
}

}  // namespace skep::state

// What comes from another server: its transactions, its write ids, and where its ids go on.

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/status_macros.h"

namespace skep::state {

namespace {

absl::Status CheckConsecutive(const std::vector<std::pair<TxnId, WriteId>>& sources) {
  if (sources.empty()) return InvalidField("sources", "names no write id");
  std::set<TxnId> txns;
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto& [txn, write_id] = sources[i];
    if (!txns.insert(txn).second) {
      return InvalidField("sources", fmt::format("names transaction {} twice", txn.value()));
    }
    if (write_id.value() <= 0 || write_id.value() > kMaxForeignId) {
      return InvalidField("sources", fmt::format("{} is no write id", write_id.value()));
    }
    if (i > 0 && write_id != sources[i - 1].second.Next()) {
      return InvalidField("sources",
                          fmt::format("has write id {} after {}: ids follow one another",
                                      write_id.value(),
                                      sources[i - 1].second.value()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpenedTxns> State::Impl::OpenReplicas(const SourceTxns& sources,
                                                     const TxnFacts& row,
                                                     Now now,
                                                     Unit& unit) {
  OpenedTxns opened;
  opened.timeout = std::chrono::milliseconds(row.timeout_ms);
  for (TxnId source : sources.txns) {
    if (const auto txn = replicas.Find(sources.policy, source)) {
      opened.replicated.emplace_back(source, *txn);
      opened.snapshot_seq = txns.Find(*txn)->row.snapshot_seq;
    }
  }
  // One that is there says that this call is a repeat: those that are not have ended since.
  if (!opened.replicated.empty()) return opened;
  SKEP_RETURN_IF_ERROR(limit.Admit(row.client->user, std::ssize(sources.txns)));
  opened.first = txns.next();
  opened.count = std::ssize(sources.txns);
  opened.snapshot_seq = unit.seq();
  TxnFacts each = row;
  each.from_batch = opened.count > 1;
  const Pins::Reach reach = each.keep_all_pinned ? Pins::Reach::kAll
                            : each.from_batch    ? Pins::Reach::kNamed
                                                 : Pins::Reach::kAllUntilNamed;
  for (TxnId source : sources.txns) {
    const TxnId txn = OpenOne(each, reach, now, unit).row.id;
    replicas.Add({sources.policy, source, txn}, unit);
    opened.replicated.emplace_back(source, txn);
  }
  return opened;
}

void State::Impl::SkipWriteIds(TableId table, WriteId last, Unit& unit) {
  WriteId& next = registry.Change(table)->next_write_id;
  if (last < next) return;
  write_ids.Skip(table, next, unit);
  unit.events().Add(TakenOverEvent{EventTableOf(table), next, last});
  next = last.Next();
  row_changes.RowsChanged(table, unit.seq());  // whatever was written there, it may be that
}

absl::StatusOr<AllocatedWriteIds> State::Replicate(const ReplicateWriteIds& command,
                                                   Now now,
                                                   Unit& unit) {
  Impl& s = *impl_;
  std::vector<std::pair<TxnId, WriteId>> sources = command.sources;
  std::sort(sources.begin(), sources.end(), [](const auto& a, const auto& b) {
    return a.second < b.second;
  });
  SKEP_RETURN_IF_ERROR(CheckConsecutive(sources));
  AllocatedWriteIds answer;
  std::vector<std::pair<TxnId, WriteId>> wanted;
  for (const auto& [source, write_id] : sources) {
    const auto txn = s.replicas.Find(command.policy, source);
    if (!txn) return AllocatedWriteIds{};  // WID-10
    SKEP_ASSIGN_OR_RETURN(const OpenTxn* open, s.Use(*txn, now, unit));
    SKEP_ASSIGN_OR_RETURN(const TableRow* row, s.ResolveFor(open->row, command.table));
    if (row->kind == TableKind::kExternal) return NotTransactional(row->name, "get a write id of");
    answer.table = row->id;
    const WriteId own = open->write_ids.Of(row->id);
    if (!own.is_none() && own != write_id) {
      return TxnMayNot(*txn,
                       fmt::format("get write id {} of {}", write_id.value(), row->name.ToString()),
                       fmt::format("it has {} already", own.value()));
    }
    if (own.is_none()) wanted.emplace_back(*txn, write_id);
    answer.ids.emplace_back(*txn, write_id);
  }
  std::sort(answer.ids.begin(), answer.ids.end());
  if (wanted.empty()) return answer;
  const TableRow& table = *s.registry.Find(answer.table);
  if (wanted.front().second < table.next_write_id || wanted.size() != sources.size()) {
    return TableMayNot(
        table.name,
        fmt::format("get write id {} of another server for", wanted.front().second.value()),
        fmt::format("ids below {} were given out here already; a table that is replicated is "
                    "written by its source alone",
                    table.next_write_id.value()));
  }
  s.SkipWriteIds(table.id, WriteId(wanted.front().second.value() - 1), unit);
  for (const auto& [txn, write_id] : wanted) s.GiveWriteId(*s.txns.Find(txn), table.id, unit);
  return answer;
}

absl::StatusOr<AdoptedWriteIds> State::Adopt(const AdoptWriteIds& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  const TableRow* found = s.registry.Find(command.table);
  if (found == nullptr) return NoSuchTable(command.table);
  if (found->kind == TableKind::kExternal) {
    return NotTransactional(found->name, "take over the write ids of");
  }
  if (command.highest.value() < 0 || command.highest.value() > kMaxForeignId) {
    return InvalidField("valid_write_ids",
                        fmt::format("{} leaves no ids to go on with", command.highest.value()));
  }
  const TableId table = found->id;
  if (found->next_write_id != WriteId(1) || command.highest.is_none()) {
    return AdoptedWriteIds{false, found->next_write_id, {}};
  }
  s.SkipWriteIds(table, command.highest, unit);
  s.write_ids.AbortSkipped(table, command.aborted, unit);
  s.changes.Record(table, "", unit.seq());
  s.registry.Save(table, unit);
  AdoptedWriteIds adopted{true, s.registry.Find(table)->next_write_id, {}};
  if (command.aborted.empty()) return adopted;
  std::vector<std::string> objects;
  for (const auto& [partition, added] : s.registry.Partitions(table)) objects.push_back(partition);
  if (s.registry.Find(table)->schema.partition_columns.empty()) objects.emplace_back();
  for (const std::string& partition : objects) {
    EnqueueCompaction compaction;
    compaction.table = command.table;
    compaction.partition = partition;
    compaction.initiator = "replication";
    compaction.reason =
        fmt::format("{} aborted write ids came from another server", command.aborted.size());
    SKEP_ASSIGN_OR_RETURN(const EnqueuedCompaction queued, Enqueue(compaction, now, unit));
    adopted.compactions.push_back(queued.id);
  }
  return adopted;
}

absl::Status State::SeedTxnIds(TxnId first, Now /*now*/, Unit& unit) {
  Impl& s = *impl_;
  if (first < s.txns.next() || first.value() > kMaxForeignId) {
    return InvalidField("first_txn_id",
                        fmt::format("ids up to {} were given out, those from there to {} can be "
                                    "asked for",
                                    s.txns.next().value() - 1,
                                    kMaxForeignId));
  }
  s.txns.Skip(TxnId(first.value() - 1), unit);
  // Nothing else changes, and a unit without effects is none.
  unit.Add(Put<CounterRow>{s.Counters(unit.seq())});
  return absl::OkStatus();
}

}  // namespace skep::state

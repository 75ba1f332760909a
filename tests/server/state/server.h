#pragma once

// A State with a store in memory: each call is a unit of its own that is durable at once, and after
// each unit the store must equal what the state says it must hold. Restart() loads a new state from
// the store.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "server/state/state.h"
#include "storage/base/text.h"
#include "storage/meta/check_store.h"

namespace skep::state {

inline constexpr std::chrono::seconds kLease{300};

inline TableName T(const std::string& table) { return {"db", table}; }

class Server {
 public:
  explicit Server(Options options = {}) : options_(options) { Restart(); }

  // Every test of this room checks the store with every unit it makes.
  template <class F>
  auto Do(F command) {
    Unit unit = state_->Begin();
    auto answer = command(*state_, now_, unit);
    Finish(unit);
    return answer;
  }
  void Finish(Unit& unit) {
    state_->Seal(unit);
    ApplyEffects(stored_, unit.effects());
    state_->Published(unit);
    EXPECT_TRUE(unit.events().all().empty() || !unit.empty()) << "an event of nothing durable";
    last_events_ = std::move(unit.events().all());
    CheckStore();
  }
  void CheckStore() const {
    const StoredState memory = state_->ToStored();
    EXPECT_EQ(memory.counters, stored_.counters) << "counters differ";
    EXPECT_EQ(memory.txns == stored_.txns, true) << "txns differ";
    EXPECT_EQ(memory.replicas == stored_.replicas, true) << "replicas differ";
    EXPECT_EQ(memory.resolved_txns == stored_.resolved_txns, true) << "resolved_txns differ";
    EXPECT_EQ(memory.aborted_txns == stored_.aborted_txns, true) << "aborted_txns differ";
    EXPECT_EQ(memory.tables == stored_.tables, true) << "tables differ";
    EXPECT_EQ(memory.dropped_tables == stored_.dropped_tables, true) << "dropped_tables differ";
    EXPECT_EQ(memory.partitions == stored_.partitions, true) << "partitions differ";
    EXPECT_EQ(memory.write_ids == stored_.write_ids, true) << "write_ids differ";
    EXPECT_EQ(memory.resolved_write_ids == stored_.resolved_write_ids, true)
        << "resolved_write_ids differ";
    EXPECT_EQ(memory.aborted_write_ids == stored_.aborted_write_ids, true)
        << "aborted_write_ids differ";
    EXPECT_EQ(memory.components == stored_.components, true) << "components differ";
    EXPECT_EQ(memory.write_marks == stored_.write_marks, true) << "write_marks differ";
    EXPECT_EQ(memory.table_changes == stored_.table_changes, true) << "table_changes differ";
    EXPECT_EQ(memory.view_locks == stored_.view_locks, true) << "view_locks differ";
    EXPECT_EQ(memory.locks == stored_.locks, true) << "locks differ";
    EXPECT_EQ(memory.compactions == stored_.compactions, true) << "compactions differ";
    EXPECT_EQ(memory.requests == stored_.requests, true) << "requests differ";
  }
  void Restart() {
    // What a start refuses is never what the rules themselves left.
    const absl::Status sound = meta::RequireSound(stored_);
    ASSERT_TRUE(sound.ok()) << sound.ToString();
    auto loaded = State::Load(options_, stored_, now_);
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    state_ = std::move(*loaded);
    CheckStore();
  }
  void Pass(std::chrono::nanoseconds time) {
    now_.mono += time;
    now_.wall += std::chrono::duration_cast<std::chrono::milliseconds>(time);
  }
  void Reap() {
    Do([](State& s, Now now, Unit& u) {
      s.Reap(now, u);
      return 0;
    });
  }

  State& state() { return *state_; }
  const StoredState& stored() const { return stored_; }
  const std::vector<Event>& last_events() const { return last_events_; }
  Now now() const { return now_; }

  // ---- commands, one unit each ----

  absl::StatusOr<OpenedTxns> TryOpen(const OpenTxns& command) {
    return Do([&](State& s, Now now, Unit& u) { return s.Open(command, now, u); });
  }
  TxnId Open(TxnType type = TxnType::kDefault) {
    OpenTxns command;
    command.type = type;
    command.user = "ann";
    auto opened = TryOpen(command);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return opened.ok() ? opened->first : TxnId();
  }
  absl::StatusOr<CommittedTxn> Commit(TxnId txn, std::vector<TableWrites> writes = {}) {
    return Do([&](State& s, Now now, Unit& u) {
      return s.Commit({txn, std::move(writes)}, now, u);
    });
  }
  absl::Status Abort(TxnId txn, AbortCause cause = AbortCause::kUser) {
    return Do([&](State& s, Now now, Unit& u) { return s.AbortOne(txn, cause, now, u); });
  }
  HeartbeatResult Beat(std::vector<TxnId> txns, std::vector<LockId> locks = {}) {
    return Do([&](State& s, Now now, Unit& u) { return s.Beat({txns, locks}, now, u); });
  }
  absl::StatusOr<TxnSnapshot> Snapshot(TxnId txn) {
    return Do([&](State& s, Now now, Unit& u) { return s.Snapshot(txn, now, u); });
  }
  absl::StatusOr<CommitSeq> Refresh(TxnId txn) {
    return Do([&](State& s, Now now, Unit& u) { return s.RefreshSnapshot(txn, now, u); });
  }
  absl::StatusOr<WriteId> Allocate(TxnId txn, const TableName& table) {
    auto ids = Do([&](State& s, Now now, Unit& u) { return s.Allocate({table, {txn}}, now, u); });
    if (!ids.ok()) return ids.status();
    return ids->ids.front().second;
  }
  absl::StatusOr<ValidWriteIds> Lists(TxnId txn,
                                      std::vector<TableName> tables,
                                      bool names_all = false) {
    return Do([&](State& s, Now now, Unit& u) {
      return s.ValidWriteIdsOf({txn, tables, names_all}, now, u);
    });
  }
  absl::StatusOr<WriteIdSnapshot> List(TxnId txn, const TableName& table) {
    auto lists = Lists(txn, {table});
    if (!lists.ok()) return lists.status();
    return lists->tables.front();
  }
  absl::Status AddPartitions(TxnId txn,
                             const TableName& table,
                             std::vector<std::string> partitions,
                             WriteOp op = WriteOp::kUpdate) {
    return Do([&](State& s, Now now, Unit& u) {
      return s.AddWrites({txn, table, partitions, op}, now, u);
    });
  }
  absl::StatusOr<LockAnswer> Lock(TxnId txn,
                                  std::vector<LockComponent> components,
                                  bool wait = true) {
    AcquireLocks command;
    command.txn = txn;
    command.components = std::move(components);
    command.wait = wait;
    return Do([&](State& s, Now now, Unit& u) { return s.Lock(command, now, u); });
  }
  absl::Status Release(LockId lock, bool force = false) {
    return Do([&](State& s, Now now, Unit& u) { return s.Release({lock, force}, now, u); });
  }

  // A table of columns (id bigint), partitioned by p where asked, at /w/NAME.
  static CreateTable TableOf(const std::string& name,
                             bool partitioned = false,
                             FileFormat format = FileFormat::kOrc) {
    CreateTable command;
    command.name = T(name);
    command.format = format;
    command.schema.columns = *ParseColumns("id bigint");
    if (partitioned) command.schema.partition_columns = *ParseColumns("p string");
    command.location = "/w/" + name;
    return command;
  }
  absl::StatusOr<TableInfo> Create(const CreateTable& command) {
    return Do([&](State& s, Now now, Unit& u) { return s.Create(command, now, u); });
  }
  TableId MakeTable(const std::string& name, bool partitioned = false) {
    auto info = Create(TableOf(name, partitioned));
    EXPECT_TRUE(info.ok()) << info.status().ToString();
    return info.ok() ? info->row.id : TableId();
  }
  absl::StatusOr<TableInfo> Register(const RegisterTable& command) {
    return Do([&](State& s, Now now, Unit& u) { return s.Register(command, now, u); });
  }
  // Locks, drops and commits.
  absl::Status DropTable(const std::string& name) {
    const TxnId txn = Open();
    auto lock = Lock(txn, {{{"db", name, ""}, LockKind::kExclusive, std::nullopt, false}});
    if (!lock.ok()) return lock.status();
    absl::Status drop =
        Do([&](State& s, Now now, Unit& u) { return s.Drop(txn, T(name), now, u); });
    if (!drop.ok()) return drop;
    return Commit(txn).status();
  }

  // A transaction that writes and commits, declared in full.
  TxnId Write(const std::string& table, WriteOp op, const std::string& partition = "") {
    const TxnId txn = Open();
    EXPECT_TRUE(Allocate(txn, T(table)).ok());
    const auto done = Commit(txn, {{T(table), {{partition, op}}}});
    EXPECT_TRUE(done.ok()) << done.status().ToString();
    return txn;
  }

  absl::StatusOr<EnqueuedCompaction> Enqueue(const std::string& table,
                                             CompactionType type = CompactionType::kMajor,
                                             const std::string& partition = "") {
    EnqueueCompaction command;
    command.table = T(table);
    command.type = type;
    command.partition = partition;
    return Do([&](State& s, Now now, Unit& u) { return s.Enqueue(command, now, u); });
  }
  // Claims, and then looks: two units, as the worker does.
  std::optional<ClaimedCompaction> Claim(const std::string& worker = "w1") {
    auto claim = Do([&](State& s, Now now, Unit& u) { return s.Claim(worker, now, u); });
    EXPECT_TRUE(claim.ok()) << claim.status().ToString();
    if (!claim.ok() || !*claim) return std::nullopt;
    const CompactionRow row = (*claim)->row;
    auto view =
        Do([&](State& s, Now now, Unit& u) { return s.ClaimView(row.id, row.claim, now, u); });
    EXPECT_TRUE(view.ok()) << view.status().ToString();
    return view.ok() ? std::optional(*view) : std::nullopt;
  }
  absl::Status PublishClaim(const ClaimedCompaction& claim) {
    return Do([&](State& s, Now now, Unit& u) {
      return s.Publish({claim.row.id, claim.row.claim, claim.row.highest_write_id}, now, u);
    });
  }
  absl::Status FinishClaim(const ClaimedCompaction& claim, CompactionState state) {
    return Do([&](State& s, Now now, Unit& u) {
      return s.Finish({claim.row.id, claim.row.claim, state, "because"}, now, u);
    });
  }
  // Enqueues, claims and publishes; returns the entry.
  CompactionRow Compact(const std::string& table, CompactionType type = CompactionType::kMajor) {
    EXPECT_TRUE(Enqueue(table, type).ok());
    const auto claim = Claim();
    EXPECT_TRUE(claim.has_value());
    if (!claim) return {};
    EXPECT_TRUE(PublishClaim(*claim).ok());
    return stored_.compactions.at(claim->row.id);
  }
  absl::StatusOr<CleanTask> BeginClean(CompactionId id) {
    return Do([&](State& s, Now now, Unit& u) { return s.BeginClean(id, now, u); });
  }
  absl::Status EndClean(CompactionId id) {
    return Do([&](State& s, Now now, Unit& u) {
      return s.FinishCleaning({id, true, "", {}}, now, u);
    });
  }
  std::vector<LockNotice> Notices() { return state_->TakeNotices(); }
  TxnState StateOf(TxnId txn) { return state_->GetTxn(txn, now_)->state; }

 private:
  Options options_;
  StoredState stored_;
  std::vector<Event> last_events_;  // of the last unit
  Now now_{Timestamp(std::chrono::hours(500'000)), MonoTime(std::chrono::hours(1))};
  std::unique_ptr<State> state_;
};

inline LockComponent OnTable(const std::string& table,
                             LockKind kind,
                             std::optional<WriteOp> op = std::nullopt,
                             const std::string& partition = "") {
  return {{"db", table, partition}, kind, op, false};
}

}  // namespace skep::state

// Those who look after the server: they make and drop tables, ask for compactions, end
// transactions and release locks of others.

#include <fmt/format.h>

#include "client/session/transaction_core.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "tests/sim/client_life.h"

#include "proto/skep/v1/admin_service.pb.h"

namespace skep::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

client::SessionPorts PortsOf(World& world, ClientLife& life) {
  return {*life.calls,
          *life.beats,
          life.executor,
          life.beat_executor,
          world.clock(),
          world.dice(),
          life.blocker,
          nullptr,
          life.connector.get()};
}

client::SessionOptions OptionsOf(const Actor& actor) {
  client::SessionOptions options;
  options.user = actor.name();
  options.host = "sim";
  options.retry = ShortRetries();
  return options;
}

bool Create(World& world,
            Actor& actor,
            client::Session& session,
            const World::TableSpec& table,
            int generation) {
  client::TableSpec spec;
  spec.name = table.name;
  spec.columns = {{"id", "bigint", ""}};
  if (table.partitioned) spec.partition_columns = {{"p", "string", ""}};
  // A place of its own for each generation: files of the one before stay where they are.
  spec.location = fmt::format("/w/db.db/{}-{}", table.name.table, generation);
  const auto created = session.CreateTable(spec);
  world.Trace(fmt::format("{}: creates {}: {}",
                          actor.name(),
                          spec.location,
                          created.ok() ? "OK" : MessageOf(created.status())));
  CheckRefusal(world, actor.name(), created.status());
  if (created.ok()) world.PlantForeignNames(spec.location);
  return created.ok() || ReasonOf(created.status()) == ErrorReason::kAlreadyExists;
}

void Drop(World& world, Actor& actor, client::Session& session, const TableName& name) {
  const CommitSeq at_least = world.history().acknowledged();
  const auto txn = session.Begin();
  if (!txn.ok()) return;
  const auto core = (*txn)->core();
  world.history().Opened(
      actor.name(),
      (*txn)->id(),
      (*txn)->snapshot(),
      [core] { return core->CheckLease().ok(); },
      at_least);
  client::LockOptions wait;
  wait.wait = seconds(20);
  absl::Status status = (*txn)->DropTable(name, wait);
  if (const auto table = session.GetTable(name); table.ok()) {
    // Nobody else drops or makes tables.
    world.history().Drops((*txn)->id(), table->id);
  } else if (status.ok()) {
    status = table.status();
  }
  if (status.ok()) status = (*txn)->Commit();
  world.Trace(fmt::format(
      "{}: drops {}: {}", actor.name(), name.table, status.ok() ? "OK" : MessageOf(status)));
  if (status.ok()) {
    world.Count("tables dropped");
    world.history().ToldCommitted((*txn)->id(), CommitSeq());
  }
  NoteRefusedCommit(world, (*txn)->id(), status);
  CheckRefusal(world, actor.name(), status);
}

class Operator {
 public:
  Operator(World& world, Actor& actor) : world_(world), actor_(actor), life_(world, actor) {
    caller_ = std::make_unique<client::Caller>(
        client::Caller::Ports{
            *life_.calls, life_.executor, world.clock(), world.dice(), life_.blocker},
        ShortRetries());
  }

  void Run() {
    while (!world_.stopping()) {
      actor_.Sleep(dice().Delay(milliseconds(100), seconds(15)));
      switch (dice().Below(12)) {
        case 0:
          AbortOne();
          break;
        case 1:
          ReleaseOne();
          break;
        case 2:
          CancelOne();
          break;
        case 3:
          LookAround();
          break;
        default:
          Enqueue();
      }
    }
  }

 private:
  Dice& dice() { return world_.dice(); }
  template <class Request>
  auto Call(Request request) {
    auto answer =
        caller_->Call(std::move(request), world_.clock().MonoNow() + std::chrono::seconds(5));
    CheckRefusal(world_, actor_.name(), answer.status());
    return answer;
  }

  void AbortOne() {
    const auto& open = world_.truth().state().txns;
    if (open.empty()) return;
    auto it = open.begin();
    std::advance(it, dice().Below(static_cast<int64_t>(open.size())));
    v1::AbortTransactionsRequest request;
    request.add_txn_ids(it->first.value());
    request.set_by_operator(true);
    world_.Trace(fmt::format("{}: aborts {}", actor_.name(), it->first.value()));
    Call(std::move(request)).status().IgnoreError();
  }

  void ReleaseOne() {
    const auto& locks = world_.truth().state().locks;
    if (locks.empty()) return;
    auto it = locks.begin();
    std::advance(it, dice().Below(static_cast<int64_t>(locks.size())));
    v1::ReleaseLockRequest request;
    request.set_lock_id(it->first.first.value());
    request.set_force(true);
    world_.Trace(fmt::format("{}: releases lock {}", actor_.name(), request.lock_id()));
    const LockRow row = it->second;
    world_.history().TakenAway(row.lock);
    // who held it may not commit any more; who waited for it may.
    if (!Call(std::move(request)).ok()) return;
    if (row.state != LockState::kAcquired || row.txn.is_none()) return;
    world_.history().AbortOnly(row.txn, world_.truth().state().counters.seq);
  }

  void CancelOne() {
    const auto& rows = world_.truth().state().compactions;
    if (rows.empty()) return;
    world_
        .Ask<bool>(
            actor_,
            [id = rows.rbegin()->first](state::State& state, state::Now now, state::Unit& unit)
                -> absl::StatusOr<bool> { return state.Cancel(id, now, unit).ok(); })
        .status()
        .IgnoreError();
  }

  template <class Response, class Request>
  std::shared_ptr<Response> Ask(const std::string& method, Request request) {
    auto response = std::make_shared<Response>();
    const absl::Status status = caller_->Call("/skep.v1." + method,
                                              std::make_shared<Request>(std::move(request)),
                                              response,
                                              world_.clock().MonoNow() + seconds(5));
    CheckRefusal(world_, actor_.name(), status);
    return status.ok() ? response : nullptr;
  }

  // Whatever explains something, answers.
  void LookAround() {
    const World::TableSpec& table = dice().Pick(world_.tables());
    v1::ListDirectoriesRequest directories;
    directories.mutable_table()->set_database(table.name.database);
    directories.mutable_table()->set_table(table.name.table);
    Ask<v1::ListDirectoriesResponse>("TableService/ListDirectories", std::move(directories));
    Ask<v1::ExplainCleanerResponse>("AdminService/ExplainCleaner", v1::ExplainCleanerRequest());
    const auto held = Ask<v1::ListLocksResponse>("LockService/ListLocks", v1::ListLocksRequest());
    if (held == nullptr || held->locks().empty()) return;
    v1::ExplainLockRequest explain;
    explain.set_lock_id(held->locks(0).lock_id());
    Ask<v1::ExplainLockResponse>("AdminService/ExplainLock", std::move(explain));
  }

  void Enqueue() {
    const World::TableSpec& table = dice().Pick(world_.tables());
    v1::EnqueueCompactionRequest request;
    request.mutable_table()->set_database(table.name.database);
    request.mutable_table()->set_table(table.name.table);
    request.set_partition(world_.AnyPartition(table));
    request.set_type(dice().OneIn(2) ? v1::COMPACTION_TYPE_MAJOR : v1::COMPACTION_TYPE_MINOR);
    request.set_initiator("sim");
    Call(std::move(request)).status().IgnoreError();
  }

  World& world_;
  Actor& actor_;
  ClientLife life_;
  std::unique_ptr<client::Caller> caller_;
};

}  // namespace

void OperatorScript(World& world, Actor& actor) { Operator(world, actor).Run(); }

void TablesScript(World& world, Actor& actor) {
  ClientLife life(world, actor);
  client::Session session(
      std::make_shared<client::SessionImpl>(OptionsOf(actor), PortsOf(world, life)));
  int generation = 0;
  for (const World::TableSpec& table : world.tables()) {
    while (!world.stopping() && !Create(world, actor, session, table, generation)) {
      actor.Sleep(seconds(1));
    }
  }
  while (!world.stopping()) {
    actor.Sleep(world.dice().Delay(seconds(20), seconds(400)));
    if (world.stopping()) return;
    const World::TableSpec& table = world.dice().Pick(world.tables());
    Drop(world, actor, session, table.name);
    actor.Sleep(world.dice().Delay(milliseconds(10), seconds(10)));
    ++generation;
    for (int attempt = 0; attempt < 20 && !world.stopping(); ++attempt) {
      if (Create(world, actor, session, table, generation)) break;
      actor.Sleep(seconds(2));
    }
  }
}

}  // namespace skep::sim

#include "tests/conformance/txn/world.h"

#include <algorithm>

#include "proto/wire/status_wire.h"

namespace skep::conformance {
namespace {

constexpr char kTxns[] = "/skep.v1.TransactionService/";
constexpr char kTables[] = "/skep.v1.TableService/";
constexpr char kLocks[] = "/skep.v1.LockService/";

v1::WriteOperation OperationOf(char letter) {
  switch (letter) {
    case 'I':
      return v1::WRITE_OPERATION_INSERT;
    case 'U':
      return v1::WRITE_OPERATION_UPDATE;
    case 'D':
      return v1::WRITE_OPERATION_DELETE;
    case 'O':
      return v1::WRITE_OPERATION_OVERWRITE;
    default:
      ADD_FAILURE() << "no operation " << letter;
      return v1::WRITE_OPERATION_UNSPECIFIED;
  }
}

v1::LockKind KindOf(std::string_view word) {
  if (word == "SR") return v1::LOCK_KIND_SHARED_READ;
  if (word == "SW") return v1::LOCK_KIND_SHARED_WRITE;
  if (word == "EW") return v1::LOCK_KIND_EXCL_WRITE;
  if (word == "EX") return v1::LOCK_KIND_EXCLUSIVE;
  ADD_FAILURE() << "no kind " << word;
  return v1::LOCK_KIND_UNSPECIFIED;
}

v1::LockComponent ComponentOf(const std::string& text) {
  v1::LockComponent component;
  const size_t blank = text.find(' ');
  component.set_kind(KindOf(text.substr(0, blank)));
  std::string rest = text.substr(blank + 1);
  if (rest.back() == '*') {
    component.set_dynamic_partitions(true);
    rest.pop_back();
  }
  if (const size_t colon = rest.find(':'); colon != std::string::npos) {
    component.set_operation(OperationOf(rest[colon + 1]));
    rest.resize(colon);
  }
  *component.mutable_resource() = ResourceOf(rest);
  return component;
}

// The writes of one commit, one entry for each table.
void AddWrites(const std::vector<std::string>& writes, v1::CommitTransactionRequest* request) {
  for (const std::string& text : writes) {
    const size_t colon = text.find(':');
    const v1::LockResource resource = ResourceOf(text.substr(0, colon));
    v1::TableWrites* table = nullptr;
    for (v1::TableWrites& known : *request->mutable_write_set()) {
      if (known.table().database() == resource.database() &&
          known.table().table() == resource.table()) {
        table = &known;
      }
    }
    if (table == nullptr) {
      table = request->add_write_set();
      table->mutable_table()->set_database(resource.database());
      table->mutable_table()->set_table(resource.table());
    }
    if (colon == std::string::npos) continue;  // "db.t": wrote nothing after all
    v1::PartitionWrite* const write = table->add_writes();
    write->set_partition(resource.partition());
    write->set_operation(OperationOf(text[colon + 1]));
  }
}

template <class Ranges>
std::vector<int64_t> Expand(const Ranges& ranges) {
  std::vector<int64_t> ids;
  for (const auto& range : ranges) {
    for (int64_t id = range.first(); id <= range.last(); ++id) ids.push_back(id);
  }
  return ids;
}

bool Has(const std::vector<int64_t>& ids, int64_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

v1::TableName NameOf(const std::string& text) {
  v1::TableName name;
  const size_t dot = text.find('.');
  name.set_database(text.substr(0, dot));
  name.set_table(text.substr(dot + 1));
  return name;
}

v1::LockResource ResourceOf(const std::string& text) {
  v1::LockResource resource;
  const size_t slash = text.find('/');
  const std::string name = text.substr(0, slash);
  if (slash != std::string::npos) resource.set_partition(text.substr(slash + 1));
  const size_t dot = name.find('.');
  resource.set_database(name.substr(0, dot));
  if (dot != std::string::npos) resource.set_table(name.substr(dot + 1));
  return resource;
}

bool List::Sees(int64_t id) const {
  return Has(own, id) || (id <= high && !Has(open, id) && !Has(aborted, id));
}

// The refusal as a client reads it: with the reason and the metadata that survived the way.
void WireCall::Refuse(const absl::Status& status) {
  status_ = wire::FromGrpc(wire::ToGrpc(status));
}

// Nothing of these scenarios looks at directories.
class World::NoDirectories final : public rpc::DirectoryPort {
 public:
  void Scan(rpc::RegisterScan, Done<rpc::RegisterFindings> done) override { done(None()); }
  void ListDirectories(TableName,
                       std::string,
                       Done<std::vector<rpc::DirectoryEntry>> done) override {
    done(None());
  }
  void ExplainCleaner(std::optional<TableName>,
                      Done<std::vector<rpc::CleanerEntry>> done) override {
    done(None());
  }
  void ExplainCompaction(TableName,
                         std::string,
                         Done<std::vector<rpc::CompactionDecision>> done) override {
    done(None());
  }

 private:
  static absl::Status None() { return absl::UnimplementedError("no directories here"); }
};

World::World(state::Options options)
    : options_(options), directories_(std::make_unique<NoDirectories>()) {
  facts_.warehouse_roots = {dir_.path() + "/w"};
  EXPECT_TRUE(fs_.CreateDirectories(facts_.warehouse_roots[0]).ok());
  Start();
}

World::~World() = default;

void World::Start() {
  executor_ = std::make_unique<testing::ManualExecutor>(clock_);
  loop::BatchCore::Options options;
  options.state = options_;
  auto core = loop::BatchCore::Open(options, store_, clock_, *executor_);
  ASSERT_TRUE(core.ok()) << core.status().ToString();
  core_ = *std::move(core);
  port_ = std::make_unique<loop::LoopPort>(*core_, *executor_);
  dependencies_ = std::make_unique<rpc::Dependencies>(
      rpc::Dependencies{*port_, *executor_, fs_, *directories_, facts_});
  services_ = rpc::MakeServices(*dependencies_);
  methods_.clear();
  for (loop::Service& service : services_) {
    for (loop::Method& method : service.methods) methods_[method.path] = &method;
  }
}

void World::Restart() {
  core_.reset();
  calls_.clear();
  executor_.reset();
  Start();
}

void World::Settle() {
  do {
    core_->Flush();
  } while (executor_->RunReady() > 0 || core_->HasUnit());
}

void World::Pass(std::chrono::nanoseconds time) {
  executor_->Advance(time);
  Settle();
}

WireCall& World::Send(const std::string& path,
                      const google::protobuf::MessageLite& request,
                      std::chrono::nanoseconds timeout) {
  const auto method = methods_.find(path);
  EXPECT_NE(method, methods_.end()) << path;
  WireCall& call = *calls_.emplace_back(std::make_unique<WireCall>(
      *method->second, *core_, request.SerializeAsString(), clock_.MonoNow() + timeout));
  core_->Run(call);
  Settle();
  return call;
}

void World::Table(const std::string& name, bool partitioned) {
  v1::CreateTableRequest request;
  *request.mutable_name() = NameOf(name);
  auto* column = request.add_columns();
  column->set_name("a");
  column->set_type("bigint");
  if (partitioned) {
    auto* partition = request.add_partition_columns();
    partition->set_name("p");
    partition->set_type("string");
  }
  ASSERT_THAT(Ask<v1::CreateTableResponse>(std::string(kTables) + "CreateTable", request),
              testing::IsOk());
}

int64_t World::Open(v1::TransactionType type, const std::string& user) {
  v1::OpenTransactionsRequest request;
  request.set_type(type);
  request.set_user(user);
  request.set_host("localhost");
  const auto opened =
      Ask<v1::OpenTransactionsResponse>(std::string(kTxns) + "OpenTransactions", request);
  EXPECT_THAT(opened, testing::IsOk());
  return opened.ok() ? opened->first_txn_id() : 0;
}

std::vector<int64_t> World::OpenMany(int count) {
  v1::OpenTransactionsRequest request;
  request.set_count(count);
  request.set_user("me");
  const auto opened =
      Ask<v1::OpenTransactionsResponse>(std::string(kTxns) + "OpenTransactions", request);
  EXPECT_THAT(opened, testing::IsOk());
  std::vector<int64_t> ids;
  for (int i = 0; opened.ok() && i < count; ++i) ids.push_back(opened->first_txn_id() + i);
  return ids;
}

absl::Status World::Commit(int64_t txn, const std::vector<std::string>& writes) {
  v1::CommitTransactionRequest request;
  request.set_txn_id(txn);
  AddWrites(writes, &request);
  return Ask<v1::CommitTransactionResponse>(std::string(kTxns) + "CommitTransaction", request)
      .status();
}

v1::AbortTransactionsResponse World::AbortAll(const std::vector<int64_t>& txns) {
  v1::AbortTransactionsRequest request;
  request.mutable_txn_ids()->Add(txns.begin(), txns.end());
  const auto aborted =
      Ask<v1::AbortTransactionsResponse>(std::string(kTxns) + "AbortTransactions", request);
  EXPECT_THAT(aborted, testing::IsOk());
  return aborted.value_or(v1::AbortTransactionsResponse());
}

absl::Status World::Abort(int64_t txn) {
  const v1::AbortTransactionsResponse answer = AbortAll({txn});
  if (answer.aborted_size() == 1) return absl::OkStatus();
  return answer.not_found_size() == 1 ? absl::NotFoundError("unknown")
                                      : absl::FailedPreconditionError("committed");
}

v1::HeartbeatTransactionsResponse World::Beat(const std::vector<int64_t>& txns,
                                              const std::vector<int64_t>& locks) {
  v1::HeartbeatTransactionsRequest request;
  request.mutable_txn_ids()->Add(txns.begin(), txns.end());
  request.mutable_lock_ids()->Add(locks.begin(), locks.end());
  const auto answer =
      Ask<v1::HeartbeatTransactionsResponse>(std::string(kTxns) + "HeartbeatTransactions", request);
  EXPECT_THAT(answer, testing::IsOk());
  return answer.value_or(v1::HeartbeatTransactionsResponse());
}

v1::TransactionState World::StateOf(int64_t txn) {
  v1::GetTransactionRequest request;
  request.set_txn_id(txn);
  const auto answer =
      Ask<v1::GetTransactionResponse>(std::string(kTxns) + "GetTransaction", request);
  return answer.ok() ? answer->transaction().state() : v1::TRANSACTION_STATE_UNSPECIFIED;
}

v1::AbortCause World::CauseOf(int64_t txn) {
  v1::GetTransactionRequest request;
  request.set_txn_id(txn);
  const auto answer =
      Ask<v1::GetTransactionResponse>(std::string(kTxns) + "GetTransaction", request);
  return answer.ok() ? answer->transaction().abort_cause() : v1::ABORT_CAUSE_UNSPECIFIED;
}

std::vector<v1::Transaction> World::Listed(std::vector<v1::TransactionState> states) {
  v1::ListTransactionsRequest request;
  request.set_page_size(1000);
  for (const v1::TransactionState state : states) request.add_states(state);
  std::vector<v1::Transaction> listed;
  do {
    const auto page =
        Ask<v1::ListTransactionsResponse>(std::string(kTxns) + "ListTransactions", request);
    EXPECT_THAT(page, testing::IsOk());
    if (!page.ok()) break;
    listed.insert(listed.end(), page->transactions().begin(), page->transactions().end());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return listed;
}

absl::StatusOr<int64_t> World::Allocate(int64_t txn, const std::string& table) {
  v1::AllocateWriteIdsRequest request;
  *request.mutable_table() = NameOf(table);
  request.add_txn_ids(txn);
  const auto answer =
      Ask<v1::AllocateWriteIdsResponse>(std::string(kTables) + "AllocateWriteIds", request);
  if (!answer.ok()) return answer.status();
  return answer->allocations(0).write_id();
}

absl::Status World::AddPartitions(int64_t txn,
                                  const std::string& table,
                                  const std::vector<std::string>& partitions,
                                  v1::WriteOperation operation) {
  v1::AddPartitionsRequest request;
  request.set_txn_id(txn);
  *request.mutable_table() = NameOf(table);
  for (const std::string& partition : partitions) request.add_partitions(partition);
  request.set_operation(operation);
  return Ask<v1::AddPartitionsResponse>(std::string(kTxns) + "AddPartitions", request).status();
}

int64_t World::Write(const std::string& write) {
  const int64_t txn = Open();
  EXPECT_THAT(Allocate(txn, write.substr(0, write.find_first_of("/:"))), testing::IsOk());
  EXPECT_THAT(Commit(txn, {write}), testing::IsOk());
  return txn;
}

List World::ListOf(int64_t txn, const std::string& table) {
  v1::GetValidWriteIdsRequest request;
  request.set_txn_id(txn);
  *request.add_tables() = NameOf(table);
  const auto answer =
      Ask<v1::GetValidWriteIdsResponse>(std::string(kTables) + "GetValidWriteIds", request);
  EXPECT_THAT(answer, testing::IsOk());
  if (!answer.ok()) return {};
  const v1::WriteIdList& list = answer->lists(0);
  return {list.high_watermark(),
          {list.open().begin(), list.open().end()},
          Expand(list.aborted()),
          {list.own().begin(), list.own().end()}};
}

List World::TxnListOf(int64_t txn) {
  v1::GetSnapshotRequest request;
  request.set_txn_id(txn);
  const auto answer = Ask<v1::GetSnapshotResponse>(std::string(kTxns) + "GetSnapshot", request);
  EXPECT_THAT(answer, testing::IsOk());
  if (!answer.ok()) return {};
  List list{answer->txns().high_watermark(),
            {answer->txns().open().begin(), answer->txns().open().end()},
            Expand(answer->txns().aborted()),
            {}};
  if (txn != 0) list.own.push_back(txn);
  return list;
}

absl::StatusOr<Locked> World::TryLock(int64_t txn,
                                      const std::vector<std::string>& locks,
                                      bool no_wait) {
  v1::AcquireLocksRequest request;
  request.set_txn_id(txn);
  request.set_no_wait(no_wait);
  if (txn == 0) request.set_user("me");
  request.set_host("localhost");
  for (const std::string& lock : locks) *request.add_components() = ComponentOf(lock);
  // The shortest wait there is: the server answers WAITING within it.
  constexpr milliseconds kMoment{1};
  WireCall& call = Send(std::string(kLocks) + "AcquireLocks", request, kMoment);
  if (!call.answered()) Pass(kMoment);
  const auto answer = AnswerOf<v1::AcquireLocksResponse>(call);
  if (!answer.ok()) return answer.status();
  return Locked{answer->lock_id(), answer->state(), answer->snapshot_stale(), answer->reason()};
}

Locked World::Lock(int64_t txn, const std::vector<std::string>& locks) {
  const auto locked = TryLock(txn, locks);
  EXPECT_THAT(locked, testing::IsOk());
  return locked.value_or(Locked());
}

absl::StatusOr<v1::LockState> World::Check(int64_t lock) {
  v1::CheckLockRequest request;
  request.set_lock_id(lock);
  const auto answer = Ask<v1::CheckLockResponse>(std::string(kLocks) + "CheckLock", request);
  if (!answer.ok()) return answer.status();
  return answer->state();
}

absl::Status World::Release(int64_t lock, bool force) {
  v1::ReleaseLockRequest request;
  request.set_lock_id(lock);
  request.set_force(force);
  return Ask<v1::ReleaseLockResponse>(std::string(kLocks) + "ReleaseLock", request).status();
}

std::vector<v1::Lock> World::Locks(const std::string& resource) {
  v1::ListLocksRequest request;
  request.set_page_size(1000);
  if (!resource.empty()) *request.mutable_resource() = ResourceOf(resource);
  const auto answer = Ask<v1::ListLocksResponse>(std::string(kLocks) + "ListLocks", request);
  EXPECT_THAT(answer, testing::IsOk());
  if (!answer.ok()) return {};
  return {answer->locks().begin(), answer->locks().end()};
}

}  // namespace skep::conformance

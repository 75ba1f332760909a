#include "tests/server/duties/duty_world.h"

#include <utility>

#include "server/duties/table_facts.h"
#include "storage/acid/names.h"
#include "tests/testing/status_matchers.h"

namespace skep::duties {

using ::skep::testing::IsOk;
using state::Now;
using state::State;
using state::Unit;

TableRow DutyWorld::CreateTable(const std::string& name,
                                const std::string& partition_columns,
                                const Properties& properties) {
  state::CreateTable command;
  command.name = NameOf(name);
  command.schema.columns = compact::OrderColumns();
  if (!partition_columns.empty()) {
    absl::StatusOr<std::vector<Column>> columns = ParseColumns(partition_columns);
    EXPECT_THAT(columns, IsOk());
    command.schema.partition_columns = *std::move(columns);
  }
  command.properties = properties;
  command.location = Warehouse() + "/sales.db/" + name;
  EXPECT_THAT(fs.CreateDirectories(command.location), IsOk());
  auto info = port.Do([&](State& s, Now now, Unit& unit) { return s.Create(command, now, unit); });
  EXPECT_THAT(info, IsOk());
  return info.ok() ? info->row : TableRow();
}

TableRow DutyWorld::Table(const std::string& name) const {
  auto info = const_cast<testing::MemoryCommandPort&>(port).state().GetTable(NameOf(name));
  EXPECT_THAT(info, IsOk());
  return info.ok() ? info->row : TableRow();
}

std::string DutyWorld::Dir(const std::string& name, const std::string& partition) const {
  return DirectoryOf(Table(name), partition);
}

TxnId DutyWorld::Open(TxnType type) {
  state::OpenTxns command;
  command.type = type;
  command.user = "ann";
  command.host = "desk";
  auto opened = port.Do([&](State& s, Now now, Unit& unit) { return s.Open(command, now, unit); });
  EXPECT_THAT(opened, IsOk());
  return opened.ok() ? opened->first : TxnId();
}

WriteId DutyWorld::Allocate(TxnId txn, const std::string& name) {
  auto ids = port.Do([&](State& s, Now now, Unit& unit) {
    return s.Allocate({NameOf(name), {txn}}, now, unit);
  });
  EXPECT_THAT(ids, IsOk());
  return ids.ok() ? ids->ids.at(0).second : WriteId();
}

absl::Status DutyWorld::Commit(TxnId txn) {
  return port.Do([&](State& s, Now now, Unit& unit) {
               return s.Commit({txn, {}}, now, unit);
             })
      .status();
}

absl::Status DutyWorld::Commit(TxnId txn,
                               const std::string& name,
                               const std::string& partition,
                               WriteOp op) {
  state::CommitTxn command;
  command.txn = txn;
  command.write_set = {{NameOf(name), {{partition, op}}}};
  return port.Do([&](State& s, Now now, Unit& unit) { return s.Commit(command, now, unit); })
      .status();
}

void DutyWorld::Abort(TxnId txn) {
  EXPECT_THAT(port.Do([&](State& s, Now now, Unit& unit) {
    return s.AbortOne(txn, AbortCause::kUser, now, unit);
  }),
              IsOk());
}

void DutyWorld::InsertOne(const std::string& name, const std::string& partition) {
  const TxnId txn = Open();
  const WriteId write_id = Allocate(txn, name);
  const std::string dir = Dir(name, partition);
  EXPECT_THAT(fs.CreateDirectories(dir), IsOk());
  compact::WriteAcidFile(fs,
                         dir,
                         acid::DeltaDirName(acid::DirKind::kDelta, write_id, write_id, 0),
                         {{.write_id = write_id.value(),
                           .row_id = 0,
                           .id = static_cast<int32_t>(write_id.value()),
                           .status = "new"}});
  EXPECT_THAT(Commit(txn, name, partition, WriteOp::kInsert), IsOk());
}

void DutyWorld::WorkedExample(const std::string& name, const std::string& partition) {
  const std::string dir = Dir(name, partition);
  EXPECT_THAT(fs.CreateDirectories(dir), IsOk());
  compact::WriteWorkedExample(fs, dir);
  for (const WriteOp op : {WriteOp::kInsert, WriteOp::kUpdate, WriteOp::kDelete}) {
    const TxnId txn = Open();
    Allocate(txn, name);
    EXPECT_THAT(Commit(txn, name, partition, op), IsOk());
  }
}

std::vector<std::string> DutyWorld::Rows(TxnId txn,
                                         const std::string& name,
                                         const std::string& partition,
                                         const std::vector<Column>& columns) {
  state::GetValidWriteIds command;
  command.txn = txn;
  command.tables = {NameOf(name)};
  auto lists =
      port.Do([&](State& s, Now now, Unit& unit) { return s.ValidWriteIdsOf(command, now, unit); });
  auto txns = port.Do([&](State& s, Now now, Unit& unit) { return s.Snapshot(txn, now, unit); });
  if (!lists.ok()) return {lists.status().ToString()};
  if (!txns.ok()) return {txns.status().ToString()};
  return compact::ScanRows(
      fs, Dir(name, partition), lists->tables.at(0), VisibilityOf(Table(name), *txns), columns);
}

std::vector<std::string> DutyWorld::Names(const std::string& name,
                                          const std::string& partition) const {
  return compact::NamesIn(Dir(name, partition));
}

CompactionId DutyWorld::Enqueue(const std::string& name,
                                const std::string& partition,
                                CompactionType type) {
  state::EnqueueCompaction command;
  command.table = NameOf(name);
  command.partition = partition;
  command.type = type;
  command.initiator = "desk-manual";
  auto answer =
      port.Do([&](State& s, Now now, Unit& unit) { return s.Enqueue(command, now, unit); });
  EXPECT_THAT(answer, IsOk());
  if (!answer.ok()) return CompactionId();
  EXPECT_TRUE(answer->accepted) << answer->message;
  return answer->id;
}

CompactionRow DutyWorld::Compaction(CompactionId id) const {
  for (const CompactionRow& row : Compactions()) {
    if (row.id == id) return row;
  }
  ADD_FAILURE() << "no compaction " << id;
  return {};
}

std::vector<CompactionRow> DutyWorld::Compactions() const {
  return const_cast<testing::MemoryCommandPort&>(port).state().Compactions({});
}

void DutyWorld::WorkOnce() {
  Worker worker({}, port, executor, clock, fs);
  RunOnce(worker);
}

void DutyWorld::CleanOnce() {
  Cleaner cleaner({}, port, executor, clock, fs);
  RunOnce(cleaner);
}

}  // namespace skep::duties

#include "storage/meta/sqlite/unit_writer.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/meta/columns.h"
#include "storage/meta/sqlite/column_io.h"
#include "storage/meta/sqlite/table_names.h"

namespace skep::meta {
namespace {

template <class Row>
std::string PutSql() {
  ColumnNames columns;
  const Row row;
  Columns(columns, row);
  std::string names;
  std::string places;
  for (const std::string& name : columns.names()) {
    names += names.empty() ? name : ", " + name;
    places += places.empty() ? "?" : ", ?";
  }
  return fmt::format("INSERT OR REPLACE INTO {} ({}) VALUES ({})", kTableOf<Row>, names, places);
}

template <class Row>
std::vector<std::string> SqlOf(const Put<Row>&) {
  return {PutSql<Row>()};
}

// `where` names what Columns (columns.h) passes for the erase, in its order.
std::vector<std::string> DeleteFrom(std::initializer_list<std::string_view> tables,
                                    std::string_view where) {
  std::vector<std::string> statements;
  for (const std::string_view table : tables) {
    statements.push_back(fmt::format("DELETE FROM {} WHERE {}", table, where));
  }
  return statements;
}

std::vector<std::string> SqlOf(const EraseTxn&) {
  return DeleteFrom({kTableOf<TxnRow>}, "txn_id = ?1");
}
std::vector<std::string> SqlOf(const EraseReplica&) {
  return DeleteFrom({kTableOf<ReplicaRow>}, "policy = ?1 AND source_txn_id = ?2");
}
std::vector<std::string> SqlOf(const EraseViewLock&) {
  return DeleteFrom({kTableOf<ViewLockRow>}, "database_name = ?1 AND view_name = ?2");
}
std::vector<std::string> SqlOf(const EraseAbortedTxns&) {
  return DeleteFrom({kTableOf<AbortedTxnsRow>}, "first_txn_id = ?1");
}
std::vector<std::string> SqlOf(const EraseTable&) {
  return DeleteFrom({kTableOf<TableRow>,
                     kTableOf<PartitionRow>,
                     kTableOf<WriteIdRow>,
                     kTableOf<ResolvedWriteIdRow>,
                     kTableOf<AbortedWriteIdsRow>,
                     kTableOf<WriteMarkRow>,
                     kTableOf<TableChangeRow>},
                    "table_id = ?1");
}
std::vector<std::string> SqlOf(const EraseDroppedTable&) {
  return DeleteFrom({kTableOf<DroppedTableRow>}, "table_id = ?1");
}
std::vector<std::string> SqlOf(const ErasePartition&) {
  return DeleteFrom({kTableOf<PartitionRow>}, "table_id = ?1 AND partition_name = ?2");
}
std::vector<std::string> SqlOf(const EraseWriteId&) {
  return DeleteFrom({kTableOf<WriteIdRow>}, "table_id = ?1 AND write_id = ?2");
}
std::vector<std::string> SqlOf(const EraseAbortedWriteIds&) {
  return DeleteFrom({kTableOf<AbortedWriteIdsRow>}, "table_id = ?1 AND first_write_id = ?2");
}
std::vector<std::string> SqlOf(const EraseComponents&) {
  return DeleteFrom({kTableOf<ComponentRow>}, "txn_id = ?1");
}
std::vector<std::string> SqlOf(const EraseComponent&) {
  return DeleteFrom({kTableOf<ComponentRow>},
                    "txn_id = ?1 AND table_id = ?2 AND partition_name = ?3 AND operation = ?4");
}
std::vector<std::string> SqlOf(const EraseWriteMark&) {
  return DeleteFrom({kTableOf<WriteMarkRow>}, "table_id = ?1 AND partition_name = ?2");
}
std::vector<std::string> SqlOf(const EraseLock&) {
  return DeleteFrom({kTableOf<LockRow>}, "lock_id = ?1");
}
std::vector<std::string> SqlOf(const EraseCompaction&) {
  return DeleteFrom({kTableOf<CompactionRow>}, "compaction_id = ?1");
}
std::vector<std::string> SqlOf(const ForgetResolved&) {
  return DeleteFrom({kTableOf<ResolvedTxnRow>, kTableOf<ResolvedWriteIdRow>}, "end_seq <= ?1");
}

}  // namespace

template <size_t... kIndex>
absl::Status UnitWriter::PrepareAll(std::index_sequence<kIndex...>) {
  const std::vector<std::string> sql[] = {SqlOf(std::variant_alternative_t<kIndex, Effect>{})...};
  for (size_t i = 0; i < statements_.size(); ++i) {
    for (const std::string& text : sql[i]) {
      SKEP_ASSIGN_OR_RETURN(Statement statement, db_.Prepare(text));
      statements_[i].push_back(std::move(statement));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<UnitWriter>> UnitWriter::Prepare(Database& db) {
  std::unique_ptr<UnitWriter> writer(new UnitWriter(db));
  SKEP_RETURN_IF_ERROR(writer->PrepareAll(std::make_index_sequence<std::variant_size_v<Effect>>()));
  return writer;
}

absl::Status UnitWriter::Write(const Effect& effect) {
  for (Statement& statement : statements_[effect.index()]) {
    ColumnBinder bind(statement.get());
    std::visit([&](const auto& e) { Columns(bind, e); }, effect);
    if (!bind.status().ok()) return bind.status();
    const int code = statement.Run();
    if (code != SQLITE_OK) {
      return db_.Error(code, fmt::format("run '{}'", sqlite3_sql(statement.get())));
    }
  }
  return absl::OkStatus();
}

absl::Status UnitWriter::Write(const std::vector<const Effect*>& net) {
  for (const Effect* effect : net) SKEP_RETURN_IF_ERROR(Write(*effect));
  return absl::OkStatus();
}

}  // namespace skep::meta

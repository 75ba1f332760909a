#include "storage/meta/sqlite/state_reader.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/meta/columns.h"
#include "storage/meta/sqlite/column_io.h"
#include "storage/meta/sqlite/table_names.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

template <class Row>
absl::Status ReadTable(Database& db, StoredState& state) {
  constexpr size_t kChunk = 1024;  // rows that wait for their way into the state
  ColumnNames columns;
  Row row;
  Columns(columns, row);
  std::string names;
  for (const std::string& name : columns.names()) names += names.empty() ? name : ", " + name;
  SKEP_ASSIGN_OR_RETURN(const Statement select,
                        db.Prepare(fmt::format("SELECT {} FROM {}", names, kTableOf<Row>)));
  Effects rows;
  for (;;) {
    const int code = sqlite3_step(select.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
      return db.Error(code, fmt::format("read {}", kTableOf<Row>));
    }
    if (code == SQLITE_DONE || rows.size() == kChunk) {
      ApplyEffects(state, rows);  // the state's keys have one home, and it is there
      rows.clear();
    }
    if (code == SQLITE_DONE) return absl::OkStatus();
    row = Row();
    ColumnReader reader(select.get());
    Columns(reader, row);
    if (!reader.status().ok()) {
      return Annotate(reader.status(), fmt::format("store {}, table {}", db.path(), kTableOf<Row>));
    }
    rows.push_back(Put<Row>{std::move(row)});
  }
}

template <class... Row>
absl::Status ReadTables(Database& db, StoredState& state) {
  absl::Status status;
  ((status.ok() ? void(status = ReadTable<Row>(db, state)) : void()), ...);
  return status;
}

}  // namespace

absl::StatusOr<StoredState> ReadState(Database& db) {
  StoredState state;
  const absl::Status status = ReadTables<CounterRow,
                                         TxnRow,
                                         ReplicaRow,
                                         ResolvedTxnRow,
                                         AbortedTxnsRow,
                                         TableRow,
                                         DroppedTableRow,
                                         PartitionRow,
                                         WriteIdRow,
                                         ResolvedWriteIdRow,
                                         AbortedWriteIdsRow,
                                         ComponentRow,
                                         WriteMarkRow,
                                         TableChangeRow,
                                         ViewLockRow,
                                         LockRow,
                                         CompactionRow,
                                         RequestRow>(db, state);
  if (!status.ok()) return status;
  return state;
}

}  // namespace skep::meta

#pragma once

// What `skepctl read` prints: rows of a table in a transaction's snapshot, as text.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "client/session/transaction_core.h"
#include "skep/rows.h"
#include "storage/fs/file_system.h"
#include "storage/model/names.h"

namespace skep::client {

struct ReadRowsOptions {
  std::string partition;             // canonical name; empty: all
  std::vector<std::string> columns;  // empty: all, partition columns last
  std::vector<Condition> where;      // joined by AND
  std::optional<int64_t> limit;      // at most so many rows
};

// One row: its identity and, per column, its value as JSON text (null, 10, "NEW", {"a":1}). Valid
// during the call.
struct TextRow {
  std::string partition;
  int64_t write_id = 0;
  int32_t bucket = 0;
  int64_t row_id = 0;
  std::vector<std::string> values;
};

struct RowSink {
  // Called once, before the first row: lower-case names of the columns.
  std::function<absl::Status(const std::vector<std::string>&)> header;
  // An error ends the read and is its result.
  std::function<absl::Status(const TextRow&)> row;
};

// `fs` and `core` are used during the call only. Errors: those of TableReader, and the sink's.
absl::Status ReadRows(std::shared_ptr<TransactionCore> core,
                      fs::FileSystem& fs,
                      const TableName& table,
                      const ReadRowsOptions& options,
                      const RowSink& sink);

// The forms of `-o jsonl`: {"a":1,"b":"x"}, and with row ids the object that `dump` prints too:
// {"partition":…,"writeid":…,"bucket":…,"rowid":…,"row":{…}}.
std::string JsonLine(const std::vector<std::string>& columns, const TextRow& row);
std::string JsonLineWithRowId(const std::vector<std::string>& columns, const TextRow& row);

}  // namespace skep::client

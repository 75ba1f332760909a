#pragma once

// How the columns of one file give the columns of its table (RW-11).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/model/hive_type.h"

namespace arrow {
class RecordBatch;
class Schema;
}  // namespace arrow

namespace skep::table {

// Immutable.
class ColumnMapping {
 public:
  // `wanted` are columns of the table, in the order of the result. They are found by name, or by
  // position in a file whose columns are all called _col0, _col1, …; a column that came after the
  // file reads as null. Errors: kNotSupported naming file and column where a wanted column has
  // another type in the file, or is missing in a file that has columns the table does not know
  // (renamed or replaced).
  static absl::StatusOr<ColumnMapping> Make(const std::vector<Column>& file_columns,
                                            const std::vector<Column>& table_columns,
                                            const std::vector<Column>& wanted,
                                            const std::string& path);

  // The file calls its columns as the table does.
  bool by_name() const { return by_name_; }
  // What to ask the file for: names in the file's own terms.
  const std::vector<std::string>& file_names() const { return file_names_; }

  // The wanted columns from a batch of `file_names`, as a batch of `length` rows.
  absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> Apply(
      const std::shared_ptr<arrow::RecordBatch>& batch, int64_t length) const;

 private:
  bool by_name_ = true;
  std::vector<std::string> file_names_;
  std::vector<std::optional<std::string>> source_;  // per wanted column: its name in the file
  std::shared_ptr<arrow::Schema> schema_;
  std::string path_;
};

}  // namespace skep::table

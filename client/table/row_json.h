#pragma once

// Rows as text: the objects that `skepctl read` and `skepctl dump` print, written as the fixtures
// write them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/hive_type.h"
#include "storage/table/scan.h"

namespace arrow {
class RecordBatch;
}  // namespace arrow

namespace skep::client {

// {"status":"NEW","amount":"10"} of one row, appended to `out`.
void AppendRowObject(const arrow::RecordBatch& rows,
                     const std::vector<Column>& columns,
                     int64_t index,
                     std::string* out);

// {"partition":…,"writeid":…,"bucket":…,"rowid":…,"row":{…}} of one row. `partition` is left out
// where it is empty.
void AppendIdentifiedRow(const table::ScanBatch& batch,
                         const std::vector<Column>& columns,
                         const std::string& partition,
                         int64_t index,
                         std::string* out);

// {"partition":…,"writeid":…,"bucket":…,"rowid":…,"row": as far as the row's own object.
std::string RowIdPrefix(const std::string& partition,
                        int64_t write_id,
                        int32_t bucket,
                        int64_t row_id);

// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void AppendJsonString(std::string_view text, std::string* out);

}  // namespace skep::client

#pragma once

// What the adapter is given to write in place of the table's rows. A column of its file is a column
// of the final one, except where the adapter would write it wrong:
//
//   TIMESTAMP   int64 = ORC's stored seconds; the fractions are collected here and become the
//   SECONDARY stream UNION       struct<tag: int8, l0: list<f0>, l1: list<f1>, …>, lists of one
//   element or none: their elements
//               are what a union's children store. The lists themselves are dropped.
//
// `transcode` undoes it.

#include <cstdint>
#include <memory>
#include <vector>

#include <absl/status/statusor.h>
#include <arrow/array.h>

#include "storage/format/orc/tail.h"

namespace skep::orc {

enum class PhysicalRole { kPlain, kTimestamp, kUnion, kUnionTag, kDropped };

// One column of the adapter's file, by its column id there.
struct PhysicalColumn {
  PhysicalRole role = PhysicalRole::kPlain;
  uint32_t target = 0;  // id in the final file; of the union for kUnionTag
};

// The present values of a timestamp column, in file order.
struct CollectedTimes {
  std::vector<uint64_t> codes;  // nanosecond codes
  std::vector<int64_t> utc_ms;  // floor, for statistics
};

// Confined to one thread.
class PhysicalWriterSchema {
 public:
  // `root` is the final file's root, a struct.
  explicit PhysicalWriterSchema(const HiveType& root);

  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  const std::vector<PhysicalColumn>& columns() const { return columns_; }

 private:
  std::shared_ptr<arrow::DataType> Add(const HiveType& type, uint32_t* next);

  std::vector<PhysicalColumn> columns_;
  std::shared_ptr<arrow::Schema> schema_;
};

// Turns slices of vocabulary arrays into the adapter's. Confined to one thread.
class PhysicalConverter {
 public:
  PhysicalConverter(size_t final_columns, Calendar calendar)
      : times_(final_columns), has_nul_(final_columns), calendar_(calendar) {}

  // `array` is a copy without offsets, in storage types, of the final column `column`.
  // Errors: kValueOutOfRange, kInvalidRequest, without column and row. What was collected on the
  // way to a failure stays: the writer is dead then.
  absl::StatusOr<std::shared_ptr<arrow::ArrayData>> Convert(
      const HiveType& type, uint32_t column, const std::shared_ptr<arrow::ArrayData>& array);

  const CollectedTimes& times(uint32_t column) const { return times_[column]; }
  // Some text of the column has a zero byte: the adapter's minimum and maximum are wrong then.
  bool has_nul(uint32_t column) const { return has_nul_[column]; }
  void Clear();  // for the next stripe

 private:
  using Data = std::shared_ptr<arrow::ArrayData>;
  absl::StatusOr<Data> Timestamps(uint32_t column, const Data& array);
  absl::StatusOr<Data> Dates(const Data& array) const;
  absl::StatusOr<Data> Union(const HiveType& type, uint32_t column, const Data& array);
  void NoteNul(uint32_t column, const Data& array);

  std::vector<CollectedTimes> times_;  // by final column id
  std::vector<bool> has_nul_;
  Calendar calendar_;
};

// A copy of [offset, offset + length) in storage types, without offsets, null lists empty, and a
// parent's null also the null of its children: what the adapter needs to write the right rows
// (faults W1 and W2).
absl::StatusOr<std::shared_ptr<arrow::ArrayData>> CopyForAdapter(const arrow::Array& array,
                                                                 int64_t offset,
                                                                 int64_t length);

}  // namespace skep::orc

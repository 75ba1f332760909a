#pragma once

// From the adapter's arrays of one stripe view to the vocabulary: what the adapter cannot read
// right is decoded here from the stripe's own streams, in step with its batches.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/statusor.h>
#include <arrow/array/data.h>
#include <arrow/type_fwd.h>

#include "storage/format/orc/plan.h"
#include "storage/format/orc/rle.h"
#include "storage/format/orc/stripe.h"
#include "storage/format/orc/zone.h"

namespace skep::orc {

// Confined to one thread; batches must come in the order of the stripe.
class StripeDecoder {
 public:
  // `file` must outlive it. Errors: kNotSupported (an unknown writer zone), by file and column.
  static absl::StatusOr<std::unique_ptr<StripeDecoder>> Make(const fs::RandomAccessFile& file,
                                                             const Tail& tail,
                                                             const StripeLayout& layout,
                                                             const ReadPlan& plan,
                                                             Calendar calendar);

  // One column of a batch; `present` says which slots the ORC column has a place for (those of
  // present parents); empty = all. Errors: kCorruptFile, kValueOutOfRange, kNotSupported, naming
  // file and column.
  absl::StatusOr<std::shared_ptr<arrow::Array>> Column(const PlanNode& node,
                                                       const arrow::Array& from_adapter,
                                                       const std::vector<uint8_t>& present);

 private:
  using Data = std::shared_ptr<arrow::ArrayData>;
  using Slots = std::vector<uint8_t>;  // one byte per slot, 1 = the ORC column has it; empty = all

  StripeDecoder(const fs::RandomAccessFile& file, Calendar calendar);
  absl::Status Prepare(const Tail& tail, const StripeLayout& layout, const PlanNode& node);

  // All return data in storage types (timestamps as their struct).
  absl::StatusOr<Data> Convert(const PlanNode& node, const Data& from, const Slots& present);
  absl::StatusOr<Data> Dates(const PlanNode& node, const Data& from);
  absl::StatusOr<Data> Timestamps(const PlanNode& node, const Data& from, const Slots& present);
  absl::StatusOr<Data> Characters(const PlanNode& node, const Data& from);
  absl::StatusOr<Data> Decimals(const PlanNode& node, const Data& from, const Slots& present);
  absl::StatusOr<Data> Children(const PlanNode& node, const Data& from, const Slots& present);
  absl::StatusOr<Data> Entries(const PlanNode& node, const Data& from);
  absl::StatusOr<Data> Unions(const PlanNode& node, const Data& from, const Slots& present);
  absl::Status Refuse(const PlanNode& node, std::string_view what) const;
  absl::Status Damaged(const PlanNode& node, std::string_view what) const;
  absl::Status AtColumn(const PlanNode& node, const absl::Status& status) const;

  const fs::RandomAccessFile* file_;
  Calendar calendar_;
  WriterZone zone_ = WriterZone::Utc();
  int64_t base_ = 0;                                        // of zone_
  bool counts_any_fraction_ = false;                        // Trino's rule for seconds before 1970
  std::map<uint32_t, std::unique_ptr<IntDecoder>> nanos_;   // by column id: SECONDARY of timestamps
  std::map<uint32_t, std::unique_ptr<IntDecoder>> scales_;  // by column id: SECONDARY of decimals
  std::map<uint32_t, std::unique_ptr<BitDecoder>> presence_;  // by column id: PRESENT of unions
};

// The type of what StripeDecoder makes before extension types are put on: same layout as
// ArrowTypeOf.
std::shared_ptr<arrow::DataType> StorageTypeOf(const HiveType& type);

}  // namespace skep::orc

#include "storage/format/orc/stripe_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/acid_schema.h"
#include "storage/format/orc/bloom_probe.h"
#include "storage/format/vocabulary.h"

namespace skep::orc {

namespace {

// A stripe whose wanted streams lie within this many bytes is read at once.
constexpr uint64_t kSmallStripe = 4 << 20;

void CollectColumns(const PlanNode& node, std::vector<uint32_t>* out) {
  out->push_back(node.column);
  for (const PlanNode& child : node.children) CollectColumns(child, out);
}

// The struct that holds the wanted columns, cut down to them.
PlanNode StructOf(const ReadPlan& plan, uint32_t column) {
  PlanNode node;
  node.column = column;
  node.name = plan.is_acid ? std::string(kAcidFields[kRowField].name) : "the root";
  node.type.kind = TypeKind::kStruct;
  node.children = plan.columns;
  for (const PlanNode& child : plan.columns) {
    node.type.field_names.push_back(child.name);
    node.type.children.push_back(child.type);
  }
  return node;
}

}  // namespace

StripeReader::StripeReader(const ReadPlan& plan, std::unique_ptr<StripeSource> source, int64_t rows)
    : plan_(&plan), source_(std::move(source)), rows_(rows) {}

absl::StatusOr<std::unique_ptr<StripeReader>> StripeReader::Open(const fs::RandomAccessFile& file,
                                                                 const Tail& tail,
                                                                 const ReadPlan& plan,
                                                                 Calendar calendar,
                                                                 size_t stripe) {
  SKEP_ASSIGN_OR_RETURN(StripeLayout layout, ReadStripeLayout(file, tail, stripe));
  std::unique_ptr<StripeReader> reader(
      new StripeReader(plan,
                       std::make_unique<StripeSource>(file, tail, std::move(layout), calendar),
                       static_cast<int64_t>(tail.stripes[stripe].rows)));
  SKEP_RETURN_IF_ERROR(reader->Prepare());
  return reader;
}

absl::Status StripeReader::Prepare() {
  const Tail& tail = source_->tail();
  arrow::FieldVector fields;
  for (const PlanNode& column : plan_->columns) {
    fields.push_back(arrow::field(column.name, format::ArrowTypeOf(column.type)));
  }
  schema_ = arrow::schema(std::move(fields));
  std::vector<uint32_t> wanted;
  if (plan_->is_acid) {
    for (size_t i = 0; i < kRowField; ++i) wanted.push_back(tail.types[0].subtypes[i]);
    root_node_ = StructOf(*plan_, tail.types[0].subtypes[kRowField]);
  } else if (plan_->columns.empty()) {
    return absl::OkStatus();
  } else {
    root_node_ = plan_->root_is_struct ? StructOf(*plan_, 0) : plan_->columns[0];
  }
  CollectColumns(root_node_, &wanted);

  std::sort(wanted.begin(), wanted.end());
  uint64_t begin = std::numeric_limits<uint64_t>::max(), end = 0, bytes = 0;
  for (const StreamRange& stream : source_->layout().streams) {
    const bool is_data = stream.kind != StreamKind::kRowIndex &&
                         stream.kind != StreamKind::kBloomFilter &&
                         stream.kind != StreamKind::kBloomFilterUtf8;
    if (!is_data || stream.length == 0 ||
        !std::binary_search(wanted.begin(), wanted.end(), stream.column)) {
      continue;
    }
    begin = std::min(begin, stream.offset);
    end = std::max(end, stream.offset + stream.length);
    bytes += stream.length;
  }
  if (begin < end && end - begin <= kSmallStripe && end - begin <= 2 * bytes) {
    SKEP_RETURN_IF_ERROR(source_->Load(begin, end));
  }
  if (plan_->is_acid) acid_ = std::make_unique<AcidColumns>(*source_);
  SKEP_ASSIGN_OR_RETURN(root_, ColumnReader::Make(*source_, root_node_));
  return absl::OkStatus();
}

size_t StripeReader::groups() const {
  const int64_t stride = source_->tail().row_index_stride.value_or(0);
  return stride == 0 ? 0 : static_cast<size_t>((rows_ + stride - 1) / stride);
}

const ColumnStatistics* StripeReader::StatisticsOfGroup(uint32_t column, size_t group) {
  if (indexes_missing_.contains(column)) return nullptr;
  PlanNode node;
  node.column = column;
  if (!ReadIndexes(*source_, node, false, groups(), &indexes_)) {
    indexes_missing_.insert(column);
    return nullptr;
  }
  return &indexes_.at(column)[group].statistics;
}

bool StripeReader::GroupMayHold(uint32_t column,
                                size_t group,
                                const HiveType& type,
                                bool bounded,
                                const format::Literal& literal) {
  if (!BloomFilterCounts(*source_, column, type, bounded)) return true;
  const auto [at, is_new] = filters_.try_emplace(column);
  if (is_new) {
    PlanNode node;
    node.column = column;
    at->second = ReadBloomFilters(*source_, node, groups());
  }
  return at->second.empty() || MayHold(at->second[group], literal, type, source_->calendar());
}

int64_t StripeReader::GroupToSeek(int64_t from, int64_t row) {
  const int64_t stride = source_->tail().row_index_stride.value_or(0);
  if (stride == 0 || row == from) return -1;
  const int64_t group = row / stride;
  if (group * stride <= from) return -1;
  if (!indexes_tried_) {
    indexes_tried_ = true;
    indexes_usable_ =
        (root_ == nullptr ||
         (ReadIndexes(*source_, root_node_, true, groups(), &indexes_) && root_->Fits(indexes_)));
    if (acid_ != nullptr && indexes_usable_) {
      for (const PlanNode& node : acid_->nodes()) {
        indexes_usable_ = indexes_usable_ && ReadIndexes(*source_, node, true, groups(), &indexes_);
      }
      indexes_usable_ = indexes_usable_ && acid_->Fits(indexes_);
    }
  }
  return indexes_usable_ ? group * stride : -1;
}

absl::Status StripeReader::ReadKeys(int64_t row, int64_t count, bool as_runs, Batch* batch) {
  if (acid_ == nullptr) return absl::OkStatus();
  if (const int64_t first = GroupToSeek(next_key_, row); first >= 0) {
    const auto stride = static_cast<int64_t>(*source_->tail().row_index_stride);
    SKEP_RETURN_IF_ERROR(acid_->Seek(indexes_, static_cast<size_t>(first / stride)));
    next_key_ = first;
  }
  if (row > next_key_) SKEP_RETURN_IF_ERROR(acid_->Skip(static_cast<uint64_t>(row - next_key_)));
  next_key_ = row + count;
  return as_runs ? acid_->ReadRuns(count, batch) : acid_->ReadValues(count, batch);
}

absl::StatusOr<ColumnReader::Data> StripeReader::ReadSlots(int64_t count) {
  ReadBudget& budget = source_->budget();
  while (true) {
    budget.Start(count == 1 ? ReadBudget::kMostOfRow : ReadBudget::kOfBatch);
    root_->Save();
    absl::StatusOr<ColumnReader::Data> data = root_->Read(Slots::All(count));
    if (data.ok() || !budget.exceeded() || count == 1) return data;
    SKEP_RETURN_IF_ERROR(root_->Restore());
    count = std::max<int64_t>(1, count / 4);
    batch_rows_ = count;
  }
}

absl::Status StripeReader::ReadRows(int64_t row, int64_t most, Batch* batch) {
  batch->row_struct_validity = nullptr;
  if (root_ == nullptr) {
    batch->length = most;
    batch->rows = arrow::RecordBatch::Make(schema_, most, arrow::ArrayVector());
    return absl::OkStatus();
  }
  if (const int64_t first = GroupToSeek(next_row_, row); first >= 0) {
    const auto stride = static_cast<int64_t>(*source_->tail().row_index_stride);
    SKEP_RETURN_IF_ERROR(root_->Seek(indexes_, static_cast<size_t>(first / stride)));
    next_row_ = first;
  }
  if (row > next_row_) SKEP_RETURN_IF_ERROR(root_->Skip(static_cast<uint64_t>(row - next_row_)));
  SKEP_ASSIGN_OR_RETURN(const ColumnReader::Data data, ReadSlots(std::min(most, batch_rows_)));
  batch->length = data->length;
  next_row_ = row + data->length;
  // Narrow rows may come in larger batches again.
  if (source_->budget().left() > ReadBudget::kOfBatch / 4 * 3 && batch_rows_ < INT64_MAX / 2) {
    batch_rows_ *= 2;
  }
  if (plan_->is_acid) {
    batch->row_struct_validity = arrow::MakeArray(arrow::ArrayData::Make(
        arrow::struct_({}), data->length, {data->buffers[0]}, data->GetNullCount()));
  }
  std::vector<ColumnReader::Data> columns;
  if (plan_->is_acid || plan_->root_is_struct) {
    columns = data->child_data;
  } else {
    columns = {data};
  }
  batch->rows = arrow::RecordBatch::Make(schema_, data->length, std::move(columns));
  return absl::OkStatus();
}

}  // namespace skep::orc

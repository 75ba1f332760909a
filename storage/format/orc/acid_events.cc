#include "storage/format/orc/acid_events.h"

#include <algorithm>
#include <span>
#include <vector>

#include "storage/base/status_macros.h"
#include "storage/format/orc/int_column_writer.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

std::string Text(const AcidKey& key) {
  return "(" + std::to_string(key.original_write_id) + "," + std::to_string(key.bucket) + "," +
         std::to_string(key.row_id) + ")";
}

AcidKey KeyAt(const Batch& batch, size_t i) {
  return {batch.original_write_id[i], batch.bucket[i], batch.row_id[i]};
}

template <class T>
bool IsConstant(std::span<const T> values) {
  return std::equal(values.begin() + 1, values.end(), values.begin());
}

template <class T>
bool CountsUp(std::span<const T> values) {
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i] != values[i - 1] + 1) return false;
  }
  return true;
}

template <class T>
void AppendColumn(std::span<const T> values, ColumnWriter* column) {
  auto* ints = static_cast<IntColumnWriter*>(column);  // as the ACID schema has it
  const auto count = static_cast<int64_t>(values.size());
  if (IsConstant(values)) {
    ints->AppendArithmetic(values[0], 0, count);
  } else if (CountsUp(values)) {
    ints->AppendArithmetic(values[0], 1, count);
  } else {
    ints->AppendValues(values);
  }
}

}  // namespace

absl::Status AcidEvents::Check(const Batch& batch, const std::string& path) {
  if (batch.length == 0) return absl::OkStatus();
  const bool one_run =
      IsConstant<int32_t>(batch.operation) && IsConstant<int64_t>(batch.original_write_id) &&
      IsConstant<int32_t>(batch.bucket) && IsConstant<int64_t>(batch.current_write_id) &&
      CountsUp<int64_t>(batch.row_id);
  if (!one_run) return CheckEach(batch, path);
  SKEP_RETURN_IF_ERROR(CheckStep(KeyAt(batch, 0), batch.current_write_id[0], path));
  last_key_ = KeyAt(batch, static_cast<size_t>(batch.length) - 1);
  last_current_ = batch.current_write_id[0];
  return Count(batch.operation[0], batch.length, path);
}

absl::Status AcidEvents::CheckEach(const Batch& batch, const std::string& path) {
  for (size_t i = 0; i < static_cast<size_t>(batch.length); ++i) {
    const AcidKey key = KeyAt(batch, i);
    SKEP_RETURN_IF_ERROR(CheckStep(key, batch.current_write_id[i], path));
    last_key_ = key;
    last_current_ = batch.current_write_id[i];
    SKEP_RETURN_IF_ERROR(Count(batch.operation[i], 1, path));
  }
  return absl::OkStatus();
}

absl::Status AcidEvents::CheckStep(const AcidKey& key,
                                   int64_t current,
                                   const std::string& path) const {
  if (!last_key_ || key > *last_key_ || (key == *last_key_ && current <= last_current_))
    return absl::OkStatus();
  return MakeError(ErrorReason::kInternal,
                   path + ": event " + Text(key) + " of write id " + std::to_string(current) +
                       " after " + Text(*last_key_) + " of write id " +
                       std::to_string(last_current_));
}

absl::Status AcidEvents::Count(int32_t operation, int64_t events, const std::string& path) {
  switch (operation) {
    case 0:
      stats_.inserts += events;
      return absl::OkStatus();
    case 1:
      stats_.updates += events;
      return absl::OkStatus();
    case 2:
      stats_.deletes += events;
      return absl::OkStatus();
    default:
      return MakeError(ErrorReason::kInternal, path + ": operation " + std::to_string(operation));
  }
}

void AcidEvents::Append(const Batch& batch, int64_t from, int64_t count, ColumnWriter* root) {
  const auto first = static_cast<size_t>(from), size = static_cast<size_t>(count);
  const auto part = [&]<class T>(const std::vector<T>& values) {
    return std::span<const T>(values).subspan(first, size);
  };
  root->NotePresent(count);
  const auto& columns = root->children();
  AppendColumn(part(batch.operation), columns[0].get());
  AppendColumn(part(batch.original_write_id), columns[1].get());
  AppendColumn(part(batch.bucket), columns[2].get());
  AppendColumn(part(batch.row_id), columns[3].get());
  AppendColumn(part(batch.current_write_id), columns[4].get());
}

}  // namespace skep::orc

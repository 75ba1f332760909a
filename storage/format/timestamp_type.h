#pragma once

// The extension types of timestamps and access to their arrays. Inside the room and for those who
// build arrays of the vocabulary by hand.

#include <cstdint>
#include <memory>

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/result.h>

#include "storage/format/temporal.h"

namespace skep::format {

enum class TimestampFlavor { kWall, kUtc };

// "skep.timestamp" (a wall clock) or "skep.timestamp_ltz" (an instant, as UTC's wall clock).
class TimestampType final : public arrow::ExtensionType {
 public:
  explicit TimestampType(TimestampFlavor flavor);

  TimestampFlavor flavor() const { return flavor_; }
  std::string extension_name() const override;
  bool ExtensionEquals(const arrow::ExtensionType& other) const override;
  std::shared_ptr<arrow::Array> MakeArray(std::shared_ptr<arrow::ArrayData> data) const override;
  arrow::Result<std::shared_ptr<arrow::DataType>> Deserialize(
      std::shared_ptr<arrow::DataType> storage_type, const std::string& serialized) const override;
  std::string Serialize() const override { return ""; }

 private:
  TimestampFlavor flavor_;
};

// The one instance of each flavour; registers both with Arrow on first use. Thread-safe.
std::shared_ptr<arrow::DataType> TimestampTypeOf(TimestampFlavor flavor);
// struct<us: timestamp[us], sub: int16>
const std::shared_ptr<arrow::DataType>& TimestampStorage();

// Reads an array of either flavour, or of its storage; `array` must outlive it.
class TimestampReader {
 public:
  explicit TimestampReader(const arrow::Array& array);
  bool IsNull(int64_t index) const { return storage_->IsNull(index); }
  WallTime At(int64_t index) const {
    return {us_[index], sub_ == nullptr ? int16_t{0} : sub_[index]};
  }

 private:
  std::shared_ptr<arrow::StructArray> storage_;
  const int64_t* us_;
  const int16_t* sub_;
};

}  // namespace skep::format

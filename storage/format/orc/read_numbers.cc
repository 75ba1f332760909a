// Columns of booleans, integers, floating point and dates.

#include <cstring>
#include <optional>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/format/calendar.h"
#include "storage/format/orc/column_reader.h"
#include "storage/format/orc/spread.h"

namespace skep::orc {

namespace {

template <class T>
void SpreadTo(const Slots& slots, T* values) {
  if (slots.valid != nullptr) Spread(values, slots.length, slots.bits(), slots.count);
}

// smallint, int, bigint, date: integer runs, narrowed (RL-8, TY-12).
template <class T>
class IntReader final : public OneStreamReader<IntDecoder> {
 public:
  IntReader(StripeSource& source, const PlanNode& node)
      : OneStreamReader(source, node, StreamKind::kData, Signedness::kSigned),
        converts_days_(node.type.kind == TypeKind::kDate &&
                       source.calendar() == Calendar::kJulianGregorian) {}

 protected:
  absl::StatusOr<Data> ReadValues(const Slots& slots) override {
    SKEP_ASSIGN_OR_RETURN(auto buffer, NewBuffer(slots.length * static_cast<int64_t>(sizeof(T))));
    T* out = reinterpret_cast<T*>(buffer->mutable_data());
    SKEP_RETURN_IF_ERROR(values_.Next(out, static_cast<size_t>(slots.count)));
    if (converts_days_) SKEP_RETURN_IF_ERROR(ConvertDays(out, slots.count));
    SpreadTo(slots, out);
    return Array(slots, {std::move(buffer)});
  }
  absl::Status SkipValues(uint64_t count) override { return values_.Skip(count); }

 private:
  // TY-10: days before the cut-over are shown by their label in the writer's calendar.
  absl::Status ConvertDays(T* days, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) {
      if (days[i] >= format::kGregorianStart) continue;
      const std::optional<int64_t> day = format::HybridToProleptic(days[i]);
      if (!day) return Refuse("a 29 February that only the Julian calendar has");
      days[i] = static_cast<T>(*day);
    }
    return absl::OkStatus();
  }

  const bool converts_days_;
};

class TinyintReader final : public OneStreamReader<ByteDecoder> {
 public:
  TinyintReader(StripeSource& source, const PlanNode& node)
      : OneStreamReader(source, node, StreamKind::kData) {}

 protected:
  absl::StatusOr<Data> ReadValues(const Slots& slots) override {
    SKEP_ASSIGN_OR_RETURN(auto buffer, NewBuffer(slots.length));
    SKEP_RETURN_IF_ERROR(values_.Next(buffer->mutable_data(), static_cast<size_t>(slots.count)));
    SpreadTo(slots, buffer->mutable_data());
    return Array(slots, {std::move(buffer)});
  }
  absl::Status SkipValues(uint64_t count) override { return values_.Skip(count); }

 private:
};

class BooleanReader final : public OneStreamReader<BitDecoder> {
 public:
  BooleanReader(StripeSource& source, const PlanNode& node)
      : OneStreamReader(source, node, StreamKind::kData) {}

 protected:
  absl::StatusOr<Data> ReadValues(const Slots& slots) override {
    SKEP_ASSIGN_OR_RETURN(auto bits, NewBuffer(BitmapBytes(slots.count)));
    SKEP_RETURN_IF_ERROR(values_.Next(bits->mutable_data(), static_cast<size_t>(slots.count)));
    if (slots.valid != nullptr) {
      SKEP_ASSIGN_OR_RETURN(auto spread, NewBuffer(BitmapBytes(slots.length)));
      SpreadBits(bits->data(), slots.bits(), slots.length, spread->mutable_data());
      bits = std::move(spread);
    }
    return Array(slots, {std::move(bits)});
  }
  absl::Status SkipValues(uint64_t count) override { return values_.Skip(count).status(); }

 private:
};

// IEEE 754, little-endian, as the machine has it (RL-4).
template <class T>
class FloatReader final : public ColumnReader {
 public:
  FloatReader(StripeSource& source, const PlanNode& node)
      : ColumnReader(source, node), values_(source.Open(node, StreamKind::kData)) {}

  void Save() override {
    ColumnReader::Save();
    saved_ = values_.Tell();
  }
  absl::Status Restore() override {
    SKEP_RETURN_IF_ERROR(values_.Seek(saved_));
    return ColumnReader::Restore();
  }

 protected:
  absl::StatusOr<Data> ReadValues(const Slots& slots) override {
    SKEP_ASSIGN_OR_RETURN(auto buffer, NewBuffer(slots.length * static_cast<int64_t>(sizeof(T))));
    SKEP_RETURN_IF_ERROR(
        values_.Read(buffer->mutable_data(), static_cast<size_t>(slots.count) * sizeof(T)));
    SpreadTo(slots, reinterpret_cast<T*>(buffer->mutable_data()));
    return Array(slots, {std::move(buffer)});
  }
  absl::Status SkipValues(uint64_t count) override { return values_.Skip(count * sizeof(T)); }
  absl::Status SeekValues(PositionCursor& positions) override {
    return values_.Seek(positions.Bytes());
  }
  size_t PositionCount() const override { return PositionCursor::OfBytes(compressed()); }

 private:
  ByteStream values_;
  ByteStream::Position saved_;
};

template <class Reader>
std::unique_ptr<ColumnReader> New(StripeSource& source, const PlanNode& node) {
  return std::make_unique<Reader>(source, node);
}

}  // namespace

ColumnReaderOr MakeNumberReader(StripeSource& source, const PlanNode& node) {
  switch (node.type.kind) {
    case TypeKind::kBoolean:
      return New<BooleanReader>(source, node);
    case TypeKind::kTinyint:
      return New<TinyintReader>(source, node);
    case TypeKind::kSmallint:
      return New<IntReader<int16_t>>(source, node);
    case TypeKind::kInt:
    case TypeKind::kDate:
      return New<IntReader<int32_t>>(source, node);
    case TypeKind::kFloat:
      return New<FloatReader<float>>(source, node);
    case TypeKind::kDouble:
      return New<FloatReader<double>>(source, node);
    default:
      return New<IntReader<int64_t>>(source, node);
  }
}

}  // namespace skep::orc

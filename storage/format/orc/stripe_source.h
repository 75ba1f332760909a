#pragma once

// One stripe as its column readers see it: its streams by column and kind, the zone and calendar of
// its values, and what a batch may still allocate.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include <absl/status/statusor.h>

#include "storage/format/orc/byte_stream.h"
#include "storage/format/orc/plan.h"
#include "storage/format/orc/stripe.h"
#include "storage/format/orc/zone.h"
#include "storage/fs/file_system.h"

namespace skep::orc {

// What one batch may allocate. A batch that needs more is read again with fewer rows, until one row
// alone is left, which may take kMostOfRow.
class ReadBudget {
 public:
  static constexpr uint64_t kOfBatch = 16 << 20;
  static constexpr uint64_t kMostOfRow = 1 << 30;

  void Start(uint64_t bytes) {
    left_ = bytes;
    exceeded_ = false;
  }
  // False where the batch is too large: the reader gives up with any error.
  bool Take(uint64_t bytes) {
    if (bytes > left_) exceeded_ = true;
    left_ -= bytes > left_ ? left_ : bytes;
    return !exceeded_;
  }
  uint64_t left() const { return left_; }
  bool exceeded() const { return exceeded_; }

 private:
  uint64_t left_ = 0;
  bool exceeded_ = false;
};

// Confined to one thread. `file` and `tail` must outlive it.
class StripeSource {
 public:
  StripeSource(const fs::RandomAccessFile& file,
               const Tail& tail,
               StripeLayout layout,
               Calendar calendar);

  const std::string& path() const { return file_->path(); }
  const Tail& tail() const { return *tail_; }
  const StripeLayout& layout() const { return layout_; }
  Calendar calendar() const { return calendar_; }
  const Encoding& encoding(uint32_t column) const { return layout_.encodings[column]; }
  ReadBudget& budget() { return budget_; }

  // The stripe footer lists the stream, though perhaps without bytes.
  bool Lists(uint32_t column, StreamKind kind) const;
  uint64_t StreamLength(uint32_t column, StreamKind kind) const;
  // A stream that the stripe does not have has no bytes: reading from it is an error by name.
  ByteStream Open(const PlanNode& node, StreamKind kind) const;
  // The writer's zone. Errors: kNotSupported naming column and zone.
  absl::StatusOr<WriterZone> ZoneFor(const PlanNode& node) const;

  // Reads the streams of the stripe that lie in [begin, end) of the file at once.
  absl::Status Load(uint64_t begin, uint64_t end);

 private:
  static uint64_t KeyOf(uint32_t column, StreamKind kind) {
    return static_cast<uint64_t>(column) << 32 | static_cast<uint32_t>(kind);
  }

  const fs::RandomAccessFile* file_;
  const Tail* tail_;
  StripeLayout layout_;
  Calendar calendar_;
  std::unordered_map<uint64_t, size_t> streams_;  // index in layout_.streams
  std::shared_ptr<const std::string> loaded_;
  uint64_t loaded_at_ = 0;
  ReadBudget budget_;
};

}  // namespace skep::orc

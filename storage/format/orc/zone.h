#pragma once

// The time zone in which a stripe's timestamps were written (TY-13, TY-20, TY-21).

#include <cstdint>
#include <memory>
#include <string>

#include <absl/status/statusor.h>

namespace skep::orc {

// Immutable, thread-safe.
class WriterZone {
 public:
  // "" and the names of UTC are UTC. Errors: kNotSupported for a name that neither the system's
  // zone files nor Java's "GMT+hh:mm" form knows.
  static absl::StatusOr<WriterZone> Load(const std::string& name);
  static WriterZone Utc() { return WriterZone(nullptr, 0); }

  bool is_utc() const { return rules_ == nullptr && fixed_offset_ == 0; }
  // Seconds of the epoch of ORC's timestamps: 2015-01-01 00:00:00 on the zone's wall clock.
  int64_t base() const;
  // Seconds since 1970-01-01 00:00:00 on the wall clock at `instant`.
  int64_t ToWall(int64_t instant) const;

 private:
  struct Rules;  // of a zone with transitions
  WriterZone(std::shared_ptr<const Rules> rules, int64_t fixed_offset)
      : rules_(std::move(rules)), fixed_offset_(fixed_offset) {}
  int64_t OffsetAt(int64_t instant) const;

  std::shared_ptr<const Rules> rules_;  // shared by copies; null: the offset is fixed
  int64_t fixed_offset_ = 0;
};

}  // namespace skep::orc

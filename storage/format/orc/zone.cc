#include "storage/format/orc/zone.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <absl/time/time.h>

#include "storage/model/errors.h"

namespace skep::orc {

namespace {

constexpr int64_t kBaseWall = 1420070400;  // 2015-01-01 00:00:00
constexpr int64_t kFirstTransition =
    -2208988800;  // 1900-01-01: before it Java knows the standard offset only

bool IsUtc(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames{
      "", "UTC", "GMT", "Etc/UTC", "Etc/GMT", "Z", "Zulu"};
  for (const std::string_view utc : kNames) {
    if (name == utc) return true;
  }
  return false;
}

// "GMT+8", "GMT-08:00", "UTC+05:30".
std::optional<int64_t> FixedOffset(std::string_view name) {
  if (!name.starts_with("GMT") && !name.starts_with("UTC")) return std::nullopt;
  name.remove_prefix(3);
  if (name.empty() || (name[0] != '+' && name[0] != '-')) return std::nullopt;
  const int64_t sign = name[0] == '-' ? -1 : 1;
  name.remove_prefix(1);
  int64_t hours = 0, minutes = 0, digits = 0;
  bool in_minutes = false;
  for (const char c : name) {
    if (c == ':' && !in_minutes && digits > 0) {
      in_minutes = true;
      digits = 0;
      continue;
    }
    if (c < '0' || c > '9' || ++digits > 2) return std::nullopt;
    int64_t& part = in_minutes ? minutes : hours;
    part = part * 10 + (c - '0');
  }
  if (digits == 0 || hours > 18 || minutes > 59) return std::nullopt;
  return sign * (hours * 3600 + minutes * 60);
}

}  // namespace

struct WriterZone::Rules {
  absl::TimeZone zone;
  int64_t standard_offset = 0;  // today's, without daylight saving

  explicit Rules(absl::TimeZone from) : zone(from) {
    for (const int month : {1, 7}) {
      const absl::Time time = absl::FromCivil(absl::CivilDay(2024, month, 1), zone);
      const absl::TimeZone::CivilInfo info = zone.At(time);
      if (!info.is_dst) standard_offset = info.offset;
    }
  }
};

absl::StatusOr<WriterZone> WriterZone::Load(const std::string& name) {
  if (IsUtc(name)) return Utc();
  if (const std::optional<int64_t> offset = FixedOffset(name)) return WriterZone(nullptr, *offset);
  absl::TimeZone zone;
  if (!absl::LoadTimeZone(name, &zone)) {
    return MakeError(ErrorReason::kNotSupported,
                     "timestamps of the unknown time zone \"" + name + "\"",
                     {{"what", name}});
  }
  return WriterZone(std::make_shared<const Rules>(zone), 0);
}

int64_t WriterZone::OffsetAt(int64_t instant) const {
  if (rules_ == nullptr) return fixed_offset_;
  if (instant < kFirstTransition) return rules_->standard_offset;
  return rules_->zone.At(absl::FromUnixSeconds(instant)).offset;
}

int64_t WriterZone::base() const {
  // Twice, because the offset is asked for by instant: the first guess is off by the offset itself.
  const int64_t guess = kBaseWall - OffsetAt(kBaseWall);
  return kBaseWall - OffsetAt(guess);
}

int64_t WriterZone::ToWall(int64_t instant) const { return instant + OffsetAt(instant); }

}  // namespace skep::orc

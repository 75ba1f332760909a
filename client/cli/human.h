#pragma once

// Times, sizes and spans as people write and read them.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/clock.h"

namespace skep::cli {

// "2026-10-01T12:00:00Z", with up to nine digits of a fraction (cut to milliseconds).
std::optional<Timestamp> ParseRfc3339(std::string_view text);

enum class Zone { kUtc, kLocal };
// "2026-10-01 12:00:00Z", or with the machine's offset "2026-10-01 14:00:00+02:00".
std::string FormatTime(Timestamp time, Zone zone);

// "12s ago", "3m ago", "5h ago", "3d ago"; "now" for less than a second and for the future.
std::string FormatAge(Timestamp time, Timestamp now);
// "in 29s", "in 5m00s"; "now" for less than a second and for the past.
std::string FormatDue(Timestamp time, Timestamp now);
// "250ms", "1.5s", "3m12s", "5h03m", "3d04h".
std::string FormatSpan(std::chrono::milliseconds span);
// "1.5 KB" (thousands; whole bytes below 1 000).
std::string FormatBytes(int64_t bytes);
// protobuf's JSON form of a span: "30s", "1.500s".
std::optional<std::chrono::milliseconds> ParseProtoSpan(std::string_view text);

// "90s", "15m", "2h", "3d", "500ms", several joined ("1h30m"). A number alone is seconds.
std::optional<std::chrono::milliseconds> ParseSpan(std::string_view text);

}  // namespace skep::cli

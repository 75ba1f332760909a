#pragma once

// How a message shows what somebody else wrote.

#include <cstddef>
#include <string>
#include <string_view>

namespace skep {

// `text` as a message can carry it (Printable), at most `max_bytes` of it, never cut within a
// character; "…" shows a cut.
std::string Quoted(std::string_view text, size_t max_bytes);
// The whole character that begins at byte `at` of `text`, Printable.
std::string QuotedCharacter(std::string_view text, size_t at);
// "ann@host1"; without a host, "ann".
std::string OwnerText(std::string_view user, std::string_view host);

}  // namespace skep

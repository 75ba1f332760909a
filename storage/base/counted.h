#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace skep {

// "1 row", "3 rows"; "1 directory", "0 directories": a number with its noun, given in the singular.
inline std::string Counted(int64_t count, std::string_view noun) {
  std::string text = std::to_string(count) + " " + std::string(noun);
  if (count == 1) return text;
  if (!noun.ends_with('y')) return text + "s";
  text.pop_back();
  return text + "ies";
}

}  // namespace skep

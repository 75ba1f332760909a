#include "client/cli/text_block.h"

#include <algorithm>

#include "storage/base/text.h"

namespace skep::cli {

std::string TextBlock::ToString() const {
  size_t width = 0;
  for (const auto& [key, value] : lines_) {
    if (!value.empty()) width = std::max(width, key.size());
  }
  std::string text;
  for (const auto& [key, value] : lines_) {
    if (value.empty()) continue;
    text += key + ":" + std::string(width - key.size() + 2, ' ') + Printable(value) + "\n";
  }
  return text;
}

}  // namespace skep::cli

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace skep::cli {

// "key:   value" lines with the values under each other. Values are made safe to print; empty ones
// are left out.
class TextBlock {
 public:
  void Add(std::string key, std::string value) {
    lines_.emplace_back(std::move(key), std::move(value));
  }
  std::string ToString() const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace skep::cli

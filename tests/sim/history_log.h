#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace skep::sim {

// The history of a run as JSON lines, for people and other checkers: one object for each thing that
// a client did or was told, with "t" (microseconds since the beginning) and "op". Writes nothing
// until it is given somewhere to write to.
class HistoryLog {
 public:
  using Value = std::variant<int64_t, bool, std::string>;
  using Field = std::pair<std::string_view, Value>;

  // Both must outlive it.
  void WriteTo(std::ostream* out, std::function<int64_t()> micros) {
    out_ = out;
    micros_ = std::move(micros);
  }
  void Note(std::string_view op, std::initializer_list<Field> fields) const;
  bool on() const { return out_ != nullptr; }

 private:
  std::ostream* out_ = nullptr;
  std::function<int64_t()> micros_;
};

}  // namespace skep::sim

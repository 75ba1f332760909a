#include "tests/sim/history_log.h"

#include <fmt/format.h>

namespace skep::sim {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

struct Json {
  std::string operator()(int64_t number) const { return std::to_string(number); }
  std::string operator()(bool yes) const { return yes ? "true" : "false"; }
  std::string operator()(const std::string& text) const { return Quoted(text); }
};

}  // namespace

void HistoryLog::Note(std::string_view op, std::initializer_list<Field> fields) const {
  if (out_ == nullptr) return;
  *out_ << "{\"t\":" << micros_() << ",\"op\":" << Quoted(op);
  for (const auto& [name, value] : fields) {
    *out_ << ',' << Quoted(name) << ':' << std::visit(Json(), value);
  }
  *out_ << "}\n";
}

}  // namespace skep::sim

#include "storage/base/log.h"

#include <memory>

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "storage/base/clock.h"
#include "storage/base/text.h"

namespace skep {

namespace {

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kCritical:
      return spdlog::level::critical;
  }
  return spdlog::level::info;
}

std::string_view LevelName(LogLevel level) {
  constexpr std::string_view kNames[] = {"trace", "debug", "info", "warn", "error", "critical"};
  return kNames[static_cast<size_t>(level)];
}

// The process's logger. Written before threads start and by ReopenLogFile; guarded all the same.
struct LoggerState {
  absl::Mutex mutex;
  LogOptions options ABSL_GUARDED_BY(mutex) = {.level = LogLevel::kWarn};
  std::shared_ptr<spdlog::logger> logger ABSL_GUARDED_BY(mutex);
};

LoggerState& State() {
  static LoggerState* const state =
      new LoggerState();  // never destroyed: logging works until the end
  return *state;
}

std::shared_ptr<spdlog::logger> MakeLogger(const LogOptions& options) {
  spdlog::sink_ptr sink;
  if (options.file.empty()) {
    sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  } else {
    sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file);
  }
  auto logger = std::make_shared<spdlog::logger>("skep", sink);
  logger->set_pattern("%^%v%$");  // the line is complete already
  logger->set_level(SpdlogLevel(options.level));
  logger->flush_on(spdlog::level::warn);
  return logger;
}

std::shared_ptr<spdlog::logger> CurrentLogger(LogOptions::Format* format) {
  LoggerState& state = State();
  absl::MutexLock lock(&state.mutex);
  if (state.logger == nullptr) state.logger = MakeLogger(state.options);
  if (format != nullptr) *format = state.options.format;
  return state.logger;
}

bool NeedsQuotes(std::string_view value) {
  return value.empty() || value.find_first_of(" =\"") != std::string_view::npos;
}

void AppendLogfmtValue(const std::variant<std::string, int64_t, double>& value, std::string* line) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    const std::string safe = Printable(*text);
    if (!NeedsQuotes(safe)) {
      *line += safe;
      return;
    }
    *line += '"';
    for (const char c : safe) {
      if (c == '"' || c == '\\') *line += '\\';
      *line += c;
    }
    *line += '"';
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    *line += fmt::format("{}", *number);
  } else {
    *line += fmt::format("{}", std::get<double>(value));
  }
}

std::string TextLine(LogLevel level,
                     std::string_view event,
                     std::initializer_list<LogField> fields) {
  std::string line =
      fmt::format("{} {:<5} {}", FormatRfc3339(SystemClock().Now()), LevelName(level), event);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    AppendLogfmtValue(field.value, &line);
  }
  return line;
}

std::string JsonLine(LogLevel level,
                     std::string_view event,
                     std::initializer_list<LogField> fields) {
  nlohmann::ordered_json object;
  object["ts"] = FormatRfc3339(SystemClock().Now());
  object["level"] = LevelName(level);
  object["msg"] = event;
  for (const LogField& field : fields) {
    std::visit([&](const auto& value) { object[std::string(field.key)] = value; }, field.value);
  }
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

bool LogEnabled(LogLevel level) { return CurrentLogger(nullptr)->should_log(SpdlogLevel(level)); }

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  LogOptions::Format format = LogOptions::Format::kText;
  const std::shared_ptr<spdlog::logger> logger = CurrentLogger(&format);
  if (!logger->should_log(SpdlogLevel(level))) return;
  const std::string line = format == LogOptions::Format::kJson ? JsonLine(level, event, fields)
                                                               : TextLine(level, event, fields);
  logger->log(SpdlogLevel(level), spdlog::string_view_t(line.data(), line.size()));
}

void ConfigureLogging(const LogOptions& options) {
  LoggerState& state = State();
  absl::MutexLock lock(&state.mutex);
  state.options = options;
  state.logger = MakeLogger(options);
}

void ReopenLogFile() {
  LoggerState& state = State();
  absl::MutexLock lock(&state.mutex);
  if (state.logger == nullptr || state.options.file.empty()) return;
  state.logger->flush();
  state.logger = MakeLogger(state.options);
}

void FlushLog() { CurrentLogger(nullptr)->flush(); }

}  // namespace skep

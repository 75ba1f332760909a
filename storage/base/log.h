#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace skep {

enum class LogLevel { kTrace, kDebug, kInfo, kWarn, kError, kCritical };

// One key=value of a log line. Ids are always fields, so `grep txn_id=17` tells a transaction's
// story.
struct LogField {
  LogField(std::string_view k, std::string_view v) : key(k), value(std::string(v)) {}
  LogField(std::string_view k, const char* v) : key(k), value(std::string(v)) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  LogField(std::string_view k, int64_t v) : key(k), value(v) {}
  LogField(std::string_view k, int v) : key(k), value(static_cast<int64_t>(v)) {}
  LogField(std::string_view k, uint64_t v) : key(k), value(static_cast<int64_t>(v)) {}
  LogField(std::string_view k, double v) : key(k), value(v) {}

  std::string_view key;
  std::variant<std::string, int64_t, double> value;
};

// Writes one logfmt line: UTC time, level, event, fields. `event` is a stable `noun.verb` name.
// info = a durable thing changed; debug = heartbeats, polls; warn = retried or degraded; error = a
// person should look. Control characters in values are escaped: a user's string cannot forge a
// line. Thread-safe.
void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

// True if a line of this level would be written; guard costly field values with it.
bool LogEnabled(LogLevel level);

struct LogOptions {
  enum class Format { kText, kJson };
  LogLevel level = LogLevel::kInfo;
  Format format = Format::kText;
  std::string file;  // empty = stderr (or the journal where stderr is it)
};

// Replaces the process's logger. Called by main() programs only; libraries and tests log to stderr
// at warn until then.
void ConfigureLogging(const LogOptions& options);
// Closes and opens the log file again (for log rotation). No effect without a file.
void ReopenLogFile();
void FlushLog();

}  // namespace skep

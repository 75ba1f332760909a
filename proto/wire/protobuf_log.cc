#include "proto/wire/protobuf_log.h"

#include <string>

#include <google/protobuf/stubs/logging.h>

#include "storage/base/log.h"
#include "storage/base/text.h"

namespace skep::wire {

void LogWhatProtobufSays() {
  google::protobuf::SetLogHandler(
      [](google::protobuf::LogLevel, const char*, int, const std::string& message) {
        Log(LogLevel::kDebug, "wire.unreadable", {{"message", TrimBlanks(message)}});
      });
}

}  // namespace skep::wire

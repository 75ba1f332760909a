#pragma once

namespace skep::wire {

// protobuf writes to stderr what it refuses to parse. From now on it goes to the log, at debug: the
// sender is told, and a sender of rubbish shall not fill the log. To be called once, before threads
// are started.
void LogWhatProtobufSays();

}  // namespace skep::wire

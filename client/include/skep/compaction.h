#pragma once

#include <string>

#include "storage/model/ids.h"
#include "storage/model/names.h"

namespace skep::client {

enum class CompactionKind { kMajor, kMinor };

struct CompactionRequest {
  TableName table;
  std::string partition;  // canonical name; empty for a table without partitions
  CompactionKind kind = CompactionKind::kMajor;
};

struct EnqueuedCompaction {
  CompactionId id;
  bool accepted =
      true;  // false: one of this table or partition is queued already, `id` is that one
  std::string message;
};

struct CompactionStatus {
  enum class State {
    kInitiated,
    kWorking,
    kReadyForCleaning,  // the result is visible; the replaced files wait for older readers
    kSucceeded,
    kFailed,
    kNotInitiated,
    kCancelled,
    kRefused,
  };
  CompactionId id;
  State state = State::kInitiated;
  std::string error;  // last failure, or why it was refused

  // The result is visible, or never will be.
  bool decided() const { return state != State::kInitiated && state != State::kWorking; }
  // Nothing will change any more: the replaced files are gone too.
  bool finished() const { return decided() && state != State::kReadyForCleaning; }
};

// What a wait waits for.
enum class CompactionGoal { kDecided, kFinished };

}  // namespace skep::client

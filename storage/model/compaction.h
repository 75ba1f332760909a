#pragma once

#include <string_view>

namespace skep {

enum class CompactionType { kMajor = 0, kMinor = 1, kRebalance = 2 };

//  kInitiated ──claim──▶ kWorking ──publish──▶ kReadyForCleaning ──cleaned──▶ kSucceeded
//      │                    ├── failed ──▶ kFailed
//      │                    ├── nothing to do, table gone ──▶ kRefused
//      │                    └── claim expired ──▶ kInitiated
//      └── cancel ──▶ kCancelled
//  kNotInitiated is a record of the initiator's own: it would have, but too many attempts failed.
enum class CompactionState {
  kInitiated = 0,
  kWorking = 1,
  kReadyForCleaning = 2,
  kSucceeded = 3,
  kFailed = 4,
  kNotInitiated = 5,
  kRefused = 6,
  kCancelled = 7,
};

bool IsTerminal(CompactionState state);
std::string_view CompactionTypeName(CompactionType type);     // "MAJOR", …
std::string_view CompactionStateName(CompactionState state);  // "READY_FOR_CLEANING", …

}  // namespace skep

#include "storage/model/compaction.h"

namespace skep {

bool IsTerminal(CompactionState state) {
  switch (state) {
    case CompactionState::kInitiated:
    case CompactionState::kWorking:
    case CompactionState::kReadyForCleaning:
      return false;
    case CompactionState::kSucceeded:
    case CompactionState::kFailed:
    case CompactionState::kNotInitiated:
    case CompactionState::kRefused:
    case CompactionState::kCancelled:
      return true;
  }
  return true;
}

std::string_view CompactionTypeName(CompactionType type) {
  switch (type) {
    case CompactionType::kMajor:
      return "MAJOR";
    case CompactionType::kMinor:
      return "MINOR";
    case CompactionType::kRebalance:
      return "REBALANCE";
  }
  return "UNKNOWN";
}

std::string_view CompactionStateName(CompactionState state) {
  switch (state) {
    case CompactionState::kInitiated:
      return "INITIATED";
    case CompactionState::kWorking:
      return "WORKING";
    case CompactionState::kReadyForCleaning:
      return "READY_FOR_CLEANING";
    case CompactionState::kSucceeded:
      return "SUCCEEDED";
    case CompactionState::kFailed:
      return "FAILED";
    case CompactionState::kNotInitiated:
      return "NOT_INITIATED";
    case CompactionState::kRefused:
      return "REFUSED";
    case CompactionState::kCancelled:
      return "CANCELLED";
  }
  return "UNKNOWN";
}

}  // namespace skep

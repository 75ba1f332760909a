#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/model/ids.h"

namespace skep::loop {

// The books of one session: which operations were taken, what was answered, what the client has
// seen of it, what it may still ask. Pure: no clock, no stream, no state machine.
//
// Operations are numbered from 1 and taken in order; answers come in any order and are kept until
// the client acknowledges them, so that a new stream can bring them again. Credit is what bounds
// that: an operation holds its credit until its answer is acknowledged (one that waits for a lock
// is answered WAITING, so it gives the credit back).
class SessionLedger {
 public:
  struct Limits {
    int64_t operations = 4096;
    int64_t bytes = 4 << 20;  // of requests
    // Operations that need no credit (commit, abort, heartbeat, release) and answers to those that
    // had none: a client may have this many times `operations` of all kinds unacknowledged.
    int64_t slack = 4;
    // Notices that are not acknowledged; they come from what is alive, so a client that reads has
    // few.
    int64_t notices = 100'000;
  };
  explicit SessionLedger(const Limits& limits) : limits_(limits) {}

  enum class Taken {
    kRun,       // to be executed and answered
    kNoCredit,  // to be refused: nothing of it was executed
    kRepeat,    // was taken before: its answer was or will be sent, there is nothing to do
  };
  // The client sends operation `number`. Errors: kInvalidRequest for a gap or a number below 1;
  // kOverloaded where more is unacknowledged than any client needs: the stream must end.
  absl::StatusOr<Taken> Take(int64_t number, int64_t bytes, bool needs_credit);

  // The answer of a taken operation, as it will be sent. Once per operation.
  void Answer(int64_t number, std::string answer);

  // The client has seen the answers of all operations below `below` (0: no news), and of `above`.
  // Errors: kInvalidRequest where one of them was never given.
  absl::Status Acknowledge(int64_t below, const std::vector<int64_t>& above);

  // The number that the notice gets; the caller puts it into the text that AddNotice takes next.
  int64_t next_notice() const { return first_notice_ + std::ssize(notices_); }
  // Errors: kOverloaded where more is unacknowledged than any client needs.
  absl::Status AddNotice(std::string notice);
  absl::Status AcknowledgeNotices(int64_t below);

  // A new stream: everything that is not acknowledged has to be sent again.
  void SendAgain();
  // Moves what is to be sent out, in order, `max_bytes` at most but one at least. The views are
  // valid until the next call of another method.
  struct Output {
    std::vector<std::string_view> answers;
    std::vector<std::string_view> notices;
    bool empty() const { return answers.empty() && notices.empty(); }
  };
  Output TakeOutput(int64_t max_bytes);
  bool HasOutput() const { return !unsent_.empty() || sent_notices_ < std::ssize(notices_); }
  int64_t unsent_bytes() const { return unsent_bytes_; }

  // an operation that was to change these transactions failed.
  void NoteFailure(int64_t number, std::string what, const std::vector<TxnId>& txns);
  // What failed of `txn` and was not acknowledged yet; empty: nothing.
  std::string FailureOf(TxnId txn) const;
  bool has_failures() const { return !failures_.empty(); }

  int64_t next_number() const { return first_ + std::ssize(slots_); }
  int64_t unacknowledged() const { return std::ssize(slots_) - acknowledged_; }
  // Operations that were taken and have no answer yet.
  int64_t pending() const { return pending_; }

 private:
  struct Slot {
    std::string answer;
    int32_t bytes = 0;  // of credit; none: it needed none
    bool credit = false;
    bool answered = false;
    bool sent = false;
    bool acknowledged = false;
  };
  struct Failure {
    std::string what;
    std::vector<TxnId> txns;
  };

  Slot& At(int64_t number) { return slots_[static_cast<size_t>(number - first_)]; }
  absl::Status CheckSeen(int64_t number);
  void Forget(int64_t number);

  const Limits limits_;
  int64_t first_ = 1;  // number of slots_[0]
  std::deque<Slot> slots_;
  int64_t acknowledged_ = 0;  // in slots_
  int64_t pending_ = 0;
  int64_t credit_operations_ = 0;
  int64_t credit_bytes_ = 0;
  std::vector<int64_t> unsent_;  // in the order of answering
  int64_t unsent_bytes_ = 0;     // of answers and notices
  int64_t first_notice_ = 1;
  std::deque<std::string> notices_;
  int64_t sent_notices_ = 0;        // of notices_, on this stream
  int64_t notices_sent_below_ = 1;  // on any
  std::map<int64_t, Failure> failures_;
};

}  // namespace skep::loop

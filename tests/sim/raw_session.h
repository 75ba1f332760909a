#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/raw_wire.h"
#include "tests/sim/stream_network.h"

#include "proto/skep/v1/session_service.pb.h"

namespace skep::sim {

// A session as its protocol has it, spoken by hand: operations go in bundles of one message, the
// stream breaks off when its owner likes, answers come again on the next one. In a script.
class RawSession {
 public:
  explicit RawSession(RawWire& wire);
  ~RawSession();

  using Operations = std::vector<v1::SessionOperation>;
  using Answers = std::vector<v1::SessionAnswer>;

  // All in one message. Empty: the session is lost, and nobody knows what was executed.
  Answers Ask(Operations operations);
  // The notice that belongs to the operation which was answered last but `back`; false: none came
  // in time.
  bool WaitForNotice(int64_t operation, Nanos time, v1::SessionNotice& notice);
  int64_t last_number() const { return next_ - 1; }
  bool lost() const { return lost_; }
  int64_t epoch() const { return epoch_; }  // of its newest stream

  // The stream ends; the session goes on with the next call.
  void BreakOff() { connection_.reset(); }
  // All in one message, and nobody waits for the answers. The number of the first.
  int64_t Post(Operations operations);
  // By a unary call: nothing that was sent is executed from now on, but for what was taken, all
  // below the answer. None: nobody answered, or the session is not known any more.
  std::optional<int64_t> Fence();
  // The request id of a call that stands for the operation.
  std::string RequestIdOf(int64_t number) const;
  // Nothing follows.
  void End();

 private:
  bool Connect();
  void Send(const std::vector<int64_t>& numbers, bool hello);
  void Take(v1::SessionResponse response);
  bool Wait(const std::function<bool()>& there, Nanos time);

  RawWire& wire_;
  SimConnector connector_;
  const std::string id_;
  int64_t epoch_ = 0;
  int64_t next_ = 1;
  std::map<int64_t, v1::SessionOperation> open_;  // without answer
  std::map<int64_t, std::string> answers_;        // all that were seen
  std::map<int64_t, v1::SessionNotice> notices_;  // by operation
  int64_t notices_below_ = 1;
  std::unique_ptr<client::SessionConnection> connection_;
  int64_t welcome_ = 0;  // 0: not yet
  bool over_ = false;    // the stream
  bool lost_ = false;
  // Events of a stream that is gone do nothing.
  std::shared_ptr<int> stream_;
};

}  // namespace skep::sim

#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <grpcpp/support/status.h>

#include "server/loop/stream.h"
#include "tests/sim/scheduler.h"

namespace skep::sim {

// What a call of GrpcStreamService is in production: one stream in the hands of the loop. What is
// written stays here until its unit is on the disk, then it is on its way until the client takes
// it.
class SimStream final : public loop::Stream {
 public:
  struct Out {
    std::string bytes;
    std::optional<grpc::Status> end;  // nothing follows
  };
  // `deliver` takes what leaves, in order. `wrote`: there is something to leave.
  SimStream(int method, std::function<void(Out)> deliver, std::function<void(SimStream&)> wrote)
      : method_(method), deliver_(std::move(deliver)), wrote_(std::move(wrote)) {}

  // ---- loop::Stream ----
  int method() const override { return method_; }
  void WriteBytes(std::string message) override {
    if (ended_) return;
    if (++untaken_ > kMaxQueued) return Cut();
    Put({std::move(message), std::nullopt});
  }
  bool busy() const override { return untaken_ > 0; }
  void Finish(const grpc::Status& status) override {
    if (!std::exchange(ended_, true)) Put({"", status});
  }
  void Cut() override {
    written_.clear();
    ended_ = true;
    Put({"", grpc::Status(grpc::StatusCode::CANCELLED, "the client does not read")});
  }

  // ---- the daemon's and the network's part ----
  bool ended() const { return ended_; }
  // What was written since may leave at `when` at the earliest; in order, one after the other.
  template <class Leave>
  void LeaveFrom(MonoTime when, Leave leave) {
    for (Out& out : std::exchange(written_, {})) {
      leaving_.push_back(std::move(out));
      leaves_ = std::max(when, leaves_ + Nanos(1));
      leave(leaves_);
    }
  }
  void LeaveOne() {
    if (leaving_.empty()) return;
    Out out = std::move(leaving_.front());
    leaving_.pop_front();
    deliver_(std::move(out));
  }
  // The client has taken a message. True: it has them all.
  bool Taken() { return untaken_ > 0 && --untaken_ == 0; }

 private:
  static constexpr int64_t kMaxQueued = 64;

  void Put(Out out) {
    written_.push_back(std::move(out));
    wrote_(*this);
  }

  const int method_;
  const std::function<void(Out)> deliver_;
  const std::function<void(SimStream&)> wrote_;
  std::deque<Out> written_;
  std::deque<Out> leaving_;
  MonoTime leaves_{};
  int64_t untaken_ = 0;
  bool ended_ = false;
};

}  // namespace skep::sim

#pragma once

// A session's ports in one thread under virtual time: a server that answers by script, an executor
// that runs what is due, a blocker that lets time pass until the awaited answer is there.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "client/session/session_impl.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "tests/testing/manual_clock.h"

namespace skep::client {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Confined to one thread.
class FakeExecutor final : public Executor {
 public:
  explicit FakeExecutor(testing::ManualClock& clock) : clock_(clock) {}

  void Post(Task task) override { ready_.push_back(std::move(task)); }
  TimerId PostAt(MonoTime when, Task task) override {
    timers_.emplace(std::make_pair(when, ++last_timer_), std::move(task));
    return last_timer_;
  }
  bool Cancel(TimerId id) override {
    for (auto it = timers_.begin(); it != timers_.end(); ++it) {
      if (it->first.second != id) continue;
      timers_.erase(it);
      return true;
    }
    return false;
  }

  // Runs the next task that is ready, or lets time pass until `until` at most to the next timer.
  // False if nothing was left to do before `until`.
  bool Step(MonoTime until) {
    if (ready_.empty()) {
      if (timers_.empty() || timers_.begin()->first.first > until) return false;
      const auto wait = timers_.begin()->first.first - clock_.MonoNow();
      if (wait.count() > 0) clock_.Advance(wait);
      ready_.push_back(std::move(timers_.begin()->second));
      timers_.erase(timers_.begin());
    }
    Task task = std::move(ready_.front());
    ready_.pop_front();
    task();
    return true;
  }
  void RunFor(std::chrono::nanoseconds time) {
    const MonoTime until = clock_.MonoNow() + time;
    while (Step(until)) {
    }
    if (clock_.MonoNow() < until) clock_.Advance(until - clock_.MonoNow());
  }
  size_t timers() const { return timers_.size(); }

 private:
  testing::ManualClock& clock_;
  std::deque<Task> ready_;
  std::map<std::pair<MonoTime, TimerId>, Task> timers_;
  TimerId last_timer_ = 0;
};

class PumpBlocker final : public Blocker {
 public:
  explicit PumpBlocker(FakeExecutor& executor) : executor_(executor) {}
  void Wait(absl::Notification& done) override {
    while (!done.HasBeenNotified()) {
      if (!executor_.Step(MonoTime::max())) {
        ADD_FAILURE() << "a call waits for something that will never come";
        std::abort();
      }
    }
  }

 private:
  FakeExecutor& executor_;
};

inline TransportReply Ok() { return {}; }
inline TransportReply Refuse(ErrorReason reason, ErrorMetadata metadata = {}) {
  return {MakeError(reason, "refused", std::move(metadata)), std::nullopt, true};
}

// What the network does to one call.
enum class Fate { kArrives, kRequestLost, kAnswerLost, kNotSent, kHangs };

class FakeServer final : public Transport {
 public:
  using Handler =
      std::function<TransportReply(const google::protobuf::Message&, google::protobuf::Message&)>;
  struct Seen {
    std::string method;
    MonoTime time;
    std::shared_ptr<google::protobuf::Message> request;
    MonoTime deadline;
  };

  FakeServer(FakeExecutor& executor, testing::ManualClock& clock)
      : executor_(executor), clock_(clock) {}

  // How the server answers requests of this type from now on.
  template <class Request>
  void On(std::function<TransportReply(const Request&, typename Rpc<Request>::Response&)> handler) {
    handlers_[Rpc<Request>::kMethod] = [handler](const google::protobuf::Message& request,
                                                 google::protobuf::Message& response) {
      return handler(dynamic_cast<const Request&>(request),
                     dynamic_cast<typename Rpc<Request>::Response&>(response));
    };
  }
  // What happens to the next calls of this type, in order; afterwards they arrive.
  template <class Request>
  void Next(std::vector<Fate> fates) {
    fates_[Rpc<Request>::kMethod] = std::deque<Fate>(fates.begin(), fates.end());
  }
  // The network is down (or back).
  void SetDown(bool down) { down_ = down; }

  void Call(const std::string& method,
            std::shared_ptr<const google::protobuf::Message> request,
            std::shared_ptr<google::protobuf::Message> response,
            MonoTime deadline,
            Done done) override {
    std::shared_ptr<google::protobuf::Message> copy(request->New());
    copy->CopyFrom(*request);
    seen.push_back({method, clock_.MonoNow(), copy, deadline});
    executor_.Post([this, method, copy, response, deadline, done = std::move(done)]() mutable {
      Deliver(method, *copy, *response, deadline, std::move(done));
    });
  }

  template <class Request>
  std::vector<Request> RequestsOf() const {
    std::vector<Request> requests;
    for (const Seen& call : seen) {
      if (call.method == Rpc<Request>::kMethod) {
        requests.push_back(dynamic_cast<const Request&>(*call.request));
      }
    }
    return requests;
  }
  template <class Request>
  std::vector<Seen> CallsOf() const {
    std::vector<Seen> calls;
    for (const Seen& call : seen) {
      if (call.method == Rpc<Request>::kMethod) calls.push_back(call);
    }
    return calls;
  }

  std::vector<Seen> seen;

 private:
  void Deliver(const std::string& method,
               const google::protobuf::Message& request,
               google::protobuf::Message& response,
               MonoTime deadline,
               Done done) {
    Fate fate = Fate::kArrives;
    if (std::deque<Fate>& fates = fates_[method]; !fates.empty()) {
      fate = fates.front();
      fates.pop_front();
    }
    if (down_) fate = Fate::kRequestLost;
    TransportReply reply = Ok();
    if (fate == Fate::kArrives || fate == Fate::kAnswerLost) {
      auto handler = handlers_.find(method);
      if (handler != handlers_.end()) reply = handler->second(request, response);
    }
    if (fate == Fate::kHangs) {
      executor_.PostAt(deadline, [done = std::move(done)]() mutable {
        done({absl::DeadlineExceededError("Deadline Exceeded"), std::nullopt, true});
      });
      return;
    }
    if (fate != Fate::kArrives) {
      response.Clear();
      reply = {absl::UnavailableError("connection lost"), std::nullopt, fate != Fate::kNotSent};
    }
    done(std::move(reply));
  }

  FakeExecutor& executor_;
  testing::ManualClock& clock_;
  bool down_ = false;
  std::map<std::string, Handler> handlers_;
  std::map<std::string, std::deque<Fate>> fates_;
};

// A session of ann@host1 with a server that opens transactions 7, 8, … with leases of 30 s and
// agrees to everything.
struct World {
  World() { AgreeToEverything(); }

  std::unique_ptr<Session> NewSession() {
    return std::make_unique<Session>(std::make_shared<SessionImpl>(
        options,
        SessionPorts{server, server, executor, executor, clock, random, blocker, nullptr}));
  }
  std::unique_ptr<Transaction> Begin(Session& session, const BeginOptions& begin = {}) {
    absl::StatusOr<std::unique_ptr<Transaction>> txn = session.Begin(begin);
    EXPECT_TRUE(txn.ok()) << txn.status();
    return txn.ok() ? std::move(*txn) : nullptr;
  }

  testing::ManualClock clock;
  FakeExecutor executor{clock};
  PumpBlocker blocker{executor};
  SeededRandom random{17};
  FakeServer server{executor, clock};
  SessionOptions options{.endpoint = "unix:/none", .user = "ann", .host = "host1", .agent = "test"};
  int64_t next_txn = 7;
  v1::Table table;  // what GetTable answers, whatever the name

 private:
  void AgreeToEverything() {
    table.set_table_id(3);
    table.set_kind(v1::TABLE_KIND_FULL_ACID);
    table.set_format(v1::FILE_FORMAT_ORC);
    table.set_location("/w/t");
    v1::Column* column = table.add_columns();
    column->set_name("a");
    column->set_type("int");
    server.On<v1::OpenTransactionsRequest>([this](const auto&, auto& answer) {
      answer.set_first_txn_id(next_txn++);
      answer.set_count(1);
      answer.set_snapshot_seq(5);
      answer.mutable_txn_timeout()->set_seconds(30);
      return Ok();
    });
    server.On<v1::AbortTransactionsRequest>([](const auto& request, auto& answer) {
      for (int64_t txn : request.txn_ids()) answer.add_aborted(txn);
      return Ok();
    });
    server.On<v1::GetTableRequest>([this](const auto& request, auto& answer) {
      *answer.mutable_table() = table;
      *answer.mutable_table()->mutable_name() = request.name();
      return Ok();
    });
    server.On<v1::AcquireLocksRequest>([](const auto&, auto& answer) {
      answer.set_lock_id(40);
      answer.set_state(v1::LOCK_STATE_ACQUIRED);
      return Ok();
    });
    server.On<v1::AllocateWriteIdsRequest>([](const auto& request, auto& answer) {
      auto* allocation = answer.add_allocations();
      allocation->set_txn_id(request.txn_ids(0));
      allocation->set_write_id(12);
      return Ok();
    });
    server.On<v1::GetValidWriteIdsRequest>([](const auto& request, auto& answer) {
      for (const v1::TableName& name : request.tables()) {
        v1::WriteIdList* list = answer.add_lists();
        *list->mutable_table() = name;
        list->set_snapshot_seq(5);
        list->set_high_watermark(11);
        list->add_open(9);
      }
      return Ok();
    });
  }
};

}  // namespace skep::client

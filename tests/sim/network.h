#pragma once

#include <map>
#include <memory>
#include <string>

#include "client/session/transport.h"
#include "tests/sim/daemon.h"
#include "tests/sim/scheduler.h"

namespace skep::sim {

// What lies between one client and the daemon.
struct Link {
  std::shared_ptr<Process> process;  // the client's
  MonoTime cut_until{};              // nothing passes
  bool dead = false;                 // the client is gone: its calls end at once
  MonoTime first_decided{};          // when the daemon decided a call of it, since this was reset
  MonoTime decided{};                // likewise, the newest
};

// Calls between clients and the daemon: each takes its time; requests and answers get lost; a
// connection breaks while its request still arrives; the daemon is not there. Confined to one
// thread.
class Network {
 public:
  struct Options {
    Nanos low{100'000};
    Nanos high{20'000'000};
    int64_t lose_request = 60;  // one in so many; 0: never
    int64_t lose_answer = 60;
    int64_t late_request = 150;  // arrives after its client was told that the connection broke
    int64_t silent = 3;          // one in so many losses is noticed only by the deadline
  };

  Network(const Options& options, Scheduler& scheduler, Daemon& daemon)
      : options_(options), scheduler_(scheduler), daemon_(daemon) {}

  // The daemon is about to go: its connections break.
  void DaemonGoes();
  void SetLossless() { options_.lose_request = options_.lose_answer = options_.late_request = 0; }

  int64_t calls() const { return calls_; }
  int64_t lost() const { return lost_; }

 private:
  friend class SimTransport;
  struct Flight {
    const client::Transport* owner = nullptr;
    std::shared_ptr<Link> link;
    std::shared_ptr<google::protobuf::Message> response;
    client::Transport::Done done;  // null: settled
    Scheduler::EventId timer = 0;
    int64_t number = 0;
    Daemon::CallId call = 0;  // 0: the daemon does not have it
  };
  using FlightPtr = std::shared_ptr<Flight>;

  void Send(const client::Transport* owner,
            std::shared_ptr<Link> link,
            const std::string& method,
            const google::protobuf::Message& request,
            std::shared_ptr<google::protobuf::Message> response,
            MonoTime deadline,
            client::Transport::Done done);
  void EndCallsOf(const client::Transport* owner);
  void Deliver(const FlightPtr& flight,
               const std::string& method,
               std::string bytes,
               MonoTime deadline);
  void Answered(const FlightPtr& flight, const grpc::Status& status, const std::string& bytes);
  void Break(const FlightPtr& flight, bool maybe_sent);
  void Settle(const FlightPtr& flight, client::TransportReply reply);
  void SettleSoon(const FlightPtr& flight, client::TransportReply reply);
  bool Hits(int64_t one_in) { return one_in > 0 && scheduler_.dice().OneIn(one_in); }
  Nanos Trip() { return scheduler_.dice().Delay(options_.low, options_.high); }

  Options options_;
  Scheduler& scheduler_;
  Daemon& daemon_;
  std::map<Daemon::CallId, FlightPtr> in_daemon_;
  std::map<int64_t, FlightPtr> under_way_;  // by number of the call
  int64_t calls_ = 0;
  int64_t lost_ = 0;
};

// The client's port to it.
class SimTransport final : public client::Transport {
 public:
  SimTransport(Network& network, std::shared_ptr<Link> link)
      : network_(network), link_(std::move(link)) {}
  ~SimTransport() override { network_.EndCallsOf(this); }

  void Call(const std::string& method,
            std::shared_ptr<const google::protobuf::Message> request,
            std::shared_ptr<google::protobuf::Message> response,
            MonoTime deadline,
            Done done) override {
    network_.Send(this, link_, method, *request, std::move(response), deadline, std::move(done));
  }

 private:
  Network& network_;
  const std::shared_ptr<Link> link_;
};

}  // namespace skep::sim

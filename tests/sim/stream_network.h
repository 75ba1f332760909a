#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/session/session_connector.h"
#include "tests/sim/daemon.h"
#include "tests/sim/network.h"

namespace skep::sim {

// What a client hears of a stream.
struct StreamEvents {
  std::function<void(const std::string&)> received;
  std::function<void()> written;
  std::function<void(const absl::Status&, bool connected)> ended;
};

// Streams between clients and the daemon. Messages of one direction arrive in order, each
// takes its time; a stream breaks before or after any message, or falls silent and nobody is told;
// a client that stands still does not read. Confined to one thread.
class StreamNetwork {
 public:
  struct Options {
    Nanos low{100'000};
    Nanos high{20'000'000};
    int64_t breaks = 80;  // one message in so many; 0: never
    int64_t silent = 4;   // one break in so many is told to nobody
  };
  StreamNetwork(const Options& options, Scheduler& scheduler, Daemon& daemon)
      : options_(options), scheduler_(scheduler), daemon_(daemon) {}

  // The daemon is about to go.
  void DaemonGoes();
  void SetLossless() { options_.breaks = 0; }

  int64_t streams() const { return streams_; }
  int64_t messages() const { return messages_; }
  int64_t broken() const { return broken_; }

 private:
  friend class SimConnector;
  friend class SimWatch;
  class ClientEnd;
  struct Pair {
    std::shared_ptr<Link> link;
    Daemon::Door door = Daemon::Door::kSession;
    StreamEvents events;       // none: the client's end is gone
    Daemon::StreamPtr server;  // none: nothing has arrived yet, or its daemon is gone
    std::deque<std::string> up;
    std::deque<SimStream::Out> down;
    MonoTime up_at{};
    MonoTime down_at{};
    bool over = false;    // nothing arrives any more
    bool silent = false;  // likewise, and nobody is told
    bool told = false;    // the client knows that it is over
  };
  using PairPtr = std::shared_ptr<Pair>;

  PairPtr Connect(Daemon::Door door, std::shared_ptr<Link> link, StreamEvents events);
  void Up(const PairPtr& pair, std::string bytes);
  void ArriveUp(const PairPtr& pair);
  void Down(const PairPtr& pair, SimStream::Out out);
  void ArriveDown(const PairPtr& pair);
  // When a message that leaves now arrives, behind the one before it; or it never does.
  MonoTime Arrival(const PairPtr& pair, MonoTime before);
  void Break(const PairPtr& pair);
  void TellClient(const PairPtr& pair, const absl::Status& status, bool connected);
  void TellServer(const PairPtr& pair);
  bool Hits(int64_t one_in) { return one_in > 0 && scheduler_.dice().OneIn(one_in); }
  Nanos Trip() { return scheduler_.dice().Delay(options_.low, options_.high); }

  Options options_;
  Scheduler& scheduler_;
  Daemon& daemon_;
  std::vector<std::weak_ptr<Pair>> pairs_;
  int64_t streams_ = 0;
  int64_t messages_ = 0;
  int64_t broken_ = 0;
};

// One client's port to it.
class SimConnector final : public client::SessionConnector {
 public:
  SimConnector(StreamNetwork& network, std::shared_ptr<Link> link)
      : network_(network), link_(std::move(link)) {}
  std::unique_ptr<client::SessionConnection> Open(client::SessionEvents events) override;

 private:
  StreamNetwork& network_;
  const std::shared_ptr<Link> link_;
};

// A client's watch of something: one request, then whatever comes, until it hangs up.
class SimWatch {
 public:
  SimWatch(StreamNetwork& network,
           std::shared_ptr<Link> link,
           Daemon::Door door,
           const google::protobuf::MessageLite& request,
           StreamEvents events);
  ~SimWatch();
  SimWatch(const SimWatch&) = delete;
  SimWatch& operator=(const SimWatch&) = delete;

  // Nothing has happened to it, whether its client knows or not.
  bool sound() const { return !pair_->over && !pair_->silent && pair_->server != nullptr; }

 private:
  StreamNetwork& network_;
  const StreamNetwork::PairPtr pair_;
};

}  // namespace skep::sim

#include "tests/sim/stream_network.h"

#include <algorithm>
#include <utility>

#include "proto/wire/status_wire.h"

namespace skep::sim {

class StreamNetwork::ClientEnd final : public client::SessionConnection {
 public:
  ClientEnd(StreamNetwork& network, PairPtr pair) : network_(network), pair_(std::move(pair)) {}
  ~ClientEnd() override {
    pair_->events = {};
    network_.TellServer(pair_);
  }
  void Write(const v1::SessionRequest& message) override {
    network_.Up(pair_, message.SerializeAsString());
    network_.scheduler_.After(
        network_.Trip(),
        [pair = pair_] {
          if (pair->events.written && !pair->told) pair->events.written();
        },
        pair_->link->process);
  }
  void Cancel() override {
    network_.TellClient(pair_, absl::CancelledError("cancelled"), true);
    network_.TellServer(pair_);
  }
  void Close(const v1::SessionRequest& last) override {
    pair_->events = {};
    network_.Up(pair_, last.SerializeAsString());
  }

 private:
  StreamNetwork& network_;
  const PairPtr pair_;
};

std::unique_ptr<client::SessionConnection> SimConnector::Open(client::SessionEvents events) {
  StreamEvents heard;
  heard.received = [received = std::move(events.received)](const std::string& bytes) {
    v1::SessionResponse response;
    response.ParseFromString(bytes);
    received(std::move(response));
  };
  heard.written = std::move(events.written);
  heard.ended = std::move(events.ended);
  return std::make_unique<StreamNetwork::ClientEnd>(
      network_, network_.Connect(Daemon::Door::kSession, link_, std::move(heard)));
}

SimWatch::SimWatch(StreamNetwork& network,
                   std::shared_ptr<Link> link,
                   Daemon::Door door,
                   const google::protobuf::MessageLite& request,
                   StreamEvents events)
    : network_(network), pair_(network.Connect(door, std::move(link), std::move(events))) {
  network_.Up(pair_, request.SerializeAsString());
}

SimWatch::~SimWatch() {
  pair_->events = {};
  network_.TellServer(pair_);
}

StreamNetwork::PairPtr StreamNetwork::Connect(Daemon::Door door,
                                              std::shared_ptr<Link> link,
                                              StreamEvents events) {
  ++streams_;
  auto pair = std::make_shared<Pair>();
  pair->door = door;
  pair->link = std::move(link);
  pair->events = std::move(events);
  std::erase_if(pairs_, [](const auto& known) { return known.expired(); });
  pairs_.push_back(pair);
  if (!daemon_.up()) {
    pair->over = true;
    TellClient(pair, absl::UnavailableError("nobody listens"), false);
  }
  return pair;
}

MonoTime StreamNetwork::Arrival(const PairPtr& pair, MonoTime before) {
  ++messages_;
  MonoTime at = std::max(scheduler_.now() + Trip(), before + Nanos(1));
  if (pair->link->cut_until > scheduler_.now()) {
    // What is lost is sent again, unless somebody loses patience.
    at = std::max(at, pair->link->cut_until + Trip());
    if (scheduler_.dice().OneIn(2)) Break(pair);
  } else if (Hits(options_.breaks)) {
    if (scheduler_.dice().OneIn(2)) {
      Break(pair);
    } else {
      scheduler_.At(at + Nanos(1), [this, pair] { Break(pair); });
    }
  }
  return at;
}

void StreamNetwork::Up(const PairPtr& pair, std::string bytes) {
  if (pair->over || pair->link->dead) return;
  pair->up.push_back(std::move(bytes));
  pair->up_at = Arrival(pair, pair->up_at);
  scheduler_.At(pair->up_at, [this, pair] { ArriveUp(pair); });
}

void StreamNetwork::ArriveUp(const PairPtr& pair) {
  if (pair->over || pair->up.empty()) return;
  std::string bytes = std::move(pair->up.front());
  pair->up.pop_front();
  if (!daemon_.up()) {
    pair->over = true;
    return TellClient(pair, absl::UnavailableError("nobody listens"), pair->server != nullptr);
  }
  if (pair->server == nullptr) {
    pair->server = daemon_.OpenStream(pair->door,
                                      [this, weak = std::weak_ptr<Pair>(pair)](SimStream::Out out) {
                                        if (const PairPtr alive = weak.lock())
                                          Down(alive, std::move(out));
                                      });
  }
  daemon_.Arrive(pair->server, std::move(bytes));
}

void StreamNetwork::Down(const PairPtr& pair, SimStream::Out out) {
  if (pair->over) return;
  pair->down.push_back(std::move(out));
  pair->down_at = Arrival(pair, pair->down_at);
  scheduler_.At(
      pair->down_at, [this, pair] { ArriveDown(pair); }, pair->link->process);
}

void StreamNetwork::ArriveDown(const PairPtr& pair) {
  if (pair->over || pair->down.empty()) return;
  SimStream::Out out = std::move(pair->down.front());
  pair->down.pop_front();
  if (out.end) {
    pair->over = true;
    TellServer(pair);
    return TellClient(pair, wire::FromGrpc(*out.end), true);
  }
  daemon_.Taken(pair->server);
  if (pair->events.received) pair->events.received(out.bytes);
}

void StreamNetwork::Break(const PairPtr& pair) {
  if (std::exchange(pair->over, true)) return;
  ++broken_;
  pair->silent = Hits(options_.silent);
  TellClient(pair, absl::UnavailableError("the connection broke"), true);
  TellServer(pair);
}

void StreamNetwork::TellClient(const PairPtr& pair, const absl::Status& status, bool connected) {
  if (pair->silent || std::exchange(pair->told, true)) return;
  scheduler_.After(
      Trip(),
      [pair, status, connected] {
        if (pair->events.ended) pair->events.ended(status, connected);
      },
      pair->link->process);
}

void StreamNetwork::TellServer(const PairPtr& pair) {
  if (pair->silent) return;
  scheduler_.At(std::max(scheduler_.now() + Trip(), pair->up_at + Nanos(1)), [this, pair] {
    if (pair->server != nullptr) daemon_.CloseStream(std::exchange(pair->server, nullptr));
    pair->over = true;
  });
}

void StreamNetwork::DaemonGoes() {
  for (const auto& known : pairs_) {
    const PairPtr pair = known.lock();
    if (pair == nullptr || std::exchange(pair->server, nullptr) == nullptr) continue;
    if (std::exchange(pair->over, true)) continue;
    if (!Hits(options_.silent)) TellClient(pair, absl::UnavailableError("the server went"), true);
  }
}

}  // namespace skep::sim

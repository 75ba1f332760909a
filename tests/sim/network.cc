#include "tests/sim/network.h"

#include <utility>
#include <vector>

#include "proto/wire/status_wire.h"

namespace skep::sim {

void Network::Send(const client::Transport* owner,
                   std::shared_ptr<Link> link,
                   const std::string& method,
                   const google::protobuf::Message& request,
                   std::shared_ptr<google::protobuf::Message> response,
                   MonoTime deadline,
                   client::Transport::Done done) {
  ++calls_;
  auto flight = std::make_shared<Flight>();
  flight->owner = owner;
  flight->number = calls_;
  under_way_[flight->number] = flight;
  flight->link = std::move(link);
  flight->response = std::move(response);
  flight->done = std::move(done);
  if (flight->link->dead) {
    return SettleSoon(flight, {absl::CancelledError("the client is gone"), std::nullopt, true});
  }
  flight->timer = scheduler_.At(
      deadline,
      [this, flight] {
        if (flight->call != 0) daemon_.ClientGone(flight->call);
        in_daemon_.erase(flight->call);
        Settle(flight, {absl::DeadlineExceededError("the call took too long"), std::nullopt, true});
      },
      flight->link->process);
  const bool cut = flight->link->cut_until > scheduler_.now();
  if (cut || Hits(options_.lose_request)) {
    ++lost_;
    if (!Hits(options_.silent)) Break(flight, !cut);
    return;
  }
  Nanos trip = Trip();
  if (Hits(options_.late_request)) {
    ++lost_;
    Break(flight, true);
    trip += scheduler_.dice().Delay(Nanos(1'000'000), Nanos(3'000'000'000));
  }
  scheduler_.After(trip,
                   [this, flight, method, bytes = request.SerializeAsString(), deadline]() mutable {
                     Deliver(flight, method, std::move(bytes), deadline);
                   });
}

void Network::Deliver(const FlightPtr& flight,
                      const std::string& method,
                      std::string bytes,
                      MonoTime deadline) {
  if (!daemon_.up()) return Break(flight, false);
  Arrival arrival;
  arrival.method = method;
  arrival.bytes = std::move(bytes);
  arrival.deadline = deadline;
  arrival.decided = [link = flight->link](MonoTime when) {
    if (link->first_decided == MonoTime()) link->first_decided = when;
    link->decided = when;
  };
  arrival.answer = [this, flight](grpc::Status status, std::string answer) {
    in_daemon_.erase(flight->call);
    flight->call = 0;
    if (flight->link->cut_until > scheduler_.now() || Hits(options_.lose_answer)) {
      ++lost_;
      if (!Hits(options_.silent)) Break(flight, true);
      return;
    }
    scheduler_.After(
        Trip(),
        [this, flight, status, answer] { Answered(flight, status, answer); },
        flight->link->process);
  };
  flight->call = daemon_.Arrive(std::move(arrival));
  in_daemon_[flight->call] = flight;
}

void Network::Answered(const FlightPtr& flight,
                       const grpc::Status& status,
                       const std::string& bytes) {
  if (!flight->done) return;
  if (status.ok()) flight->response->ParseFromString(bytes);
  Settle(flight, {wire::FromGrpc(status), wire::RetryDelay(status), true});
}

void Network::Break(const FlightPtr& flight, bool maybe_sent) {
  SettleSoon(flight, {absl::UnavailableError("the connection broke"), std::nullopt, maybe_sent});
}

void Network::SettleSoon(const FlightPtr& flight, client::TransportReply reply) {
  scheduler_.After(
      Trip(),
      [this, flight, reply = std::move(reply)]() mutable { Settle(flight, std::move(reply)); },
      flight->link->process);
}

void Network::Settle(const FlightPtr& flight, client::TransportReply reply) {
  if (!flight->done) return;
  scheduler_.Cancel(flight->timer);
  under_way_.erase(flight->number);
  client::Transport::Done done = std::exchange(flight->done, nullptr);
  done(std::move(reply));
}

void Network::EndCallsOf(const client::Transport* owner) {
  std::vector<FlightPtr> ended;
  for (const auto& [number, flight] : under_way_) {
    if (flight->owner == owner) ended.push_back(flight);
  }
  for (const FlightPtr& flight : ended) {
    Settle(flight, {absl::CancelledError("the client is gone"), std::nullopt, true});
  }
}

void Network::DaemonGoes() {
  for (const auto& [call, flight] : std::exchange(in_daemon_, {})) {
    flight->call = 0;
    if (!Hits(options_.silent)) Break(flight, true);
  }
}

}  // namespace skep::sim

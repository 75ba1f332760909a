// A client that watches events: what it is told is judged by EventReader. It stays away, stops
// reading, and goes on where it was, over the daemon's deaths.

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "proto/wire/enums_wire.h"
#include "proto/wire/status_wire.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "tests/sim/event_model.h"
#include "tests/sim/raw_wire.h"

#include "proto/skep/v1/event_service.pb.h"

namespace skep::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// As EventModel names what the workload makes.
constexpr std::pair<v1::EventKind, std::string_view> kKinds[] = {
    {v1::EVENT_KIND_TRANSACTIONS_OPENED, "opened"},
    {v1::EVENT_KIND_COMMITTED, "committed"},
    {v1::EVENT_KIND_ABORTED, "aborted"},
    {v1::EVENT_KIND_WRITE_IDS_ALLOCATED, "allocated"},
    {v1::EVENT_KIND_TABLE_ADDED, "added"},
    {v1::EVENT_KIND_TABLE_DROPPED, "dropped"},
    {v1::EVENT_KIND_PARTITIONS_ADDED, "partition"},
    {v1::EVENT_KIND_COMPACTION_CHANGED, "compaction"},
};

std::vector<Fact> FactsOf(const v1::Event& event) {
  std::string kind(fmt::format("kind {}", static_cast<int>(event.kind())));
  for (const auto& [wire, name] : kKinds) {
    if (wire == event.kind()) kind = name;
  }
  std::vector<Fact> facts;
  const auto add = [&](std::string text) { facts.push_back({kind, std::move(text)}); };
  switch (event.kind()) {
    case v1::EVENT_KIND_TRANSACTIONS_OPENED:
      for (int64_t id = event.opened().first_txn_id(); id <= event.opened().last_txn_id(); ++id) {
        add(std::to_string(id));
      }
      break;
    case v1::EVENT_KIND_COMMITTED:
      if (!event.committed().more()) add(std::to_string(event.committed().txn_id()));
      break;
    case v1::EVENT_KIND_ABORTED:
      add(fmt::format(
          "{} {}",
          event.aborted().txn_id(),
          static_cast<int>(
              wire::FromProto(event.aborted().cause(), "cause").value_or(AbortCause::kNone))));
      break;
    case v1::EVENT_KIND_WRITE_IDS_ALLOCATED:
      for (const auto& given : event.write_ids_allocated().allocations()) {
        add(fmt::format("{} {} {}",
                        event.write_ids_allocated().table().table_id(),
                        given.write_id(),
                        given.txn_id()));
      }
      break;
    case v1::EVENT_KIND_TABLE_ADDED:
      add(std::to_string(event.table_added().table().table_id()));
      break;
    case v1::EVENT_KIND_TABLE_DROPPED:
      add(std::to_string(event.table_dropped().table().table_id()));
      break;
    case v1::EVENT_KIND_PARTITIONS_ADDED:
      for (const std::string& name : event.partitions_added().partitions()) {
        add(fmt::format("{} {}", event.partitions_added().table().table_id(), name));
      }
      break;
    case v1::EVENT_KIND_COMPACTION_CHANGED: {
      const auto state = wire::FromProto(event.compaction_changed().state(), "state");
      add(fmt::format("{} {}",
                      event.compaction_changed().compaction_id(),
                      state.ok() ? CompactionStateName(*state) : "?"));
      break;
    }
    default:
      add("");
  }
  return facts;
}

class EventClient {
 public:
  EventClient(World& world, Actor& actor) : wire_(world, actor) {}

  void Run() {
    while (!world().stopping()) {
      std::set<std::string> names;
      kinds_.clear();
      if (dice().OneIn(3)) {
        for (const auto& [kind, name] : kKinds) {
          if (!dice().OneIn(3)) continue;
          kinds_.push_back(kind);
          names.insert(std::string(name));
        }
      }
      reader_ = std::make_unique<EventReader>(
          world().truth().events(), names, [this](const std::string& what) {
            world().Fail(wire_.actor.name() + ": " + what);
          });
      begun_ = false;
      for (int64_t left = dice().Between(1, 40); left > 0 && !world().stopping(); --left) {
        if (!Watch()) break;
        wire_.Think(dice().OneIn(6) ? Nanos(seconds(60)) : Nanos(seconds(2)));
      }
    }
  }

 private:
  struct Heard {
    std::deque<std::string> messages;
    std::optional<absl::Status> end;
  };

  World& world() { return wire_.world; }
  Dice& dice() { return wire_.dice(); }

  // One stream to its end. False: he must begin anew.
  bool Watch() {
    v1::WatchEventsRequest request;
    for (const v1::EventKind kind : kinds_) request.add_kinds(kind);
    if (begun_) {
      request.mutable_after()->set_seq(reader_->seq().value());
      request.mutable_after()->set_index(reader_->index());
    }
    at_least_ = world().history().acknowledged();
    first_ = true;
    auto heard = std::make_shared<Heard>();
    StreamEvents events;
    events.received = [heard](const std::string& bytes) { heard->messages.push_back(bytes); };
    events.ended = [heard](const absl::Status& status, bool) { heard->end = status; };
    SimWatch watch(
        world().streams(), wire_.life.link, Daemon::Door::kEvents, request, std::move(events));
    world().Count("watches");
    const MonoTime until = world().scheduler().now() + dice().Delay(seconds(1), seconds(300));
    while (!world().stopping() && world().scheduler().now() < until) {
      if (!Wait(watch, *heard)) return begun_;  // nobody knows what became of it
      while (!heard->messages.empty()) {
        Take(heard->messages.front());
        heard->messages.pop_front();
      }
      if (heard->end) return Ended(*heard->end);
      if (dice().OneIn(60)) wire_.actor.StandStill(dice().Delay(seconds(1), seconds(40)));
    }
    return true;
  }

  // A sound stream is never silent for long: where nothing happens, it says so.
  bool Wait(const SimWatch& watch, const Heard& heard) {
    constexpr seconds kLongest{30};
    const MonoTime since = world().scheduler().now();
    bool late = false;
    const auto timer = world().scheduler().After(
        kLongest, [&late] { late = true; }, wire_.actor.process());
    wire_.actor.WaitFor(
        [&] { return late || !heard.messages.empty() || heard.end || world().stopping(); });
    world().scheduler().Cancel(timer);
    // Who stood still himself finds what came meanwhile in any order.
    if (late) wire_.actor.Sleep(seconds(1));
    if (!late || !heard.messages.empty() || heard.end) return true;
    if (watch.sound() && world().daemon().CalmSince(since)) {
      world().Fail(wire_.actor.name() + " hears nothing on a stream that is sound");
    }
    return false;
  }

  void Take(const std::string& bytes) {
    v1::WatchEventsResponse response;
    response.ParseFromString(bytes);
    const CommitSeq seq(response.revision().seq());
    if (std::exchange(first_, false) && !begun_) {
      if (seq < at_least_) {
        world().Fail(
            fmt::format("events begin behind unit {} after the commit of unit {} was "
                        "acknowledged",
                        seq.value(),
                        at_least_.value()));
      }
      begun_ = true;
      return reader_->Begin(seq);
    }
    for (const v1::Event& event : response.events()) {
      world().Count("events");
      reader_->Told(CommitSeq(event.revision().seq()), event.revision().index(), FactsOf(event));
    }
    reader_->UpTo(seq, response.revision().index());
  }

  bool Ended(const absl::Status& status) {
    const ErrorReason reason = ReasonOf(status);
    if (reason == ErrorReason::kInvalidRequest) {
      world().Fail(wire_.actor.name() + " cannot go on: " + status.ToString());
    }
    if (reason != ErrorReason::kWatchTooOld) return true;
    world().Count("watches too old");
    CommitSeq oldest;
    for (const auto& [key, value] : MetadataOf(status)) {
      if (key == "oldestRevision") oldest = CommitSeq(ParseInt64(value).value_or(0));
    }
    // Who had seen everything goes on without a gap.
    const bool behind =
        reader_->seq() < oldest || (reader_->seq() == oldest && reader_->index() != 0);
    const bool was_kept = !world().few_events() && reader_->seq() >= world().daemon().loaded() &&
                          reader_->index() == 0;
    if (!behind || was_kept || oldest > world().truth().events().last()) {
      world().Fail(fmt::format("{} had seen events up to unit {}.{} and is refused: {}",
                               wire_.actor.name(),
                               reader_->seq().value(),
                               reader_->index(),
                               MessageOf(status)));
    }
    return false;
  }

  RawWire wire_;
  std::vector<v1::EventKind> kinds_;
  std::unique_ptr<EventReader> reader_;
  bool begun_ = false;
  bool first_ = false;
  CommitSeq at_least_;
};

}  // namespace

void EventScript(World& world, Actor& actor) { EventClient(world, actor).Run(); }

}  // namespace skep::sim

#include "server/rpc/event_service.h"

#include <utility>

#include <fmt/format.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/status_wire.h"
#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::rpc {

EventService::EventService(const Options& options, loop::BatchCore& core)
    : options_(options),
      core_(core),
      log_(options.log, core.state().Summary({core.clock().Now(), core.clock().MonoNow()}).seq) {
  core_.SendEvents(this);
  ArmSignsOfLife();
}

EventService::~EventService() {
  core_.SendEvents(nullptr);
  for (const auto& timer : {pump_, sign_}) {
    if (timer) core_.executor().Cancel(*timer);
  }
  for (const auto& [stream, watcher] : watchers_) {
    if (watcher.last_words) core_.executor().Cancel(*watcher.last_words);
  }
}

std::unique_ptr<loop::StreamService> EventService::MakeStreams() {
  return std::make_unique<loop::GrpcStreamService>(
      std::vector<std::string>{"/skep.v1.EventService/WatchEvents"}, *this);
}

void EventService::UnitPublished(CommitSeq seq, Timestamp time, std::vector<state::Event>& events) {
  const bool any = !events.empty();
  log_.Append(seq, time, events);
  if (any && !watchers_.empty()) PumpSoon();
}

void EventService::Message(loop::Stream& stream, std::string bytes) {
  if (watchers_.contains(&stream)) return;  // one request a call
  v1::WatchEventsRequest request;
  if (!stream.Parse(bytes, request)) return;
  const absl::Status begun = Begin(stream, request);
  if (!begun.ok()) stream.Finish(wire::ToGrpc(begun));
}

absl::Status EventService::Begin(loop::Stream& stream, const v1::WatchEventsRequest& request) {
  SKEP_ASSIGN_OR_RETURN(EventFilter filter, EventFilter::FromProto(request));
  int64_t next = log_.end();
  if (request.has_after()) {
    if (request.after().seq() < 0) return wire::BadField("after.seq", "is negative");
    if (request.after().index() < 0) return wire::BadField("after.index", "is negative");
    SKEP_ASSIGN_OR_RETURN(next,
                          log_.After({CommitSeq(request.after().seq()), request.after().index()}));
  }
  if (watchers_.size() >= options_.max_watchers) {
    return MakeError(ErrorReason::kOverloaded,
                     fmt::format("{} watchers are the most that there can be; end one, or watch "
                                 "through one stream what many want to know",
                                 options_.max_watchers),
                     {{"limit", std::to_string(options_.max_watchers)}});
  }
  Watcher& watcher = watchers_[&stream];
  watcher.filter = std::move(filter);
  watcher.next = next;
  v1::WatchEventsResponse response;
  if (request.has_after()) {
    // What was seen stays seen, also where the event before it is of an older unit.
    *response.mutable_revision() = request.after();
  } else {
    ToProto(SeenBefore(next), response.mutable_revision());
  }
  stream.Write(response);
  PumpSoon();
  return absl::OkStatus();
}

void EventService::Writable(loop::Stream& stream) {
  const auto it = watchers_.find(&stream);
  if (it != watchers_.end()) Pump(stream, it->second);
}

void EventService::Closed(loop::Stream& stream) {
  const auto it = watchers_.find(&stream);
  if (it == watchers_.end()) return;
  if (it->second.last_words) core_.executor().Cancel(*it->second.last_words);
  watchers_.erase(it);
}

void EventService::PumpSoon() {
  if (pump_) return;
  pump_ = core_.executor().PostAt(core_.clock().MonoNow() + options_.gather, [this] {
    pump_.reset();
    PumpAll();
  });
}

void EventService::PumpAll() {
  // Pump may end a stream, which is taken out of the map only when its end is heard of.
  for (auto& [stream, watcher] : watchers_) Pump(*stream, watcher);
}

loop::Revision EventService::SeenBefore(int64_t next) const {
  if (next == log_.end()) return {log_.newest(), 0};
  if (next == log_.begin()) return {log_.oldest(), 0};
  return log_.At(next - 1).revision();
}

void EventService::Pump(loop::Stream& stream, Watcher& watcher) {
  if (watcher.cut) return;
  if (watcher.next < log_.begin()) return CutSlow(stream, watcher);
  if (stream.busy()) return;
  v1::WatchEventsResponse response;
  size_t bytes = 0;
  size_t count = 0;
  size_t looks = 0;
  while (watcher.next < log_.end() && looks++ < options_.max_looks &&
         count < options_.max_events_per_message && bytes < options_.max_bytes_per_message) {
    const loop::EventLog::Entry& entry = log_.At(watcher.next++);
    if (!watcher.filter.Matches(entry.event)) continue;
    v1::Event* const event = response.add_events();
    ToProto(entry, event);
    bytes += event->ByteSizeLong();
    ++count;
  }
  if (count == 0) {
    if (watcher.next < log_.end()) PumpSoon();
    return;
  }
  ToProto(SeenBefore(watcher.next), response.mutable_revision());
  watcher.told = true;
  stream.Write(response);  // the next message when this one has left
}

void EventService::CutSlow(loop::Stream& stream, Watcher& watcher) {
  loop::Stream* const slow = &stream;
  watcher.cut = true;
  watcher.last_words =
      core_.executor().PostAt(core_.clock().MonoNow() + options_.last_words, [this, slow] {
        watchers_.at(slow).last_words.reset();
        slow->Cut();
      });
  stream.Finish(wire::ToGrpc(MakeError(
      ErrorReason::kOverloaded,
      fmt::format("the watcher did not read, and the events that come next for it are no longer "
                  "kept: nothing before unit {} is; list what is there now, then watch from there",
                  log_.oldest().value()),
      {{"limit", std::to_string(options_.log.max_events)},
       {"oldestRevision", log_.oldest().ToString()}})));
}

void EventService::ArmSignsOfLife() {
  sign_ = core_.executor().PostAt(core_.clock().MonoNow() + options_.sign_of_life, [this] {
    SignsOfLife();
    ArmSignsOfLife();
  });
}

void EventService::SignsOfLife() {
  for (auto& [stream, watcher] : watchers_) {
    const bool told = std::exchange(watcher.told, false);
    if (told || watcher.cut || stream->busy() || watcher.next != log_.end()) continue;
    v1::WatchEventsResponse response;
    ToProto(SeenBefore(watcher.next), response.mutable_revision());
    stream->Write(response);
  }
}

}  // namespace skep::rpc

#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/loop/batch_core.h"
#include "server/loop/event_log.h"
#include "server/loop/grpc_stream.h"
#include "server/rpc/event_messages.h"

namespace skep::rpc {

inline constexpr char kEventServiceName[] = "skep.v1.EventService";

// EventService: the log of the core's events and those who watch it. Watchers are told a moment
// after the answers of a unit have left, so that a commit waits for none of them. Each has a place
// in the log and at most one message on its way: a watcher that does not read costs nothing, and is
// cut once the log has dropped what comes next for it. Confined to the loop's thread.
class EventService final : public loop::StreamHandler, private loop::EventSink {
 public:
  struct Options {
    loop::EventLog::Options log;
    size_t max_watchers = 1'000;
    size_t max_looks = 4'096;  // at events that may not be for the watcher, at one time
    size_t max_events_per_message = 500;
    size_t max_bytes_per_message = 256 << 10;  // roughly
    std::chrono::nanoseconds gather = std::chrono::milliseconds(2);
    std::chrono::nanoseconds sign_of_life = std::chrono::seconds(10);
    // How long a watcher that was cut may take to read that it was.
    std::chrono::nanoseconds last_words = std::chrono::seconds(30);
  };

  // `core` must outlive it. Before the core's first unit.
  EventService(const Options& options, loop::BatchCore& core);
  ~EventService() override;

  // To be given to the transport; borrows this.
  std::unique_ptr<loop::StreamService> MakeStreams();
  const loop::EventLog& log() const { return log_; }
  size_t watchers() const { return watchers_.size(); }

  void Message(loop::Stream& stream, std::string bytes) override;
  void Writable(loop::Stream& stream) override;
  void HalfClosed(loop::Stream&) override {}
  void Closed(loop::Stream& stream) override;

 private:
  struct Watcher {
    EventFilter filter;
    int64_t next = 0;   // number of the event that it is told next
    bool told = false;  // since the last sign of life
    bool cut = false;   // it is told why, and nothing else any more
    std::optional<Executor::TimerId> last_words;
  };

  void UnitPublished(CommitSeq seq, Timestamp time, std::vector<state::Event>& events) override;
  absl::Status Begin(loop::Stream& stream, const v1::WatchEventsRequest& request);
  void PumpSoon();
  void PumpAll();
  void Pump(loop::Stream& stream, Watcher& watcher);
  void SignsOfLife();
  void ArmSignsOfLife();
  void CutSlow(loop::Stream& stream, Watcher& watcher);
  // Everything before event `next` was seen.
  loop::Revision SeenBefore(int64_t next) const;

  const Options options_;
  loop::BatchCore& core_;
  loop::EventLog log_;
  std::map<loop::Stream*, Watcher> watchers_;
  std::optional<Executor::TimerId> pump_;
  std::optional<Executor::TimerId> sign_;
};

}  // namespace skep::rpc

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "client/session/caller.h"
#include "client/session/heartbeater.h"
#include "client/session/session_impl.h"
#include "skep/session.h"
#include "tests/sim/world.h"

namespace skep::sim {

// What a client process stands on, from its start to its end: production's ports, simulated. In a
// script; goes before its actor.
class ClientLife {
 public:
  ClientLife(World& world, Actor& actor)
      : link(std::make_shared<Link>(Link{actor.process(), {}, false})),
        executor(world.scheduler(), actor.process()),
        beat_executor(world.scheduler(), actor.process()),
        calls(std::make_unique<SimTransport>(world.network(), link)),
        beats(std::make_unique<SimTransport>(world.network(), link)),
        connector(std::make_unique<SimConnector>(world.streams(), link)) {}
  ~ClientLife() {
    link->dead = true;
    executor.Stop();
    beat_executor.Stop();
    calls.reset();
    beats.reset();
  }

  const std::shared_ptr<Link> link;  // shared with its calls under way
  SimExecutor executor;
  SimExecutor beat_executor;
  ActorBlocker blocker;
  std::unique_ptr<SimTransport> calls;
  std::unique_ptr<SimTransport> beats;
  std::unique_ptr<SimConnector> connector;
};

inline client::RetryOptions ShortRetries() {
  client::RetryOptions retry;
  retry.longest_pause = std::chrono::milliseconds(1'000);
  return retry;
}

// A refusal that no client may ever meet, whatever it did: a promise is broken behind it.
void CheckRefusal(World& world, const std::string& who, const absl::Status& status);
// What the refusal of its commit says about a transaction.
void NoteRefusedCommit(World& world, TxnId txn, const absl::Status& status);

}  // namespace skep::sim

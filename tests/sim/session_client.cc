// Client processes that use the production library: one session, a stream under it or not, and
// threads that share it.

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "tests/sim/client_life.h"
#include "tests/sim/session_txn.h"

namespace skep::sim {

void CheckRefusal(World& world, const std::string& who, const absl::Status& status) {
  if (!status.ok()) {
    const ErrorReason reason = ReasonOf(status);
    world.Count("refused " + (reason == ErrorReason::kUnspecified
                                  ? absl::StatusCodeToString(status.code())
                                  : std::string(ReasonName(reason))));
  }
  switch (ReasonOf(status)) {
    case ErrorReason::kInternal:
    case ErrorReason::kCorruptStore:
    case ErrorReason::kNoSuchTxn:
    case ErrorReason::kNotEnoughHistory:
      world.Fail(who + " is answered " + status.ToString());
      break;
    default:
      break;
  }
}

void NoteRefusedCommit(World& world, TxnId txn, const absl::Status& status) {
  const ErrorReason reason = ReasonOf(status);
  if (reason != ErrorReason::kTxnAborted && reason != ErrorReason::kWriteConflict) return;
  world.history().ToldAborted(txn);
  if (reason != ErrorReason::kWriteConflict) return;
  for (const auto& [key, value] : MetadataOf(status)) {
    if (key != "winnerTxnId") continue;
    if (const auto winner = ParseInt64(value)) world.history().LostTo(txn, TxnId(*winner));
  }
}

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kMostTransactions = 60;

client::SessionOptions OptionsOf(World& world, const Actor& actor) {
  client::SessionOptions options;
  options.user = actor.name();
  options.host = "sim";
  options.call_deadline = milliseconds(world.dice().Between(1'000, 10'000));
  options.lock_deadline = milliseconds(world.dice().Between(500, 40'000));
  options.retry = ShortRetries();
  options.stream = !world.dice().OneIn(4);
  return options;
}

}  // namespace

// One process after the other, each from its connection to its end.
void SessionScript(World& world, Actor& actor, SharedSession& shared) {
  Dice& dice = world.dice();
  while (!world.stopping()) {
    auto life = std::make_shared<ClientLife>(world, actor);
    client::SessionPorts ports{*life->calls,
                               *life->beats,
                               life->executor,
                               life->beat_executor,
                               world.clock(),
                               dice,
                               life->blocker,
                               life,
                               life->connector.get()};
    {
      client::Session session(
          std::make_shared<client::SessionImpl>(OptionsOf(world, actor), std::move(ports)));
      shared.link = life->link;
      shared.session = &session;
      life.reset();
      for (int64_t left = dice.Between(3, kMostTransactions); left > 0 && !world.stopping();
           --left) {
        actor.Sleep(dice.Delay(milliseconds(1), seconds(2)));
        if (shared.link->dead || !RunSessionTxn(world, actor, session, *shared.link)) break;
        if (dice.OneIn(30)) {
          shared.link->cut_until = world.scheduler().now() + dice.Delay(seconds(1), seconds(60));
        }
      }
      shared.session = nullptr;
      actor.WaitFor([&shared] { return shared.users == 0; });
      if (const client::SessionStream* const stream = session.impl().stream()) {
        const client::SessionStream::Counts counts = stream->counts();
        world.Count("session operations", counts.operations);
        world.Count("session messages", counts.messages);
        world.Count("session streams", counts.streams);
        world.Count("session fences", counts.fences);
        world.Count("session calls sent unary", counts.unary);
      }
    }
    actor.Sleep(dice.Delay(milliseconds(100), seconds(20)));
  }
}

void ThreadScript(World& world, Actor& actor, SharedSession& shared) {
  Dice& dice = world.dice();
  while (!world.stopping()) {
    actor.Sleep(dice.Delay(milliseconds(1), seconds(3)));
    if (shared.session == nullptr || shared.link->dead) continue;
    ++shared.users;
    RunSessionTxn(world, actor, *shared.session, *shared.link);
    --shared.users;
  }
}

}  // namespace skep::sim

// A client that sends nonsense: every refusal is the right one, and nothing is left of it.

#include <string>
#include <utility>

#include "tests/sim/client_life.h"

namespace skep::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Ids that do not exist, the same request id for different things, calls nobody waits for.
class Hostile {
 public:
  Hostile(World& world, Actor& actor)
      : world_(world),
        actor_(actor),
        life_(world, actor),
        caller_({*life_.calls, life_.executor, world.clock(), world.dice(), life_.blocker},
                ShortRetries()) {}

  void Run() {
    while (!world_.stopping()) {
      actor_.Sleep(dice().Delay(milliseconds(10), seconds(3)));
      One();
    }
  }

 private:
  Dice& dice() { return world_.dice(); }
  int64_t AnyId() {
    static constexpr int64_t kIds[] = {0, -1, INT64_MAX, INT64_MIN};
    const int64_t which = dice().Below(8);
    return which < 4 ? kIds[which] : dice().Below(1'000'000) + 100'000'000;
  }
  std::string RequestId() { return std::string(16, static_cast<char>('a' + dice().Below(3))); }
  template <class Request>
  auto Send(Request request) {
    return caller_.Call(std::move(request),
                        world_.clock().MonoNow() + milliseconds(dice().Between(1, 3'000)));
  }

  void One() {
    switch (dice().Below(7)) {
      case 0: {
        v1::CommitTransactionRequest request;
        request.set_txn_id(AnyId());
        return MustFail(Send(std::move(request)).status(), "a commit of nothing");
      }
      case 1: {
        v1::AbortTransactionsRequest request;
        for (int i = 0; i < 5; ++i) request.add_txn_ids(dice().Below(1'000'000) + 100'000'000);
        return Send(std::move(request)).status().IgnoreError();
      }
      case 2: {
        v1::HeartbeatTransactionsRequest request;
        for (int i = 0; i < 5; ++i) request.add_txn_ids(AnyId());
        request.add_lock_ids(AnyId());
        return Send(std::move(request)).status().IgnoreError();
      }
      case 3: {
        v1::AllocateWriteIdsRequest request;
        request.mutable_table()->set_database("db");
        request.mutable_table()->set_table("u0");
        request.add_txn_ids(AnyId());
        return MustFail(Send(std::move(request)).status(), "a write id for nobody");
      }
      case 4: {
        v1::ReleaseLockRequest request;
        request.set_lock_id(dice().Below(1'000'000) + 100'000'000);
        return Send(std::move(request)).status().IgnoreError();
      }
      case 5:
        return Repeat();
      default: {
        v1::AcquireLocksRequest request;
        request.set_txn_id(AnyId());
        return MustFail(Send(std::move(request)).status(), "a lock on nothing");
      }
    }
  }

  void MustFail(const absl::Status& status, const std::string& what) {
    if (status.ok()) world_.Fail(what + " succeeded");
  }

  // The same request id again and again, sometimes with other contents: the ids that come back for
  // equal contents are the same as long as one of them lives.
  void Repeat() {
    v1::OpenTransactionsRequest request;
    request.set_count(static_cast<int32_t>(dice().Between(1, 2)));
    request.set_user("hostile");
    request.set_host("sim");
    request.mutable_txn_timeout()->set_seconds(5);
    request.set_request_id(RequestId());
    request.set_repeat(dice().OneIn(2));
    Send(std::move(request)).status().IgnoreError();
  }

  World& world_;
  Actor& actor_;
  ClientLife life_;
  client::Caller caller_;
};

}  // namespace

void HostileScript(World& world, Actor& actor) { Hostile(world, actor).Run(); }

}  // namespace skep::sim

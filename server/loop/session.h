#pragma once

// A session and what it waits for. Private to the sessions.

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <absl/container/flat_hash_set.h>

#include "server/loop/sessions.h"

namespace skep::loop {

// What is answered to operations that do not end anything, once the server drains.
absl::Status RefusedWhileDraining();

// Waits for the end of a queued request in the stead of the operation that asked for it.
class LockWatch final : public LockWaiter {
 public:
  LockWatch(Sessions& sessions,
            std::weak_ptr<Session> session,
            LockId lock,
            int64_t operation,
            TxnId begun,
            WhenLockEnds then)
      : operation(operation),
        begun(begun),
        then(std::move(then)),
        sessions_(sessions),
        session_(std::move(session)),
        lock_(lock) {}

  void Answer(const absl::StatusOr<state::LockAnswer>& answer) override {
    if (const auto session = session_.lock()) sessions_.LockEnded(session, lock_, answer);
  }

  const int64_t operation;
  const TxnId begun;  // of a fused begin: nobody beats for it yet
  WhenLockEnds then;

 private:
  Sessions& sessions_;
  const std::weak_ptr<Session> session_;
  const LockId lock_;
};

struct Session {
  explicit Session(const SessionLedger::Limits& limits) : ledger(limits) {}

  std::string id;
  int64_t epoch = 0;
  bool fenced = false;
  SessionLedger ledger;
  Stream* stream = nullptr;
  bool welcome = false;  // the stream's first message is to be sent
  MonoTime heard{};      // when its client was last heard, or the stream ended, or it was fenced
  MonoTime write_began{};
  bool dirty = false;
  std::unordered_map<LockId, std::unique_ptr<LockWatch>> watches;
  std::optional<Executor::TimerId> timer;
  // What a beat of the session keeps alive: opened by it, and neither ended by it nor reported as
  // ended nor left.
  absl::flat_hash_set<TxnId> txns;
  absl::flat_hash_set<LockId> locks;  // outside transactions
};

}  // namespace skep::loop

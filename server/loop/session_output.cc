// What sessions send: answers of units, grants, word of aborted transactions.
#include <utility>

#include <fmt/format.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "proto/wire/status_wire.h"
#include "server/loop/session.h"
#include "server/loop/session_wire.h"
#include "server/loop/sessions.h"
#include "storage/base/log.h"
#include "storage/model/errors.h"

namespace skep::loop {

// ---- what leaves ----

void Sessions::MarkDirty(const SessionPtr& session) {
  if (!session->dirty) {
    session->dirty = true;
    dirty_.push_back(session);
  }
  if (in_message_ || unit_ends_ || delivery_posted_) return;
  delivery_posted_ = true;
  core_.executor().Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    delivery_posted_ = false;
    // With the unit that is open now, if there is one.
    if (!core_.HasUnit()) DeliverAll();
  });
}

void Sessions::DeliverAll() {
  for (const SessionPtr& session : std::exchange(dirty_, {})) {
    session->dirty = false;
    Deliver(*session);
  }
}

void Sessions::Writable(Stream& stream) {
  const auto found = streams_.find(&stream);
  if (found != streams_.end() && found->second) Deliver(*found->second);
}

void Sessions::Deliver(Session& session) {
  Stream* const stream = session.stream;
  if (stream == nullptr || (!session.welcome && !session.ledger.HasOutput())) return;
  if (stream->busy()) {
    if (session.ledger.unsent_bytes() <= options_.max_unread_bytes) return;  // Writable comes
    Log(LogLevel::kWarn,
        "session.does_not_read",
        {{"epoch", session.epoch}, {"bytes", session.ledger.unsent_bytes()}});
    stream->Cut();
    return EndStream(*stream, absl::CancelledError("the client does not read"));
  }
  SessionResponseBytes message;
  if (std::exchange(session.welcome, false)) {
    v1::SessionWelcome welcome;
    welcome.set_next_number(session.ledger.next_number());
    welcome.set_credit_operations(options_.limits.operations);
    welcome.set_credit_bytes(options_.limits.bytes);
    wire::ToProto(options_.lease, welcome.mutable_session_lease());
    message.Add(welcome);
  }
  const SessionLedger::Output output = session.ledger.TakeOutput(options_.max_message_bytes);
  for (const std::string_view answer : output.answers) message.AddAnswer(answer);
  for (const std::string_view notice : output.notices) message.AddNotice(notice);
  session.write_began = Now();
  stream->WriteBytes(message.Take());
}

void Sessions::Notify(const SessionPtr& session, int64_t operation, v1::SessionNotice& notice) {
  notice.set_number(session->ledger.next_notice());
  notice.set_operation(operation);
  const absl::Status added = session->ledger.AddNotice(notice.SerializeAsString());
  if (added.ok()) return MarkDirty(session);
  // A client that acknowledges nothing: it cannot be told what it missed, so it may not go on.
  Stream* const stream = session->stream;
  EndSession(session);
  if (stream != nullptr) EndStream(*stream, added);
}

// ---- units, locks, transactions ----

void Sessions::UnitEnds(const Effects* effects) {
  unit_ends_ = true;
  if (effects == nullptr || owners_.empty()) return;
  for (const Effect& effect : *effects) {
    const auto* erased = std::get_if<EraseTxn>(&effect);
    if (erased == nullptr) continue;
    const auto owner = owners_.find(erased->id);
    if (owner == owners_.end()) continue;
    const SessionPtr session = owner->second.lock();
    owners_.erase(owner);
    if (!session || session->fenced) continue;
    const absl::StatusOr<state::TxnInfo> txn =
        core_.state().GetTxn(erased->id, {core_.clock().Now(), core_.clock().MonoNow()});
    // Who aborts or loses against another has the answer to what it asked.
    if (!txn.ok() || txn->state != TxnState::kAborted || txn->cause == AbortCause::kUser ||
        txn->cause == AbortCause::kConflict) {
      continue;
    }
    v1::SessionNotice notice;
    notice.mutable_aborted_by_server()->set_txn_id(erased->id.value());
    notice.mutable_aborted_by_server()->set_abort_cause(wire::ToProto(txn->cause));
    Notify(session, 0, notice);
  }
}

void Sessions::UnitEnded() {
  unit_ends_ = false;
  DeliverAll();
}

void Sessions::LockEnded(const SessionPtr& session,
                         LockId lock,
                         const absl::StatusOr<state::LockAnswer>& answer) {
  const auto found = session->watches.find(lock);
  if (found == session->watches.end()) return;
  const std::unique_ptr<LockWatch> watch = std::move(found->second);
  session->watches.erase(found);
  // Not stored: the operation itself is answered so. Still waiting: the server is going.
  if (!answer.ok() || answer->state == LockState::kWaiting) return;
  watch->then(*answer,
              [this, weak = std::weak_ptr<Session>(session), operation = watch->operation](
                  v1::SessionNotice& notice) {
                const SessionPtr alive = weak.lock();
                if (alive && !alive->fenced) Notify(alive, operation, notice);
              });
}

absl::Status Sessions::Admit(const SessionCall& call) {
  const SessionMethod& method = call.method();
  if (draining_ && method.needs_credit()) return RefusedWhileDraining();
  const SessionLedger& ledger = call.session()->ledger;
  if (!method.commits || !ledger.has_failures()) return absl::OkStatus();
  for (const TxnId txn : call.txns()) {
    const std::string failure = ledger.FailureOf(txn);
    if (failure.empty()) continue;
    return MakeError(
        ErrorReason::kOperationNotAllowed,
        fmt::format("transaction {} cannot commit: {} came before in the stream and failed, so "
                    "its write set may not be complete; look at that answer, acknowledge it, then "
                    "commit or abort",
                    txn.value(),
                    failure),
        {{"txnId", txn.ToString()}, {"operation", "commit"}});
  }
  return absl::OkStatus();
}

std::string Sessions::RequestIdOf(const SessionCall& call) {
  return OperationRequestId(call.session()->id, call.number());
}

void Sessions::Failed(const SessionCall& call) {
  if (!call.method().changes) return;
  call.session()->ledger.NoteFailure(call.number(), call.method().method.path, call.txns());
}

bool Sessions::WatchLock(const SessionCall& call, LockId lock, WhenLockEnds then) {
  const SessionPtr& session = call.session();
  auto [it, added] = session->watches.try_emplace(lock);
  if (!added) return true;  // a repeat: its first operation hears of the end
  it->second = std::make_unique<LockWatch>(
      *this, session, lock, call.number(), call.opens(), std::move(then));
  core_.Park(lock, *it->second, MonoTime::max());
  return true;
}

void Sessions::Opened(const SessionCall& call, TxnId first, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const TxnId txn(first.value() + i);
    owners_[txn] = call.session();
    call.session()->txns.insert(txn);
  }
}

void Sessions::Asked(const SessionCall& call, LockId lock) { call.session()->locks.insert(lock); }

void Sessions::Ended(const SessionCall& call,
                     const std::vector<TxnId>& txns,
                     const std::vector<LockId>& locks) {
  for (const TxnId txn : txns) call.session()->txns.erase(txn);
  for (const LockId lock : locks) call.session()->locks.erase(lock);
}

void Sessions::AddOwn(const SessionCall& call,
                      const std::vector<TxnId>& left,
                      state::Heartbeat* beat) {
  Session& session = *call.session();
  for (const TxnId txn : left) session.txns.erase(txn);
  beat->txns.insert(beat->txns.end(), session.txns.begin(), session.txns.end());
  beat->locks.insert(beat->locks.end(), session.locks.begin(), session.locks.end());
}

// Whoever sends at all goes on waiting.
void Sessions::BeatForBegins(const Session& session) {
  state::Heartbeat beat;
  for (const auto& [lock, watch] : session.watches) {
    if (!watch->begun.is_none()) beat.txns.push_back(watch->begun);
  }
  if (beat.txns.empty()) return;
  core_.RunOwned(MakeCommand(
      [beat = std::move(beat)](state::State& state, state::Now now, state::Unit& unit) {
        state.Beat(beat, now, unit);
      },
      [](const absl::Status&) {}));
}

void Sessions::Answer(SessionCall& call, std::string answer) {
  const SessionPtr session = call.session();
  session->ledger.Answer(call.number(), std::move(answer));
  call.Clear();
  free_.push_back(&call);
  MarkDirty(session);
}

}  // namespace skep::loop

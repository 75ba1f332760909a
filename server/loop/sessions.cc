#include "server/loop/sessions.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/status_wire.h"
#include "server/loop/session.h"
#include "server/loop/session_wire.h"
#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::loop {
namespace {

constexpr std::chrono::seconds kOperationDeadline{30};

absl::Status BadMessage(std::string_view field, std::string_view what) {
  return MakeError(ErrorReason::kInvalidRequest, what, {{"field", std::string(field)}});
}

}  // namespace

absl::Status RefusedWhileDraining() {
  return MakeError(ErrorReason::kShuttingDown,
                   "the server is shutting down; repeat the operation with the same request id");
}

Sessions::Sessions(const Options& options, std::vector<SessionMethod> methods, BatchCore& core)
    : options_(options), core_(core) {
  for (SessionMethod& method : methods) {
    const auto field = static_cast<size_t>(method.field);
    if (methods_.size() <= field) methods_.resize(field + 1);
    methods_[field] = std::make_unique<SessionMethod>(std::move(method));
  }
  core_.Observe(this);
}

Sessions::~Sessions() {
  core_.Observe(nullptr);
  for (const auto& [id, session] : sessions_) {
    if (session->timer) core_.executor().Cancel(*session->timer);
    for (const auto& [lock, watch] : session->watches) core_.Forget(*watch);
  }
}

size_t Sessions::watched_locks() const {
  size_t count = 0;
  for (const auto& [id, session] : sessions_) count += session->watches.size();
  return count;
}

// ---- what arrives ----

void Sessions::Message(Stream& stream, std::string bytes) {
  if (stream.method() == kFence) return Fence(stream, bytes);
  in_message_ = true;
  SessionMessageArrived(stream, std::move(bytes));
  in_message_ = false;
  // What the open unit holds leaves with it, in one message with what does not need it.
  if (!core_.HasUnit()) DeliverAll();
}

void Sessions::SessionMessageArrived(Stream& stream, std::string bytes) {
  const auto known = streams_.try_emplace(&stream);
  const bool first = known.second;
  if (!first && !known.first->second) return;  // ended: what was under way is not taken
  const auto shared = std::make_shared<const std::string>(std::move(bytes));
  SessionMessage message;
  absl::Status status = ReadSessionMessage(*shared, &message);
  if (status.ok() && first != message.rest.has_hello()) {
    status = BadMessage("hello",
                        first ? "the first message of a stream says which session it belongs to"
                              : "only the first message of a stream may say hello");
  }
  if (status.ok() && first) status = Hello(stream, message.rest);
  if (!status.ok()) return EndStream(stream, status);
  const SessionPtr session = streams_[&stream];
  session->heard = Now();
  if (!first) status = Acknowledge(*session, message.rest);
  if (!session->watches.empty()) BeatForBegins(*session);
  if (status.ok()) status = RunAll(session, message.operations, shared);
  if (!status.ok()) return EndStream(stream, status);
  if (!message.rest.end()) return;
  Deliver(*session);
  EndSession(session);
  EndStream(stream, absl::OkStatus());
}

absl::Status Sessions::Hello(Stream& stream, const v1::SessionRequest& message) {
  const SessionClaim claim{
      message.hello().session_id(), message.hello().epoch(), message.hello().resume()};
  const auto found = sessions_.find(claim.id);
  std::optional<KnownSession> known;
  if (found != sessions_.end()) known = {found->second->epoch, found->second->fenced};
  SKEP_RETURN_IF_ERROR(DecideHello(known, claim));
  SessionPtr session;
  if (known) {
    session = found->second;
    if (session->stream != nullptr) {
      EndStream(*session->stream,
                MakeError(ErrorReason::kSessionFenced,
                          fmt::format("a stream of epoch {} took the session over", claim.epoch),
                          {{"epoch", std::to_string(claim.epoch)}}));
    }
    SKEP_RETURN_IF_ERROR(Acknowledge(*session, message));
    session->ledger.SendAgain();
  } else {
    if (draining_) return RefusedWhileDraining();
    if (sessions_.size() >= options_.max_sessions) {
      return MakeError(
          ErrorReason::kOverloaded,
          fmt::format("{} sessions are open; one per client process is enough", sessions_.size()),
          {{"limit", std::to_string(options_.max_sessions)}});
    }
    session = std::make_shared<Session>(options_.limits);
    session->id = claim.id;
    SKEP_RETURN_IF_ERROR(Acknowledge(*session, message));
    sessions_[claim.id] = session;
  }
  session->epoch = claim.epoch;
  session->stream = &stream;
  session->welcome = true;
  session->heard = Now();
  streams_[&stream] = session;
  MarkDirty(session);
  Arm(session);
  return absl::OkStatus();
}

absl::Status Sessions::Acknowledge(Session& session, const v1::SessionRequest& message) {
  if (message.answered_below() != 0 || message.answered_above_size() > 0) {
    SKEP_RETURN_IF_ERROR(session.ledger.Acknowledge(
        message.answered_below(),
        {message.answered_above().begin(), message.answered_above().end()}));
  }
  return session.ledger.AcknowledgeNotices(message.notices_below());
}

SessionMethod* Sessions::MethodOf(int field) {
  const auto index = static_cast<size_t>(field);
  return index < methods_.size() ? methods_[index].get() : nullptr;
}

// All numbers are taken before the first operation runs, in order; what was taken before a bad one
// runs all the same.
absl::Status Sessions::RunAll(const SessionPtr& session,
                              const std::vector<OperationBytes>& operations,
                              const std::shared_ptr<const std::string>& bytes) {
  struct Planned {
    const OperationBytes* operation;
    SessionMethod* method;
  };
  std::vector<Planned> planned;
  planned.reserve(operations.size());
  absl::Status status;
  bool has_first = false;
  for (const OperationBytes& operation : operations) {
    SessionMethod* const method = MethodOf(operation.field);
    const auto taken = session->ledger.Take(operation.number,
                                            std::ssize(operation.request),
                                            method == nullptr || method->needs_credit());
    if (!taken.ok()) {
      status = taken.status();
      break;
    }
    if (*taken == SessionLedger::Taken::kRepeat) continue;
    if (*taken == SessionLedger::Taken::kNoCredit) {
      const absl::Status refusal =
          MakeError(ErrorReason::kOverloaded,
                    "the session has no credit left; wait for answers and acknowledge them",
                    {{"limit", std::to_string(options_.limits.operations)}});
      session->ledger.NoteFailure(operation.number,
                                  MessageOf(refusal),
                                  method != nullptr && method->changes
                                      ? TxnsOf(operation.request, method->txn_field)
                                      : std::vector<TxnId>());
      session->ledger.Answer(operation.number, RefusalBytes(operation.number, refusal));
      MarkDirty(session);
      continue;
    }
    has_first |= method != nullptr && method->first;
    planned.push_back({&operation, method});
  }
  for (const bool first : {true, false}) {
    if (first && !has_first) continue;
    for (const Planned& plan : planned) {
      if ((plan.method != nullptr && plan.method->first) == first) {
        Run(session, *plan.operation, bytes);
      }
    }
  }
  return status;
}

void Sessions::Run(const SessionPtr& session,
                   const OperationBytes& operation,
                   const std::shared_ptr<const std::string>& bytes) {
  SessionMethod* const method = MethodOf(operation.field);
  if (method == nullptr) {
    const absl::Status refusal =
        MakeError(ErrorReason::kNotSupported,
                  fmt::format("operation {} asks for something that this server does not know",
                              operation.number),
                  {{"what", fmt::format("field {} of SessionOperation", operation.field)}});
    session->ledger.Answer(operation.number, RefusalBytes(operation.number, refusal));
    return MarkDirty(session);
  }
  if (free_.empty()) {
    calls_.push_back(std::make_unique<SessionCall>(static_cast<OperationHome&>(*this)));
    free_.push_back(calls_.back().get());
  }
  SessionCall* const call = free_.back();
  free_.pop_back();
  call->Begin(session, *method, operation, bytes, core_.clock().MonoNow() + kOperationDeadline);
  core_.Run(*call);
}

void Sessions::Fence(Stream& stream, const std::string& bytes) {
  v1::FenceSessionRequest request;
  if (!request.ParseFromString(bytes)) {
    return stream.Finish(wire::ToGrpc(wire::NotParsed()));
  }
  const auto found = sessions_.find(request.session_id());
  std::optional<KnownSession> known;
  if (found != sessions_.end()) known = {found->second->epoch, found->second->fenced};
  absl::Status status = DecideFence(known, request.session_id(), request.epoch());
  if (status.ok() && !known && sessions_.size() >= options_.max_sessions) {
    status = MakeError(ErrorReason::kOverloaded,
                       "too many sessions to remember another one",
                       {{"limit", std::to_string(options_.max_sessions)}});
  }
  if (!status.ok()) return stream.Finish(wire::ToGrpc(status));
  SessionPtr session;
  v1::FenceSessionResponse response;
  if (known) {
    session = found->second;
    response.set_known(true);
    response.set_next_number(session->ledger.next_number());
    if (session->stream != nullptr) {
      EndStream(*session->stream,
                MakeError(ErrorReason::kSessionFenced,
                          "the client goes on without the stream",
                          {{"epoch", std::to_string(request.epoch())}}));
    }
    // Its waiting requests stay queued: the client asks for them by CheckLock.
    for (const auto& [lock, watch] : session->watches) core_.Forget(*watch);
    session->watches.clear();
  } else {
    session = std::make_shared<Session>(options_.limits);
    session->id = request.session_id();
    sessions_[session->id] = session;
  }
  session->epoch = request.epoch();
  session->fenced = true;
  session->heard = Now();
  Arm(session);
  stream.Write(response);
  stream.Finish(grpc::Status::OK);
}

// ---- life of streams and sessions ----

void Sessions::EndStream(Stream& stream, const absl::Status& status) {
  const auto found = streams_.find(&stream);
  if (found != streams_.end()) {
    if (const SessionPtr session = std::exchange(found->second, nullptr)) Detach(*session);
  }
  stream.Finish(wire::ToGrpc(status));
}

void Sessions::Detach(Session& session) {
  session.stream = nullptr;
  session.welcome = false;
  session.heard = Now();
  const auto found = sessions_.find(session.id);
  if (found != sessions_.end() && found->second.get() == &session) Arm(found->second);
}

void Sessions::EndSession(const SessionPtr& session) {
  if (session->timer) core_.executor().Cancel(*session->timer);
  session->timer.reset();
  for (const auto& [lock, watch] : session->watches) core_.Forget(*watch);
  session->watches.clear();
  sessions_.erase(session->id);
}

void Sessions::Arm(const SessionPtr& session) {
  if (session->timer) core_.executor().Cancel(*session->timer);
  const std::chrono::nanoseconds lease = options_.lease;
  // A stream is looked at more often: somebody may have stopped reading.
  const MonoTime due = session->stream != nullptr ? Now() + lease / 3 : session->heard + lease;
  session->timer =
      core_.executor().PostAt(due + stalled_, [this, weak = std::weak_ptr<Session>(session)] {
        const SessionPtr alive = weak.lock();
        if (!alive) return;
        alive->timer.reset();
        Check(alive);
      });
}

void Sessions::Check(const SessionPtr& session) {
  const MonoTime now = Now();
  const std::chrono::nanoseconds lease = options_.lease;
  Stream* const stream = session->stream;
  if (stream == nullptr) {
    if (now - session->heard >= lease) return EndSession(session);
  } else if (stream->busy() && now - session->write_began >= lease / 3) {
    Log(LogLevel::kWarn, "session.does_not_read", {{"epoch", session->epoch}});
    stream->Cut();
    EndStream(*stream, absl::CancelledError("the client does not read"));
    return;
  } else if (now - session->heard >= lease) {
    EndStream(*stream,
              absl::DeadlineExceededError("nothing was heard from the client for one lease"));
    return;
  }
  Arm(session);
}

void Sessions::HalfClosed(Stream& stream) {
  if (stream.method() == kFence) return;
  const auto found = streams_.find(&stream);
  if (found == streams_.end()) {
    return stream.Finish(wire::ToGrpc(BadMessage("hello", "nothing was sent")));
  }
  if (!found->second) return;
  // What is not answered is kept for the session's next stream.
  Deliver(*found->second);
  EndStream(stream, absl::OkStatus());
}

void Sessions::Closed(Stream& stream) {
  const auto found = streams_.find(&stream);
  if (found == streams_.end()) return;
  const SessionPtr session = std::exchange(found->second, nullptr);
  streams_.erase(found);
  if (session) Detach(*session);
}

}  // namespace skep::loop

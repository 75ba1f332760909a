#include "client/session/lock_wait.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "proto/wire/enums_wire.h"
#include "proto/wire/lock_wire.h"
#include "storage/base/log.h"
#include "storage/base/random.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/model/quote.h"

namespace skep::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{1'000};
constexpr milliseconds kGiveUpDeadline{2'000};

bool IsLost(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded;
}

// "SHARED_WRITE on sales.orders held by transaction 17 of ann@host1 (nightly etl)"
std::string Describe(const v1::LockBlocker& blocker) {
  absl::StatusOr<LockKind> kind = wire::FromProto(blocker.kind(), "kind");
  absl::StatusOr<LockResource> resource = wire::FromProto(blocker.resource(), "resource");
  std::string text = kind.ok() ? std::string(LockKindName(*kind)) : "a lock";
  if (resource.ok()) text += " on " + resource->ToString();
  text += blocker.state() == v1::LOCK_STATE_WAITING ? " asked for earlier by " : " held by ";
  text += blocker.txn_id() == 0 ? "lock " + std::to_string(blocker.lock_id())
                                : "transaction " + std::to_string(blocker.txn_id());
  if (!blocker.user().empty()) text += " of " + OwnerText(blocker.user(), blocker.host());
  if (!blocker.agent().empty()) text += " (" + blocker.agent() + ")";
  return Printable(text);
}

class LockWait {
 public:
  LockWait(Caller& caller,
           v1::AcquireLocksRequest request,
           milliseconds wait,
           milliseconds call_deadline)
      : caller_(caller),
        request_(std::move(request)),
        wait_(wait),
        call_deadline_(call_deadline),
        until_(caller.clock().MonoNow() + wait) {}

  absl::StatusOr<LockGrant> Run() {
    absl::StatusOr<LockGrant> grant = Acquire();
    if (grant.ok() || !queued_) return grant;
    return GiveUp(std::move(grant));
  }

 private:
  MonoTime Now() const { return caller_.clock().MonoNow(); }

  absl::StatusOr<LockGrant> Acquire() {
    request_.set_no_wait(wait_.count() == 0);
    const MonoTime deadline = request_.no_wait() ? Now() + call_deadline_ : until_;
    while (true) {
      SetRequestId();
      queued_ = true;  // as far as we know, until an answer says otherwise
      absl::StatusOr<v1::AcquireLocksResponse> answer = caller_.Call(request_, deadline);
      if (answer.ok()) {
        id_ = LockId(answer->lock_id());
        Remember(*answer);
        if (answer->state() == v1::LOCK_STATE_WAITING) return Poll();
        return Decided(answer->state(), answer->snapshot_stale());
      }
      if (ReasonOf(answer.status()) == ErrorReason::kRequestIdExpired && Now() < deadline) {
        // A lost attempt that the server knows nothing of: nothing of it is queued.
        continue;
      }
      queued_ = IsLost(answer.status());
      if (answer.status().code() == absl::StatusCode::kDeadlineExceeded) return TimedOut();
      return answer.status();
    }
  }

  absl::StatusOr<LockGrant> Poll() {
    milliseconds pause = kFirstPause;
    while (Now() < until_) {
      Sleep(pause);
      pause = std::min(pause * 2, kLongestPause);
      v1::CheckLockRequest check;
      check.set_lock_id(id_.value());
      absl::StatusOr<v1::CheckLockResponse> answer =
          caller_.Call(std::move(check), std::max(until_, Now() + kGiveUpDeadline));
      if (answer.ok()) {
        Remember(*answer);
        if (answer->state() == v1::LOCK_STATE_WAITING) continue;
        return Decided(answer->state(), answer->snapshot_stale());
      }
      if (IsLost(answer.status())) continue;
      queued_ = ReasonOf(answer.status()) == ErrorReason::kUnspecified;
      return answer.status();
    }
    return TimedOut();
  }

  absl::StatusOr<LockGrant> Decided(v1::LockState state, bool stale) {
    queued_ = false;
    switch (state) {
      case v1::LOCK_STATE_ACQUIRED:
        return LockGrant{id_, stale};
      case v1::LOCK_STATE_NOT_ACQUIRED:
        return TimedOut();
      case v1::LOCK_STATE_ABORTED:
        return EndedWhileItWaited(request_.txn_id(), reason_);
      default:
        return MakeError(ErrorReason::kInternal,
                         "the server answered a lock request with state " + std::to_string(state));
    }
  }

  // Back to a state without a request in the queue; keeps `failed` unless the grant came first.
  absl::StatusOr<LockGrant> GiveUp(absl::StatusOr<LockGrant> failed) {
    if (id_.is_none()) {
      // The id is in an answer that was lost: the same request again tells it, or says that nothing
      // is queued.
      request_.set_repeat(true);
      absl::StatusOr<v1::AcquireLocksResponse> answer =
          caller_.Call(request_, Now() + kGiveUpDeadline);
      if (!answer.ok()) return failed;
      id_ = LockId(answer->lock_id());
      if (answer->state() == v1::LOCK_STATE_ACQUIRED)
        return LockGrant{id_, answer->snapshot_stale()};
      if (answer->state() != v1::LOCK_STATE_WAITING) return failed;
    }
    v1::ReleaseLockRequest release;
    release.set_lock_id(id_.value());
    absl::Status released = caller_.Call(std::move(release), Now() + kGiveUpDeadline).status();
    if (ReasonOf(released) == ErrorReason::kTxnOpen) return CheckOnce(std::move(failed));
    if (!released.ok()) {
      Log(LogLevel::kWarn,
          "lock.not_released",
          {{"lock_id", id_.value()}, {"error", MessageOf(released)}});
    }
    return failed;
  }

  // The release was refused because the lock is held: the grant came first.
  absl::StatusOr<LockGrant> CheckOnce(absl::StatusOr<LockGrant> failed) {
    v1::CheckLockRequest check;
    check.set_lock_id(id_.value());
    absl::StatusOr<v1::CheckLockResponse> answer =
        caller_.Call(std::move(check), Now() + kGiveUpDeadline);
    if (!answer.ok() || answer->state() != v1::LOCK_STATE_ACQUIRED) return failed;
    return LockGrant{id_, answer->snapshot_stale()};
  }

  void SetRequestId() {
    const Uuid id = MakeUuid(caller_.random());
    request_.set_request_id(std::string(id.begin(), id.end()));
    request_.set_repeat(false);
  }

  template <class Answer>
  void Remember(const Answer& answer) {
    reason_ = Printable(answer.reason());
    blockers_ = DescribeBlockers(answer.blocked_by());
  }

  absl::Status TimedOut() const { return NotGranted(wait_, blockers_); }

  void Sleep(milliseconds pause) {
    auto awake = std::make_shared<absl::Notification>();
    const MonoTime when = std::min(until_, Now() + pause);
    caller_.executor().PostAt(when, [awake] { awake->Notify(); });
    caller_.blocker().Wait(*awake);
  }

  Caller& caller_;
  v1::AcquireLocksRequest request_;
  const milliseconds wait_;
  const milliseconds call_deadline_;
  const MonoTime until_;
  bool queued_ = false;  // something of this request may stand in the server's queue
  LockId id_;
  std::string reason_;
  std::string blockers_;
};

}  // namespace

std::string DescribeBlockers(const google::protobuf::RepeatedPtrField<v1::LockBlocker>& blockers) {
  if (blockers.empty()) return "";
  std::string text = Describe(blockers[0]);
  if (blockers.size() > 1) text += " and " + std::to_string(blockers.size() - 1) + " more";
  return text;
}

absl::Status NotGranted(milliseconds wait, const std::string& blockers) {
  std::string text =
      wait.count() == 0 ? "the lock is not free"
                        : "the lock was not granted within " + std::to_string(wait.count()) + " ms";
  if (!blockers.empty()) text += ": " + blockers;
  text += ". Wait longer, or end the holder.";
  return absl::DeadlineExceededError(text);
}

absl::Status EndedWhileItWaited(int64_t txn, const std::string& reason) {
  return MakeError(ErrorReason::kTxnAborted,
                   "transaction " + std::to_string(txn) + " ended while it waited for a lock" +
                       (reason.empty() ? "" : ": " + reason) + ". Start the transaction again.",
                   {{"txnId", std::to_string(txn)}});
}

v1::LockKind ToWire(LockMode mode) {
  switch (mode) {
    case LockMode::kSharedRead:
      return v1::LOCK_KIND_SHARED_READ;
    case LockMode::kSharedWrite:
      return v1::LOCK_KIND_SHARED_WRITE;
    case LockMode::kExclWrite:
      return v1::LOCK_KIND_EXCL_WRITE;
    case LockMode::kExclusive:
      break;
  }
  return v1::LOCK_KIND_EXCLUSIVE;
}

void AddComponents(const std::vector<LockTarget>& targets,
                   google::protobuf::RepeatedPtrField<v1::LockComponent>* components) {
  for (const LockTarget& target : targets) {
    v1::LockComponent* component = components->Add();
    component->mutable_resource()->set_database(target.database);
    component->mutable_resource()->set_table(target.table);
    component->mutable_resource()->set_partition(target.partition);
    component->set_kind(ToWire(target.mode));
  }
}

absl::StatusOr<LockGrant> AcquireAndWait(Caller& caller,
                                         v1::AcquireLocksRequest request,
                                         milliseconds wait,
                                         milliseconds call_deadline) {
  return LockWait(caller, std::move(request), wait, call_deadline).Run();
}

}  // namespace skep::client

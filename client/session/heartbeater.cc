#include "client/session/heartbeater.h"

#include <algorithm>
#include <string>
#include <utility>

#include "client/session/rpc.h"
#include "proto/wire/enums_wire.h"
#include "storage/base/log.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::client {
namespace {

constexpr size_t kIdsPerCall = 10'000;  // the server's limit

absl::Status AbortedStatus(int64_t txn, const std::string& name) {
  return MakeError(ErrorReason::kTxnAborted,
                   "transaction " + std::to_string(txn) + " was aborted (" + name +
                       "). Start the transaction again.",
                   {{"txnId", std::to_string(txn)}, {"cause", name}});
}

absl::Status AbortedStatus(int64_t txn, v1::AbortCause wire_cause) {
  absl::StatusOr<AbortCause> cause = wire::FromProto(wire_cause, "abort_cause");
  return AbortedStatus(txn, cause.ok() ? std::string(AbortCauseName(*cause)) : "unknown");
}

}  // namespace

Heartbeater::Heartbeater(Transport& transport, Executor& executor, Clock& clock, Random& random)
    : transport_(transport), executor_(executor), clock_(clock), random_(random) {}

void Heartbeater::Add(std::shared_ptr<Lease> lease) {
  absl::MutexLock lock(&mutex_);
  if (stopped_) return;
  leases_[lease->txn().value()] = std::move(lease);
  const MonoTime when = clock_.MonoNow() + PeriodLocked();
  // A beat that is under way does not name the newcomer, but the one after it comes soon enough.
  if (timer_.has_value() && timer_time_ <= when) return;
  ScheduleLocked(when);
}

void Heartbeater::Remove(TxnId txn) {
  absl::MutexLock lock(&mutex_);
  leases_.erase(txn.value());
  if (leases_.empty() && timer_.has_value()) {
    executor_.Cancel(*timer_);
    timer_.reset();
  }
}

void Heartbeater::EndedByServer(TxnId txn, AbortCause cause) {
  absl::MutexLock lock(&mutex_);
  if (stopped_) return;
  EndLocked(txn.value(), AbortedStatus(txn.value(), std::string(AbortCauseName(cause))));
  if (leases_.empty() && timer_.has_value()) {
    executor_.Cancel(*timer_);
    timer_.reset();
  }
}

void Heartbeater::Stop() {
  absl::MutexLock lock(&mutex_);
  stopped_ = true;
  leases_.clear();
  if (timer_.has_value()) executor_.Cancel(*timer_);
  timer_.reset();
}

size_t Heartbeater::size() const {
  absl::MutexLock lock(&mutex_);
  return leases_.size();
}

std::chrono::nanoseconds Heartbeater::PeriodLocked() {
  std::chrono::milliseconds shortest = std::chrono::hours(24);
  for (const auto& [txn, lease] : leases_) shortest = std::min(shortest, lease->timeout());
  using Nanos = std::chrono::nanoseconds;
  return Nanos(
      static_cast<int64_t>(Jitter(random_, static_cast<double>(Nanos(shortest).count()) / 3, 0.1)));
}

void Heartbeater::ScheduleLocked(MonoTime when) {
  if (timer_.has_value()) executor_.Cancel(*timer_);
  timer_time_ = when;
  timer_ = executor_.PostAt(when, [this, schedule = ++schedule_] { Beat(schedule); });
}

void Heartbeater::Beat(uint64_t schedule) {
  std::vector<std::pair<std::shared_ptr<v1::HeartbeatTransactionsRequest>, Sent>> calls;
  MonoTime deadline;
  {
    absl::MutexLock lock(&mutex_);
    if (schedule != schedule_) return;
    timer_.reset();
    if (stopped_ || leases_.empty()) return;
    const MonoTime now = clock_.MonoNow();
    const std::chrono::nanoseconds period = PeriodLocked();
    // A beat that hangs must not eat the time of the next one.
    deadline = now + period / 2;
    for (const auto& [txn, lease] : leases_) {
      if (calls.empty() || calls.back().second.txns.size() == kIdsPerCall) {
        calls.emplace_back(std::make_shared<v1::HeartbeatTransactionsRequest>(),
                           Sent{now, {}, std::make_shared<v1::HeartbeatTransactionsResponse>()});
      }
      calls.back().first->add_txn_ids(txn);
      calls.back().second.txns.push_back(txn);
    }
    ScheduleLocked(now + period);
  }
  for (auto& [request, sent] : calls) {
    auto response = sent.response;
    transport_.Call(
        Rpc<v1::HeartbeatTransactionsRequest>::kMethod,
        request,
        response,
        deadline,
        [this, sent = std::move(sent)](TransportReply reply) { Answered(sent, reply.status); });
  }
}

void Heartbeater::Answered(const Sent& sent, const absl::Status& status) {
  if (!status.ok()) {
    Log(LogLevel::kWarn,
        "heartbeat.failed",
        {{"txns", static_cast<int64_t>(sent.txns.size())}, {"error", MessageOf(status)}});
  }
  absl::MutexLock lock(&mutex_);
  if (stopped_ || leases_.empty()) return;
  if (!status.ok()) {
    // Sooner than the next regular beat, but not in a loop: a fifth of the period.
    const MonoTime when = clock_.MonoNow() + PeriodLocked() / 5;
    if (!timer_.has_value() || when < timer_time_) ScheduleLocked(when);
    return;
  }
  for (int64_t txn : sent.txns) {
    auto found = leases_.find(txn);
    if (found != leases_.end()) found->second->Renew(sent.time);
  }
  for (const auto& ended : sent.response->aborted()) {
    EndLocked(ended.txn_id(), AbortedStatus(ended.txn_id(), ended.abort_cause()));
  }
  for (int64_t txn : sent.response->committed()) {
    EndLocked(txn,
              MakeError(ErrorReason::kTxnAlreadyCommitted,
                        "transaction " + std::to_string(txn) + " is committed",
                        {{"txnId", std::to_string(txn)}}));
  }
  for (int64_t txn : sent.response->not_found()) {
    EndLocked(txn,
              MakeError(ErrorReason::kNoSuchTxn,
                        "the server does not know transaction " + std::to_string(txn),
                        {{"txnId", std::to_string(txn)}}));
  }
  if (leases_.empty() && timer_.has_value()) {
    executor_.Cancel(*timer_);
    timer_.reset();
  }
}

void Heartbeater::EndLocked(int64_t txn, absl::Status final) {
  auto found = leases_.find(txn);
  if (found == leases_.end()) return;
  found->second->End(std::move(final));
  leases_.erase(found);
}

}  // namespace skep::client

#include <chrono>
#include <memory>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "tests/bench/rpc/cycles.h"
#include "tests/bench/rpc/figures.h"
#include "tests/bench/rpc/histogram.h"
#include "tests/bench/rpc/measure.h"

#include "proto/skep/v1/lock_service.grpc.pb.h"

namespace skep::bench {
namespace {

using Bound = Figure::Bound;
using Clock = std::chrono::steady_clock;
using std::chrono::minutes;
using std::chrono::seconds;

// Below what the server takes of one: more would not be queued.
constexpr int64_t kPerConnection = 100;

// A request that waits on the server, as a client's call.
struct Waiter {
  grpc::ClientContext context;
  v1::AcquireLocksResponse response;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v1::AcquireLocksResponse>> reader;
};

v1::AcquireLocksRequest Ask(v1::LockKind kind, bool no_wait = false) {
  v1::AcquireLocksRequest request;
  request.set_user("bench");
  request.set_no_wait(no_wait);
  auto* component = request.add_components();
  component->mutable_resource()->set_database("bench");
  component->mutable_resource()->set_table("busy");
  component->set_kind(kind);
  return request;
}

class Queue {
 public:
  Queue(Bed& bed, int64_t waiters)
      : clients_(bed.endpoint(), static_cast<int>(waiters / kPerConnection + 2)) {
    for (int64_t i = 0; i * kPerConnection < waiters + kPerConnection; ++i)
      stubs_.push_back(v1::LockService::NewStub(clients_.channel(static_cast<size_t>(i))));
  }

  // Who still waits gives up: the queue owns their calls until they are answered.
  ~Queue() {
    for (const auto& waiter : waiters_) waiter->context.TryCancel();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  int64_t Hold() {
    grpc::ClientContext context;
    v1::AcquireLocksResponse response;
    Must(stubs_[0]->AcquireLocks(&context, Ask(v1::LOCK_KIND_EXCLUSIVE), &response), "hold");
    return response.lock_id();
  }

  void Wait(v1::LockKind kind, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      waiters_.push_back(std::make_unique<Waiter>());
      Waiter& waiter = *waiters_.back();
      waiter.context.set_deadline(std::chrono::system_clock::now() + minutes(5));
      const size_t stub = static_cast<size_t>(i / kPerConnection) % stubs_.size();
      waiter.reader = stubs_[stub]->AsyncAcquireLocks(&waiter.context, Ask(kind), &queue_);
      waiter.reader->Finish(&waiter.response, &waiter.status, &waiter);
    }
  }

  // Until the server has `count` of them in its queue.
  void AwaitQueued(int64_t count) {
    for (;;) {
      grpc::ClientContext context;
      v1::AcquireLocksResponse probe;
      // Somebody who would wait behind all of them: its place says how many there are.
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
      const grpc::Status status =
          stubs_.back()->AcquireLocks(&context, Ask(v1::LOCK_KIND_EXCLUSIVE), &probe);
      if (status.ok() && probe.lock_id() != 0) Release(probe.lock_id());
      if (status.ok() && probe.queue_position() > count) return;
    }
  }

  void Release(int64_t lock) {
    grpc::ClientContext context;
    v1::ReleaseLockRequest request;
    request.set_lock_id(lock);
    v1::ReleaseLockResponse response;
    Must(stubs_[0]->ReleaseLock(&context, request, &response), "release");
  }

  // The lock of the next call that is answered.
  int64_t Next() {
    void* tag = nullptr;
    bool ok = false;
    if (!queue_.Next(&tag, &ok)) return 0;
    auto* waiter = static_cast<Waiter*>(tag);
    Must(waiter->status, "wait");
    return waiter->response.lock_id();
  }

 private:
  LoadGenerator clients_;  // its connections
  std::vector<std::unique_ptr<v1::LockService::Stub>> stubs_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<Waiter>> waiters_;
};

double Micros(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

std::vector<Figure> LockFigures(const Places& places, const Effort& effort) {
  const auto echo = Bed::Echo(places);
  const double sync_us = ProbeSync(places.dir, 500);
  Figure hand{"hand-over with 10 000 waiters ÷ (echo + sync)", Bound::kAtMost, 2.5, 1.3};
  Figure wake{"wake-up of 10 000 readers, ms", Bound::kNone};
  for (int round = 0; round < effort.rounds; ++round) {
    const auto bed = Bed::Daemon(places, fmt::format("locks{}", round));
    bed->MakeTables();
    Cycles bare(false);
    const LoadResult one = echo->load().Run(bare.Calls(), 2000, 1);
    const double echo_us = static_cast<double>(one.latency.Percentile(0.5)) / 1000;

    const int64_t hands = std::min<int64_t>(effort.waiters / 10, 500);
    Queue writers(*bed, effort.waiters + hands);
    int64_t held = writers.Hold();
    writers.Wait(v1::LOCK_KIND_EXCLUSIVE, effort.waiters + hands);
    writers.AwaitQueued(effort.waiters + hands);
    Histogram times;
    for (int64_t i = 0; i < hands; ++i) {
      const Clock::time_point begin = Clock::now();
      writers.Release(held);
      held = writers.Next();
      times.Add((Clock::now() - begin).count());
    }
    const double hand_us = static_cast<double>(times.Percentile(0.5)) / 1000;
    hand.values.push_back(hand_us / (echo_us + sync_us));
    hand.note = fmt::format("{:.0f} µs against {:.0f} + {:.0f} µs", hand_us, echo_us, sync_us);

    const auto other = Bed::Daemon(places, fmt::format("readers{}", round));
    other->MakeTables();
    Queue readers(*other, effort.waiters);
    held = readers.Hold();
    readers.Wait(v1::LOCK_KIND_SHARED_READ, effort.waiters);
    readers.AwaitQueued(effort.waiters);
    const Clock::time_point begin = Clock::now();
    readers.Release(held);
    for (int64_t i = 0; i < effort.waiters; ++i) readers.Next();
    wake.values.push_back(Micros(Clock::now() - begin) / 1000);
  }
  return {std::move(hand), std::move(wake)};
}

}  // namespace skep::bench

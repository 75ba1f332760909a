#include "tests/bench/rpc/session_load.h"

#include <unistd.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <utility>

#include "proto/skep/v1/session_service.grpc.pb.h"

namespace skep::bench {
namespace {

using Clock = std::chrono::steady_clock;

class Client {
 public:
  enum Event { kStarted, kRead, kWritten, kFinished };
  struct Tag {
    Client* client;
    Event event;
  };

  Client(const std::shared_ptr<grpc::Channel>& channel,
         std::string id,
         const SessionShape& shape,
         int64_t operations,
         grpc::CompletionQueue* queue,
         LoadResult* result)
      : stub_(v1::SessionService::NewStub(channel)),
        id_(std::move(id)),
        shape_(shape),
        left_(operations),
        result_(result) {
    stream_ = stub_->AsyncSession(&context_, queue, &tags_[kStarted]);
  }

  // False at the end.
  bool Handle(Event event, bool ok) {
    if (event == kFinished) return false;
    if (!ok) {
      if (!over_) Fail("the stream ended");
      return !std::exchange(finishing_, true) ? (stream_->Finish(&status_, &tags_[kFinished]), true)
                                              : true;
    }
    if (event == kStarted) {
      stream_->Read(&response_, &tags_[kRead]);
      Write();
    } else if (event == kWritten) {
      writing_ = false;
      Write();
    } else {
      Take();
      response_.Clear();
      stream_->Read(&response_, &tags_[kRead]);
      Write();
    }
    return true;
  }

 private:
  struct Sent {
    int64_t first;  // number
    int64_t last;
    int waiting;  // answers that are to come
    Clock::time_point begin;
  };

  void Fail(const std::string& what) {
    if (result_->errors++ == 0) result_->first_error = what;
  }

  void Take() {
    for (const v1::SessionAnswer& answer : response_.answers()) {
      ++result_->calls;
      if (answer.has_error()) Fail(answer.error().message());
      if (answer.has_open_transactions()) {
        opened_.push_back(answer.open_transactions().first_txn_id());
      }
      for (Sent& message : sent_) {
        if (answer.number() > message.last) continue;
        --message.waiting;
        break;
      }
    }
    while (!sent_.empty() && sent_.front().waiting == 0) {
      result_->latency.Add((Clock::now() - sent_.front().begin).count());
      sent_.pop_front();
    }
  }

  void Write() {
    if (writing_ || over_) return;
    if (hello_ && std::ssize(sent_) >= shape_.messages_under_way) return;
    request_.Clear();
    if (!std::exchange(hello_, true)) {
      request_.mutable_hello()->set_session_id(id_);
      request_.mutable_hello()->set_epoch(1);
    }
    if (left_ == 0) {
      if (!sent_.empty()) return;
      over_ = true;
      request_.set_end(true);
    }
    // Everything before the oldest message under way was answered.
    request_.set_answered_below(sent_.empty() ? next_ : sent_.front().first);
    const auto count = static_cast<int>(std::min<int64_t>(left_, shape_.operations_per_message));
    for (int i = 0; i < count; ++i) {
      v1::SessionOperation* operation = request_.add_operations();
      operation->set_number(next_++);
      if (i % 2 == 1 && !opened_.empty()) {
        operation->mutable_commit_transaction()->set_txn_id(opened_.front());
        opened_.pop_front();
      } else {
        auto* open = operation->mutable_open_transactions();
        open->set_user("bench");
        open->set_host("host.example");
        open->set_agent("skep_bench");
      }
    }
    left_ -= count;
    if (count > 0) sent_.push_back({next_ - count, next_ - 1, count, Clock::now()});
    writing_ = true;
    stream_->Write(request_, &tags_[kWritten]);
  }

  Tag tags_[4] = {{this, kStarted}, {this, kRead}, {this, kWritten}, {this, kFinished}};
  std::unique_ptr<v1::SessionService::Stub> stub_;
  const std::string id_;
  const SessionShape shape_;
  int64_t left_;
  LoadResult* const result_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<v1::SessionRequest, v1::SessionResponse>> stream_;
  v1::SessionRequest request_;
  v1::SessionResponse response_;
  grpc::Status status_;
  bool hello_ = false;
  bool writing_ = false;
  bool over_ = false;
  bool finishing_ = false;
  int64_t next_ = 1;
  std::deque<Sent> sent_;
  std::deque<int64_t> opened_;
};

std::string IdOf(uint64_t run, int session) {
  std::string id(16, 's');
  const uint64_t process = static_cast<uint64_t>(::getpid());
  std::memcpy(id.data(), &process, 6);
  std::memcpy(id.data() + 6, &run, 4);
  id[10] = static_cast<char>('0' + session);
  return id;
}

}  // namespace

SessionLoad::SessionLoad(const std::string& endpoint, int connections) {
  for (int i = 0; i < connections; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channels_.push_back(
        grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments));
    channels_.back()->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(20));
  }
}

LoadResult SessionLoad::Run(const SessionShape& shape, int64_t operations) {
  LoadResult result;
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<Client>> clients;
  ++runs_;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < shape.sessions; ++i) {
    clients.push_back(std::make_unique<Client>(channels_[static_cast<size_t>(i) % channels_.size()],
                                               IdOf(runs_, i),
                                               shape,
                                               operations / shape.sessions,
                                               &queue,
                                               &result));
  }
  size_t left = clients.size();
  void* tag = nullptr;
  bool ok = false;
  while (left > 0 && queue.Next(&tag, &ok)) {
    const auto* event = static_cast<Client::Tag*>(tag);
    if (!event->client->Handle(event->event, ok)) --left;
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return result;
}

}  // namespace skep::bench

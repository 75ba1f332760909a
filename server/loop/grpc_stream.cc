#include "server/loop/grpc_stream.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/status_wire.h"

namespace skep::loop {
namespace {

constexpr size_t kMaxQueued = 64;

grpc::Status ShuttingDown() {
  return {grpc::StatusCode::UNAVAILABLE, "the server is shutting down"};
}

std::string BytesOf(grpc::ByteBuffer* buffer) {
  grpc::Slice slice;
  if (!buffer->DumpToSingleSlice(&slice).ok()) return {};
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

}  // namespace

class GrpcStreamService::Call final : public Stream {
 public:
  Call(GrpcStreamService& service, int method) : service_(service), method_(method) {
    context_.AsyncNotifyWhenDone(&ended_);
    service_.RequestAsyncBidiStreaming(
        method_, &context_, &stream_, service_.queue_, service_.queue_, &arrived_);
  }

  int method() const override { return method_; }

  void WriteBytes(std::string message) override {
    if (status_ || over_) return;
    grpc::Slice slice(message);
    queued_.emplace_back(&slice, 1);
    if (queued_.size() > kMaxQueued) return Cut();
    Advance();
  }

  bool busy() const override { return writing_ || !queued_.empty(); }

  void Cut() override {
    if (over_) return;
    queued_.clear();
    status_ = {grpc::StatusCode::RESOURCE_EXHAUSTED, "the client does not read"};
    context_.TryCancel();  // a write that the client does not take would hold up the status too
  }

  void Finish(const grpc::Status& status) override {
    if (status_ || over_) return;
    status_ = status;
    Advance();
  }

  bool started() const { return started_; }

 private:
  template <void (Call::*kHandler)(bool)>
  class Event final : public CompletionEvent {
   public:
    explicit Event(Call& call) : call_(call) {}
    void Complete(bool ok) override { (call_.*kHandler)(ok); }

   private:
    Call& call_;
  };

  void Arrived(bool ok) {
    if (!ok) return service_.Remove(this);  // the server is shut down
    started_ = true;
    events_ = 1;  // its end
    if (service_.closing_) {
      Finish(ShuttingDown());
      return;
    }
    service_.Register(method_);
    Read();
  }

  void Read() {
    ++events_;
    stream_.Read(&incoming_, &read_);
  }

  void WasRead(bool ok) {
    --events_;
    if (!over_) {
      const auto size = static_cast<int64_t>(ok ? incoming_.Length() : 0);
      if (size > service_.max_message_) {
        Finish(wire::ToGrpc(wire::TooLarge(size, service_.max_message_)));
      } else if (ok) {
        service_.handler_.Message(*this, BytesOf(&incoming_));
        if (!status_) Read();
      } else {
        service_.handler_.HalfClosed(*this);
      }
    }
    RemoveIfDone();
  }

  // One operation of this direction at a time: the next message, or the end.
  void Advance() {
    if (writing_ || over_) return;
    if (!queued_.empty()) {
      writing_ = true;
      ++events_;
      outgoing_ = std::move(queued_.front());
      queued_.pop_front();
      stream_.Write(outgoing_, &written_);
    } else if (status_) {
      writing_ = true;
      finished_ = true;
      ++events_;
      stream_.Finish(*status_, &written_);
    }
  }

  void Written(bool ok) {
    --events_;
    // After the last operation, or a failure, nothing more can be sent; the end may still be to
    // come.
    writing_ = finished_ || !ok;
    Advance();
    if (!writing_ && !over_) service_.handler_.Writable(*this);
    RemoveIfDone();
  }

  void Ended(bool) {
    --events_;
    over_ = true;
    service_.handler_.Closed(*this);
    RemoveIfDone();
  }

  void RemoveIfDone() {
    if (over_ && events_ == 0) service_.Remove(this);
  }

  GrpcStreamService& service_;
  const int method_;
  grpc::ServerContext context_;
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream_{&context_};
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  std::deque<grpc::ByteBuffer> queued_;
  std::optional<grpc::Status> status_;
  bool started_ = false;
  bool writing_ = false;
  bool finished_ = false;
  bool over_ = false;
  int events_ = 0;  // that the queue still owes us
  Event<&Call::Arrived> arrived_{*this};
  Event<&Call::WasRead> read_{*this};
  Event<&Call::Written> written_{*this};
  Event<&Call::Ended> ended_{*this};
};

GrpcStreamService::GrpcStreamService(std::vector<std::string> paths, StreamHandler& handler)
    : paths_(std::move(paths)), handler_(handler) {
  for (size_t i = 0; i < paths_.size(); ++i) {
    AddMethod(new grpc::internal::RpcServiceMethod(  // the base class owns it
        paths_[i].c_str(),
        grpc::internal::RpcMethod::BIDI_STREAMING,
        nullptr));
    MarkMethodRaw(static_cast<int>(i));
  }
}

GrpcStreamService::~GrpcStreamService() = default;

void GrpcStreamService::Start(grpc::ServerCompletionQueue& queue, int64_t max_message) {
  queue_ = &queue;
  max_message_ = max_message;
  for (size_t i = 0; i < paths_.size(); ++i) Register(static_cast<int>(i));
}

void GrpcStreamService::Register(int method) {
  calls_.push_back(std::make_unique<Call>(*this, method));
}

void GrpcStreamService::EndStreams() {
  closing_ = true;
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i]->started()) calls_[i]->Finish(ShuttingDown());
  }
}

void GrpcStreamService::Remove(Call* call) {
  const auto found = std::find_if(
      calls_.begin(), calls_.end(), [&](const auto& owned) { return owned.get() == call; });
  const std::unique_ptr<Call> gone = std::move(*found);
  calls_.erase(found);
}

}  // namespace skep::loop

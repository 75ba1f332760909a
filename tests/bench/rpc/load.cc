#include "tests/bench/rpc/load.h"

#include <optional>

#include <fmt/format.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

namespace skep::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Slot {
  std::optional<grpc::ClientContext> context;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  grpc::ByteBuffer answer;
  grpc::Status status;
  Clock::time_point begin;
  int64_t i = 0;
  size_t stub = 0;
  const char* method = "";
};

// 16 bytes, as many client processes as connections.
std::string ClientId(size_t connection) { return fmt::format("bench-process-{:02}", connection); }

std::string BytesOf(grpc::ByteBuffer* buffer) {
  grpc::Slice slice;
  if (!buffer->DumpToSingleSlice(&slice).ok()) return {};
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

}  // namespace

LoadGenerator::LoadGenerator(const std::string& endpoint, int connections) {
  for (int i = 0; i < connections; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // else they share one connection
    channels_.push_back(
        grpc::CreateCustomChannel(endpoint, grpc::InsecureChannelCredentials(), arguments));
    stubs_.push_back(std::make_unique<grpc::GenericStub>(channels_.back()));
  }
  for (const auto& channel : channels_) {
    channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(20));
  }
}

LoadResult LoadGenerator::Run(const Workload& workload, int64_t calls, int in_flight) {
  LoadResult result;
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<Slot>> slots;
  int64_t next = 0;
  const auto start = [&](Slot* slot) {
    slot->i = next++;
    slot->context.emplace();
    slot->context->AddMetadata("skep-client-id", ClientId(slot->stub));
    const Request request = workload.request(slot->i);
    slot->method = request.method;
    grpc::Slice slice(request.bytes);
    grpc::ByteBuffer bytes(&slice, 1);
    slot->begin = Clock::now();
    slot->reader =
        stubs_[slot->stub]->PrepareUnaryCall(&*slot->context, request.method, bytes, &queue);
    slot->reader->StartCall();
    slot->reader->Finish(&slot->answer, &slot->status, slot);
  };
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < in_flight && next < calls; ++i) {
    slots.push_back(std::make_unique<Slot>());
    slots.back()->stub = static_cast<size_t>(i) % stubs_.size();
    start(slots.back().get());
  }
  void* tag = nullptr;
  bool ok = false;
  while (result.calls < calls && queue.Next(&tag, &ok)) {
    auto* slot = static_cast<Slot*>(tag);
    result.latency.Add((Clock::now() - slot->begin).count());
    ++result.calls;
    if (!slot->status.ok()) {
      if (result.errors++ == 0)
        result.first_error = fmt::format("{}: {}", slot->method, slot->status.error_message());
    } else if (workload.answer) {
      workload.answer(slot->i, BytesOf(&slot->answer));
    }
    if (next < calls) start(slot);
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  queue.Shutdown();
  return result;
}

}  // namespace skep::bench

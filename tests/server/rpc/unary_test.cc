#include "server/rpc/unary.h"

#include "tests/server/loop/core_fixture.h"

#include "proto/skep/v1/lock_service.pb.h"

namespace skep::rpc {
namespace {

// A call that brings the bytes of a request and wants no answer.
class BytesCall final : public loop::Call {
 public:
  explicit BytesCall(std::string bytes) : bytes_(std::move(bytes)) {}
  bool Read(google::protobuf::MessageLite* request) override {
    return request->ParseFromString(bytes_);
  }
  void Reply(const google::protobuf::MessageLite&) override {}
  void Refuse(const absl::Status&) override {}
  void Send() override {}
  MonoTime deadline() const override { return {}; }

 private:
  std::string bytes_;
};

class UnaryTest : public loop::CoreFixture {};

TEST_F(UnaryTest, KeepsNoMemoryOfALargeRequest) {
  size_t held = 0;
  const auto handler =
      [&](const v1::AcquireLocksRequest& request, Context&, v1::AcquireLocksResponse*) {
        held = request.SpaceUsedLong();
        return absl::OkStatus();
      };
  Unary<v1::AcquireLocksRequest, v1::AcquireLocksResponse, decltype(handler)> method(handler);
  const auto call = [&](int components) {
    v1::AcquireLocksRequest request;
    for (int i = 0; i < components; ++i) request.add_components();
    BytesCall bytes(request.SerializeAsString());
    Run([&](state::State& state, state::Now now, state::Unit& unit) {
      loop::CallContext context{bytes, *core_, state, now, unit};
      return method(context);
    });
    core_->Flush();
    return held;
  };
  const size_t small = call(1);
  EXPECT_GT(call(100'000), 100'000u);
  EXPECT_LE(call(1), small);
}

}  // namespace
}  // namespace skep::rpc

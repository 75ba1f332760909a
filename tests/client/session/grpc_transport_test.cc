// The production transport against a real gRPC server on a Unix socket.
#include "client/session/grpc_transport.h"

#include <absl/synchronization/notification.h>

#include "client/session/rpc.h"
#include "proto/wire/status_wire.h"
#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

#include "proto/skep/v1/transaction_service.grpc.pb.h"

namespace skep::client {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::StatusIs;
using std::chrono::seconds;

class Service final : public v1::TransactionService::Service {
 public:
  grpc::Status GetTransaction(grpc::ServerContext*,
                              const v1::GetTransactionRequest* request,
                              v1::GetTransactionResponse* response) override {
    if (request->txn_id() == 404) {
      return wire::ToGrpc(MakeError(ErrorReason::kNoSuchTxn, "no 404", {{"txnId", "404"}}));
    }
    if (request->txn_id() == 503) return wire::ToGrpc(MakeError(ErrorReason::kStoreBusy, "busy"));
    response->mutable_transaction()->set_txn_id(request->txn_id());
    return grpc::Status::OK;
  }
  // Answers when the test lets it.
  grpc::Status GetSnapshot(grpc::ServerContext*,
                           const v1::GetSnapshotRequest*,
                           v1::GetSnapshotResponse*) override {
    entered.Notify();
    release.WaitForNotification();
    return grpc::Status::OK;
  }
  absl::Notification entered;
  absl::Notification release;
};

class GrpcTransportTest : public ::testing::Test {
 protected:
  void Serve() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(endpoint_, grpc::InsecureServerCredentials());
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  template <class Request>
  TransportReply Call(Transport& transport,
                      const Request& request,
                      std::shared_ptr<typename Rpc<Request>::Response> response,
                      std::chrono::milliseconds deadline = seconds(10)) {
    absl::Notification done;
    TransportReply reply;
    transport.Call(Rpc<Request>::kMethod,
                   std::make_shared<Request>(request),
                   response,
                   clock_.MonoNow() + deadline,
                   [&](TransportReply r) {
                     reply = std::move(r);
                     done.Notify();
                   });
    done.WaitForNotification();
    return reply;
  }
  v1::GetTransactionRequest Get(int64_t txn) {
    v1::GetTransactionRequest request;
    request.set_txn_id(txn);
    return request;
  }

  testing::TempDir dir_;
  std::string endpoint_ = "unix:" + dir_.path() + "/s";
  SystemClock clock_;
  Service service_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(GrpcTransportTest, CarriesRequestsAndAnswers) {
  Serve();
  GrpcTransport transport(endpoint_, clock_);
  auto response = std::make_shared<v1::GetTransactionResponse>();
  EXPECT_THAT(Call(transport, Get(17), response).status, IsOk());
  EXPECT_EQ(response->transaction().txn_id(), 17);
}

TEST_F(GrpcTransportTest, CarriesReasonsAndWishesToWait) {
  Serve();
  GrpcTransport transport(endpoint_, clock_);
  auto response = std::make_shared<v1::GetTransactionResponse>();
  TransportReply missing = Call(transport, Get(404), response);
  EXPECT_THAT(missing.status, HasReason(ErrorReason::kNoSuchTxn));
  EXPECT_EQ(MetadataOf(missing.status)["txnId"], "404");
  EXPECT_FALSE(missing.retry_after.has_value());
  TransportReply busy = Call(transport, Get(503), response);
  EXPECT_THAT(busy.status, HasReason(ErrorReason::kStoreBusy));
  EXPECT_TRUE(busy.retry_after.has_value());
}

TEST_F(GrpcTransportTest, KnowsThatNothingWasSentWithoutAServer) {
  GrpcTransport transport(endpoint_, clock_);
  TransportReply reply = Call(transport, Get(1), std::make_shared<v1::GetTransactionResponse>());
  EXPECT_THAT(reply.status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(ReasonOf(reply.status), ErrorReason::kUnspecified);
  EXPECT_FALSE(reply.maybe_sent);
}

TEST_F(GrpcTransportTest, FindsAServerThatComesLater) {
  GrpcTransport transport(endpoint_, clock_);
  auto response = std::make_shared<v1::GetTransactionResponse>();
  EXPECT_THAT(Call(transport, Get(1), response).status, StatusIs(absl::StatusCode::kUnavailable));
  Serve();
  absl::Status status;
  const MonoTime until = clock_.MonoNow() + seconds(10);
  do {
    status = Call(transport, Get(1), response).status;
  } while (!status.ok() && clock_.MonoNow() < until);
  EXPECT_THAT(status, IsOk());
}

TEST_F(GrpcTransportTest, EndsACallAtItsDeadline) {
  Serve();
  GrpcTransport transport(endpoint_, clock_);
  TransportReply reply = Call(transport,
                              v1::GetSnapshotRequest(),
                              std::make_shared<v1::GetSnapshotResponse>(),
                              std::chrono::milliseconds(50));
  EXPECT_THAT(reply.status, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_TRUE(reply.maybe_sent);
  service_.release.Notify();
}

TEST_F(GrpcTransportTest, EndsCallsUnderWayWhenItGoes) {
  Serve();
  auto transport = std::make_unique<GrpcTransport>(endpoint_, clock_);
  absl::Status status;
  transport->Call(Rpc<v1::GetSnapshotRequest>::kMethod,
                  std::make_shared<v1::GetSnapshotRequest>(),
                  std::make_shared<v1::GetSnapshotResponse>(),
                  clock_.MonoNow() + seconds(60),
                  [&status](TransportReply reply) { status = reply.status; });
  service_.entered.WaitForNotification();
  transport.reset();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled));
  service_.release.Notify();
}

}  // namespace
}  // namespace skep::client

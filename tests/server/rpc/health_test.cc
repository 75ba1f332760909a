#include "proto/grpc/health/v1/health.grpc.pb.h"
#include "proto/grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace skep::rpc {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using Reflection = grpc::reflection::v1alpha::ServerReflection;
using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;

class HealthTest : public RpcFixture {
 protected:
  void SetServing(bool serving) {
    OnLoop([&] { health_->SetServing(serving); });
  }
  grpc::Status Check(const std::string& name, HealthCheckResponse* response) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    HealthCheckRequest request;
    request.set_service(name);
    return Health::NewStub(channel_)->Check(&context, request, response);
  }
};

TEST_F(HealthTest, EachServiceAndTheWholeAreNotServingUntilSaid) {
  const char* const names[] = {"",
                               "skep.v1.TransactionService",
                               "skep.v1.TableService",
                               "skep.v1.LockService",
                               "skep.v1.CompactionService",
                               "skep.v1.AdminService"};
  HealthCheckResponse response;
  for (const char* name : names) {
    ASSERT_TRUE(Check(name, &response).ok());
    EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING) << name;
  }
  SetServing(true);
  for (const char* name : names) {
    ASSERT_TRUE(Check(name, &response).ok());
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << name;
  }
  EXPECT_EQ(Check("skep.v1.Nothing", &response).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(HealthTest, AWatcherSeesEachChangeAndTheEnd) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  auto watch = Health::NewStub(channel_)->Watch(&context, HealthCheckRequest());
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  SetServing(true);
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  SetServing(false);
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  Stop();
  EXPECT_FALSE(watch->Read(&response));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(HealthTest, WatchingAnUnknownNameSaysSo) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  HealthCheckRequest request;
  request.set_service("nothing");
  auto watch = Health::NewStub(channel_)->Watch(&context, request);
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVICE_UNKNOWN);
  context.TryCancel();
  watch->Finish();
}

TEST_F(HealthTest, ReflectionListsServicesAndTheirFiles) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  auto stream = Reflection::NewStub(channel_)->ServerReflectionInfo(&context);
  ServerReflectionRequest request;
  ServerReflectionResponse response;
  request.set_list_services("");
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(stream->Read(&response));
  std::vector<std::string> names;
  for (const auto& service : response.list_services_response().service())
    names.push_back(service.name());
  EXPECT_THAT(names, ::testing::Contains("skep.v1.LockService"));
  request.set_file_containing_symbol("skep.v1.LockService.AcquireLocks");
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(stream->Read(&response));
  // The file and what it imports.
  EXPECT_GE(response.file_descriptor_response().file_descriptor_proto_size(), 4);
  request.set_file_by_filename("skep/v1/nothing.proto");
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.error_response().error_code(), grpc::StatusCode::NOT_FOUND);
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

}  // namespace
}  // namespace skep::rpc

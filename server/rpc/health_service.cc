#include "server/rpc/health_service.h"

#include <algorithm>
#include <utility>

#include "proto/grpc/health/v1/health.pb.h"

namespace skep::rpc {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

enum Method { kCheck = 0, kWatch = 1 };

HealthCheckResponse Response(HealthCheckResponse::ServingStatus status) {
  HealthCheckResponse response;
  response.set_status(status);
  return response;
}

HealthCheckResponse::ServingStatus StatusOf(bool serving) {
  return serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

}  // namespace

HealthService::HealthService(std::vector<std::string> names) : names_(std::move(names)) {}

std::unique_ptr<loop::StreamService> HealthService::MakeStreams() {
  return std::make_unique<loop::GrpcStreamService>(
      std::vector<std::string>{"/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"},
      *this);
}

void HealthService::SetServing(bool serving) {
  if (serving_ == serving) return;
  serving_ = serving;
  for (const auto& [stream, name] : watchers_) stream->Write(Response(StatusOf(serving_)));
}

void HealthService::Message(loop::Stream& stream, std::string bytes) {
  HealthCheckRequest request;
  if (!stream.Parse(bytes, request)) return;
  const bool known = request.service().empty() ||
                     std::find(names_.begin(), names_.end(), request.service()) != names_.end();
  if (stream.method() == kCheck) {
    if (!known) return stream.Finish({grpc::StatusCode::NOT_FOUND, "no such service"});
    stream.Write(Response(StatusOf(serving_)));
    return stream.Finish(grpc::Status::OK);
  }
  if (known) watchers_[&stream] = request.service();
  stream.Write(Response(known ? StatusOf(serving_) : HealthCheckResponse::SERVICE_UNKNOWN));
}

}  // namespace skep::rpc

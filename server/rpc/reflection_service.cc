#include "server/rpc/reflection_service.h"

#include <set>
#include <utility>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include "proto/grpc/reflection/v1alpha/reflection.pb.h"

namespace skep::rpc {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;

void NotFound(const std::string& what, ServerReflectionResponse* response) {
  auto* error = response->mutable_error_response();
  error->set_error_code(grpc::StatusCode::NOT_FOUND);
  error->set_error_message("no such " + what);
}

// The file and all it needs, each once.
void AddFile(const FileDescriptor* file,
             std::set<std::string>* seen,
             ServerReflectionResponse* response) {
  if (!seen->insert(file->name()).second) return;
  google::protobuf::FileDescriptorProto proto;
  file->CopyTo(&proto);
  response->mutable_file_descriptor_response()->add_file_descriptor_proto(
      proto.SerializeAsString());
  for (int i = 0; i < file->dependency_count(); ++i) AddFile(file->dependency(i), seen, response);
}

void AnswerFile(const FileDescriptor* file,
                const std::string& what,
                ServerReflectionResponse* response) {
  if (file == nullptr) return NotFound(what, response);
  std::set<std::string> seen;
  AddFile(file, &seen, response);
}

}  // namespace

ReflectionService::ReflectionService(std::vector<std::string> names) : names_(std::move(names)) {}

std::unique_ptr<loop::StreamService> ReflectionService::MakeStreams() {
  return std::make_unique<loop::GrpcStreamService>(
      std::vector<std::string>{"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"},
      *this);
}

void ReflectionService::Message(loop::Stream& stream, std::string bytes) {
  ServerReflectionRequest request;
  if (!stream.Parse(bytes, request)) return;
  ServerReflectionResponse response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  const DescriptorPool* const pool = DescriptorPool::generated_pool();
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kListServices:
      for (const std::string& name : names_) {
        response.mutable_list_services_response()->add_service()->set_name(name);
      }
      break;
    case ServerReflectionRequest::kFileByFilename:
      AnswerFile(pool->FindFileByName(request.file_by_filename()), "file", &response);
      break;
    case ServerReflectionRequest::kFileContainingSymbol:
      AnswerFile(
          pool->FindFileContainingSymbol(request.file_containing_symbol()), "symbol", &response);
      break;
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      response.mutable_all_extension_numbers_response()->set_base_type_name(
          request.all_extension_numbers_of_type());
      break;
    default:  // proto3 messages have no extensions
      NotFound("extension", &response);
      break;
  }
  stream.Write(response);
}

}  // namespace skep::rpc

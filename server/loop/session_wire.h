#pragma once

// The messages of a session stream without the messages inside them: a request is handed on as it
// arrived to the method that knows its type, an answer is written once and kept as bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <google/protobuf/message_lite.h>

#include "storage/model/ids.h"

#include "proto/skep/v1/session_service.pb.h"

namespace skep::loop {

struct OperationBytes {
  int64_t number = 0;
  int field = 0;             // of the request in SessionOperation; 0: none
  std::string_view request;  // into the message
};

struct SessionMessage {
  std::vector<OperationBytes> operations;
  v1::SessionRequest rest;  // everything but the operations
};

// Errors: kInternal, as gRPC says of bytes that are no such message. `bytes` must outlive
// `message`.
absl::Status ReadSessionMessage(std::string_view bytes, SessionMessage* message);

// The ids in field `field` of a request, single or repeated; those before damage.
std::vector<TxnId> TxnsOf(std::string_view request, int field);

// SessionAnswer with `response` in the field of that number.
std::string AnswerBytes(int64_t number, int field, const google::protobuf::MessageLite& response);
// SessionAnswer that refuses.
std::string RefusalBytes(int64_t number, const absl::Status& error);

// A SessionResponse made of answers and notices that are bytes already.
class SessionResponseBytes {
 public:
  void Add(const google::protobuf::MessageLite& welcome);
  void AddAnswer(std::string_view answer);
  void AddNotice(std::string_view notice);
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace skep::loop

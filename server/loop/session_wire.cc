#include "server/loop/session_wire.h"

#include <algorithm>
#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/status_wire.h"

namespace skep::loop {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using WireFormat = google::protobuf::internal::WireFormatLite;

constexpr int kNumber = v1::SessionOperation::kNumberFieldNumber;

const uint8_t* Begin(std::string_view bytes) {
  return reinterpret_cast<const uint8_t*>(bytes.data());
}

// A length-delimited field as a part of `bytes`, which `input` reads.
bool ReadPart(std::string_view bytes, CodedInputStream* input, std::string_view* part) {
  uint32_t size = 0;
  if (!input->ReadVarint32(&size)) return false;
  const auto at = static_cast<size_t>(input->CurrentPosition());
  if (size > bytes.size() - at) return false;
  *part = bytes.substr(at, size);
  return input->Skip(static_cast<int>(size));
}

bool ReadOperation(std::string_view bytes, OperationBytes* operation) {
  CodedInputStream input(Begin(bytes), static_cast<int>(bytes.size()));
  while (const uint32_t tag = input.ReadTag()) {
    const int field = WireFormat::GetTagFieldNumber(tag);
    const auto type = WireFormat::GetTagWireType(tag);
    if (field == kNumber && type == WireFormat::WIRETYPE_VARINT) {
      uint64_t number = 0;
      if (!input.ReadVarint64(&number)) return false;
      operation->number = static_cast<int64_t>(number);
    } else if (field != kNumber && type == WireFormat::WIRETYPE_LENGTH_DELIMITED) {
      operation->field = field;  // of two, the last one counts, as in any oneof
      if (!ReadPart(bytes, &input, &operation->request)) return false;
    } else if (!WireFormat::SkipField(&input, tag)) {
      return false;
    }
  }
  return input.ConsumedEntireMessage();
}

void AppendField(int field, std::string_view part, std::string* to) {
  uint8_t head[16];
  uint8_t* end = CodedOutputStream::WriteTagToArray(
      WireFormat::MakeTag(field, WireFormat::WIRETYPE_LENGTH_DELIMITED), head);
  end = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(part.size()), end);
  to->append(reinterpret_cast<const char*>(head), static_cast<size_t>(end - head));
  to->append(part);
}

std::string AnswerOf(int64_t number, int field, const google::protobuf::MessageLite& message) {
  const size_t size = message.ByteSizeLong();
  uint8_t head[32];
  uint8_t* end = CodedOutputStream::WriteTagToArray(
      WireFormat::MakeTag(kNumber, WireFormat::WIRETYPE_VARINT), head);
  end = CodedOutputStream::WriteVarint64ToArray(static_cast<uint64_t>(number), end);
  end = CodedOutputStream::WriteTagToArray(
      WireFormat::MakeTag(field, WireFormat::WIRETYPE_LENGTH_DELIMITED), end);
  end = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(size), end);
  const auto head_size = static_cast<size_t>(end - head);
  std::string bytes(head_size + size, '\0');
  std::copy(head, end, reinterpret_cast<uint8_t*>(bytes.data()));
  message.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(bytes.data()) + head_size);
  return bytes;
}

}  // namespace

absl::Status ReadSessionMessage(std::string_view bytes, SessionMessage* message) {
  // Everything but the operations, as it arrived.
  std::string rest;
  CodedInputStream input(Begin(bytes), static_cast<int>(bytes.size()));
  for (;;) {
    const auto begin = static_cast<size_t>(input.CurrentPosition());
    const uint32_t tag = input.ReadTag();
    if (tag == 0) break;
    const bool operation = tag == WireFormat::MakeTag(v1::SessionRequest::kOperationsFieldNumber,
                                                      WireFormat::WIRETYPE_LENGTH_DELIMITED);
    if (operation) {
      std::string_view part;
      if (!ReadPart(bytes, &input, &part)) return wire::NotParsed();
      if (!ReadOperation(part, &message->operations.emplace_back())) return wire::NotParsed();
      continue;
    }
    if (!WireFormat::SkipField(&input, tag)) return wire::NotParsed();
    rest.append(bytes.substr(begin, static_cast<size_t>(input.CurrentPosition()) - begin));
  }
  if (!input.ConsumedEntireMessage() || !message->rest.ParseFromString(rest)) {
    return wire::NotParsed();
  }
  return absl::OkStatus();
}

std::vector<TxnId> TxnsOf(std::string_view request, int field) {
  std::vector<TxnId> txns;
  CodedInputStream input(Begin(request), static_cast<int>(request.size()));
  const auto read = [&txns](CodedInputStream* from) {
    uint64_t id = 0;
    if (!from->ReadVarint64(&id)) return false;
    txns.emplace_back(static_cast<int64_t>(id));
    return true;
  };
  while (const uint32_t tag = input.ReadTag()) {
    std::string_view packed;
    if (tag == WireFormat::MakeTag(field, WireFormat::WIRETYPE_VARINT)) {
      if (!read(&input)) break;
    } else if (tag == WireFormat::MakeTag(field, WireFormat::WIRETYPE_LENGTH_DELIMITED)) {
      if (!ReadPart(request, &input, &packed)) break;
      CodedInputStream ids(Begin(packed), static_cast<int>(packed.size()));
      while (read(&ids)) {
      }
    } else if (!WireFormat::SkipField(&input, tag)) {
      break;
    }
  }
  return txns;
}

std::string AnswerBytes(int64_t number, int field, const google::protobuf::MessageLite& response) {
  return AnswerOf(number, field, response);
}

std::string RefusalBytes(int64_t number, const absl::Status& error) {
  google::rpc::Status status;
  wire::ToProto(error, &status);
  return AnswerOf(number, v1::SessionAnswer::kErrorFieldNumber, status);
}

void SessionResponseBytes::Add(const google::protobuf::MessageLite& welcome) {
  AppendField(v1::SessionResponse::kWelcomeFieldNumber, welcome.SerializeAsString(), &bytes_);
}

void SessionResponseBytes::AddAnswer(std::string_view answer) {
  AppendField(v1::SessionResponse::kAnswersFieldNumber, answer, &bytes_);
}

void SessionResponseBytes::AddNotice(std::string_view notice) {
  AppendField(v1::SessionResponse::kNoticesFieldNumber, notice, &bytes_);
}

}  // namespace skep::loop

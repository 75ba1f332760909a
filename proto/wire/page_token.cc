#include "proto/wire/page_token.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "proto/wire/base_wire.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"

namespace skep::wire {
namespace {

constexpr size_t kHashDigits = 16;

// FNV-1a: stable between builds, which std::hash is not.
uint64_t Fnv(uint64_t hash, std::string_view bytes) {
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

// Covers filter and key: a damaged token does not go through as another position.
std::string Seal(uint64_t filter_hash, std::string_view last) {
  return fmt::format("{:016x}", Fnv(filter_hash, last));
}

}  // namespace

uint64_t FilterHash(const google::protobuf::MessageLite& request) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    request.SerializeToCodedStream(&coded);
  }
  return Fnv(0xcbf29ce484222325, bytes);
}

std::string MakePageToken(uint64_t filter_hash, std::string_view last) {
  return Seal(filter_hash, last) + std::string(last);
}

absl::StatusOr<std::string> ReadPageToken(uint64_t filter_hash, std::string_view token) {
  if (token.empty()) return std::string();
  if (token.size() > kHashDigits) {
    const std::string_view last = token.substr(kHashDigits);
    if (token.substr(0, kHashDigits) == Seal(filter_hash, last)) return std::string(last);
  }
  return BadField("page_token",
                  "not a token of this list with this filter; begin again without one");
}

absl::StatusOr<int64_t> ReadIdPageToken(uint64_t filter_hash, std::string_view token) {
  SKEP_ASSIGN_OR_RETURN(const std::string last, ReadPageToken(filter_hash, token));
  if (last.empty()) return 0;
  const std::optional<int64_t> id = ParseInt64(last);
  if (!id) return BadField("page_token", "not a token of this list; begin again without one");
  return *id;
}

}  // namespace skep::wire

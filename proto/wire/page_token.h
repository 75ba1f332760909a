#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>
#include <google/protobuf/message_lite.h>

namespace skep::wire {

// Where a list goes on: after the last item of the page before. Opaque to clients. A token belongs
// to the filter it was made under, so that a changed filter is refused instead of silently skipping
// items.

// Hash of a request without its page fields: give a copy with page_size and page_token cleared.
uint64_t FilterHash(const google::protobuf::MessageLite& request);

// `last` is the last item's key: an id in decimal, or a name.
std::string MakePageToken(uint64_t filter_hash, std::string_view last);
// The key; empty for an empty token (the first page).
// Errors: kInvalidRequest (field page_token) for a damaged token or one of another filter.
absl::StatusOr<std::string> ReadPageToken(uint64_t filter_hash, std::string_view token);
// The same for a key that is an id; 0 for an empty token.
absl::StatusOr<int64_t> ReadIdPageToken(uint64_t filter_hash, std::string_view token);

// FilterHash of any list request.
template <class Request>
uint64_t FilterOf(Request request) {
  request.clear_page_size();
  request.clear_page_token();
  return FilterHash(request);
}

}  // namespace skep::wire

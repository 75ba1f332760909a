#include "server/loop/admission.h"

#include <fmt/format.h>

#include "storage/model/errors.h"

namespace skep::loop {
namespace {

constexpr size_t kManyClients = 4096;

// `limit` of calls like this one, `why` there are no more of them.
absl::Status Overloaded(int64_t limit, std::string_view why) {
  return MakeError(ErrorReason::kOverloaded,
                   fmt::format("{} calls are in flight {}; wait and try again", limit, why),
                   {{"limit", std::to_string(limit)}});
}

}  // namespace

int64_t* Admission::SlotOf(std::string_view client) {
  if (clients_.size() > kManyClients) {
    std::erase_if(clients_, [](const auto& entry) { return entry.second == 0; });
  }
  return &clients_[std::string(client)];
}

absl::StatusOr<int64_t*> Admission::Enter(CallClass call_class, std::string_view client) {
  int64_t* const slot = SlotOf(client);
  if (call_class == CallClass::kOrdinary) {
    if (draining_) {
      return MakeError(ErrorReason::kShuttingDown,
                       "the server is shutting down; repeat the call with the same request id");
    }
    const int64_t kept = limits_.in_flight / 4;
    const int64_t ordinary = limits_.in_flight - kept;
    if (in_flight_ >= ordinary) {
      return Overloaded(
          ordinary,
          fmt::format("on this server, and the other {} of server.max_in_flight = {} are kept for "
                      "commits, aborts, heartbeats, releases and operators",
                      kept,
                      limits_.in_flight));
    }
    if (*slot >= limits_.per_client) {
      return Overloaded(
          limits_.per_client,
          "from this client, all that one may have (server.max_in_flight_per_client)");
    }
  }
  if (call_class == CallClass::kOperator && in_flight_ >= limits_.in_flight) {
    return Overloaded(limits_.in_flight,
                      "on this server, all that it takes (server.max_in_flight)");
  }
  ++in_flight_;
  ++*slot;
  return slot;
}

void Admission::Leave(int64_t* slot) {
  --in_flight_;
  --*slot;
}

}  // namespace skep::loop

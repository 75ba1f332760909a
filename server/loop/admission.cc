#include "server/loop/admission.h"

#include <fmt/format.h>

#include "storage/model/errors.h"

namespace skep::loop {
namespace {

constexpr size_t kManyClients = 4096;

absl::Status Overloaded(std::string_view what, int64_t limit) {
  return MakeError(ErrorReason::kOverloaded,
                   fmt::format("{} calls are in flight {}; wait and try again", limit, what),
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
    const int64_t ordinary = limits_.in_flight - limits_.in_flight / 4;
    if (in_flight_ >= ordinary) return Overloaded("on this server", ordinary);
    if (*slot >= limits_.per_client) return Overloaded("from this client", limits_.per_client);
  }
  if (call_class == CallClass::kOperator && in_flight_ >= limits_.in_flight) {
    return Overloaded("on this server", limits_.in_flight);
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

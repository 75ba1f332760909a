#include "server/loop/session_rules.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "storage/base/random.h"
#include "storage/model/errors.h"

namespace skep::loop {
namespace {

constexpr size_t kIdBytes = 16;

std::string Text(std::string_view id) {
  Uuid uuid{};
  std::copy_n(id.begin(), std::min(id.size(), uuid.size()), uuid.begin());
  return FormatUuid(uuid);
}

absl::Status BadField(std::string_view field, std::string_view what) {
  return MakeError(ErrorReason::kInvalidRequest,
                   fmt::format("{}: {}", field, what),
                   {{"field", std::string(field)}});
}

absl::Status CheckShape(std::string_view id, int64_t epoch) {
  const bool empty = std::all_of(id.begin(), id.end(), [](char c) { return c == '\0'; });
  if (id.size() != kIdBytes || empty) {
    return BadField("session_id", "must be 16 bytes that are not all zero");
  }
  if (epoch < 1) return BadField("epoch", "must be 1 or more");
  return absl::OkStatus();
}

absl::Status Fenced(std::string_view id, int64_t epoch, int64_t newest, std::string_view why) {
  return MakeError(
      ErrorReason::kSessionFenced,
      fmt::format("epoch {} of session {} is over: {} {}", epoch, Text(id), why, newest),
      {{"sessionId", Text(id)}, {"epoch", std::to_string(newest)}});
}

}  // namespace

absl::Status DecideHello(const std::optional<KnownSession>& known, const SessionClaim& claim) {
  const absl::Status shape = CheckShape(claim.id, claim.epoch);
  if (!shape.ok()) return shape;
  if (known && known->fenced) {
    return Fenced(
        claim.id, claim.epoch, known->epoch, "its client goes on without a stream since epoch");
  }
  if (known && claim.epoch <= known->epoch) {
    return Fenced(claim.id, claim.epoch, known->epoch, "the newest stream has epoch");
  }
  if (known && !claim.resume) {
    return BadField("session_id",
                    "a session of this id exists; go on with it (resume), or draw another id");
  }
  if (!known && claim.resume) {
    return MakeError(
        ErrorReason::kNoSuchSession,
        fmt::format("session {} is not known: it was silent for longer than its lease, or the "
                    "server was restarted; begin a new session, and repeat under their request ids "
                    "the operations that have no answer",
                    Text(claim.id)),
        {{"sessionId", Text(claim.id)}});
  }
  return absl::OkStatus();
}

absl::Status DecideFence(const std::optional<KnownSession>& known,
                         std::string_view id,
                         int64_t epoch) {
  const absl::Status shape = CheckShape(id, epoch);
  if (!shape.ok()) return shape;
  if (!known || known->epoch < epoch) return absl::OkStatus();
  if (known->fenced && known->epoch == epoch) return absl::OkStatus();
  return Fenced(id, epoch, known->epoch, "the newest stream or fence has epoch");
}

std::string OperationRequestId(std::string_view session_id, int64_t number) {
  std::string id(session_id);
  for (size_t i = 0; i < 8; ++i) {
    const auto byte = static_cast<uint8_t>(static_cast<uint64_t>(number) >> (8 * i));
    id[kIdBytes - 1 - i] = static_cast<char>(static_cast<uint8_t>(id[kIdBytes - 1 - i]) ^ byte);
  }
  return id;
}

}  // namespace skep::loop

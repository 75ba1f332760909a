#include "server/state/requests.h"

#include <utility>

#include <absl/hash/hash.h>
#include <fmt/format.h>

#include "storage/base/random.h"
#include "storage/model/errors.h"

namespace skep::state {

namespace {
// How many records of living things a new one may pass over.
constexpr int kMaxPassedOver = 64;
}  // namespace

bool RequestKey::given() const { return id != std::array<uint8_t, 16>{}; }

void Fingerprint::AddByte(uint8_t byte) { hash_ = (hash_ ^ byte) * 1099511628211u; }

Fingerprint& Fingerprint::Add(std::string_view text) {
  Add(static_cast<int64_t>(text.size()));
  for (char c : text) AddByte(static_cast<uint8_t>(c));
  return *this;
}

Fingerprint& Fingerprint::Add(int64_t number) {
  for (int shift = 0; shift < 64; shift += 8) {
    AddByte(static_cast<uint8_t>(static_cast<uint64_t>(number) >> shift));
  }
  return *this;
}

size_t RequestIdHash::operator()(const std::array<uint8_t, 16>& id) const {
  return absl::HashOf(id);
}

absl::StatusOr<const RequestRow*> RequestRing::Find(const RequestKey& key,
                                                    RequestKind kind,
                                                    int64_t fingerprint) const {
  if (!key.given()) return nullptr;
  const auto it = by_id_.find(key.id);
  if (it == by_id_.end()) {
    if (!key.repeat) return nullptr;
    return MakeError(ErrorReason::kRequestIdExpired,
                     fmt::format("request {} is not known, or no longer; ask for the outcome of "
                                 "what it was to create, and send a new request if it is not there",
                                 FormatUuid(key.id)),
                     {{"requestId", FormatUuid(key.id)}});
  }
  const RequestRow& row = slots_[it->second];
  if (row.kind == static_cast<int32_t>(kind) && row.fingerprint == fingerprint) return &row;
  return MakeError(ErrorReason::kRequestIdReused,
                   fmt::format("request id {} was used for another request; give each request an "
                               "id of its own",
                               FormatUuid(key.id)),
                   {{"requestId", FormatUuid(key.id)}});
}

void RequestRing::Record(const RequestKey& key,
                         RequestRow row,
                         const std::function<bool(const RequestRow&)>& is_live,
                         Unit& unit) {
  if (!key.given() || capacity_ <= 0) return;
  for (int passed = 0; passed < kMaxPassedOver && next_ < std::ssize(slots_); ++passed) {
    if (!is_live(slots_[next_])) break;
    next_ = (next_ + 1) % capacity_;
  }
  row.slot = next_;
  row.request_id = key.id;
  if (next_ < std::ssize(slots_)) {
    by_id_.erase(slots_[next_].request_id);
    slots_[next_] = row;
  } else {
    slots_.push_back(row);
  }
  by_id_[key.id] = row.slot;
  next_ = (next_ + 1) % capacity_;
  unit.Add(Put<RequestRow>{std::move(row)});
}

void RequestRing::Load(const StoredState& stored) {
  next_ = stored.counters.next_request_slot;
  for (const auto& [slot, row] : stored.requests) {
    slots_.push_back(row);
    by_id_[row.request_id] = slot;
  }
  if (next_ >= capacity_) next_ = 0;  // the ring is smaller than it was
}

void RequestRing::Store(StoredState& out) const {
  for (const RequestRow& row : slots_) out.requests[row.slot] = row;
}

}  // namespace skep::state

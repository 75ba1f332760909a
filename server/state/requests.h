#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "server/state/state.h"
#include "storage/model/rows.h"

namespace skep::state {

// A number for the content of a request, so that one id with two contents is noticed. FNV-1a,
// stable across versions: it is stored.
class Fingerprint {
 public:
  Fingerprint& Add(std::string_view text);
  Fingerprint& Add(int64_t number);
  int64_t value() const { return static_cast<int64_t>(hash_); }

 private:
  void AddByte(uint8_t byte);
  uint64_t hash_ = 14695981039346656037u;
};

// All bytes count, with a seed of the process: ids are the clients' choice, and those of one
// session differ in their last bytes only.
struct RequestIdHash {
  size_t operator()(const std::array<uint8_t, 16>& id) const;
};

// The creating calls answered lately, in a ring of fixed size. Confined to the loop thread.
class RequestRing {
 public:
  explicit RequestRing(int64_t capacity) : capacity_(capacity) {}

  // The record of this request; nullptr if it is new, or if the caller wants no repetition.
  // Errors: kRequestIdReused where the id belongs to another request; kRequestIdExpired where the
  // caller repeats a request that is not known (any more).
  absl::StatusOr<const RequestRow*> Find(const RequestKey& key,
                                         RequestKind kind,
                                         int64_t fingerprint) const;

  // Remembers an answer; no-op without an id. `is_live(row)`: what the record's request created
  // still lives; such a record is passed over when the ring comes round to it, up to a bound.
  void Record(const RequestKey& key,
              RequestRow row,
              const std::function<bool(const RequestRow&)>& is_live,
              Unit& unit);

  void Load(const StoredState& stored);
  void Store(StoredState& out) const;  // rows; the counter apart
  void StoreCounters(CounterRow& out) const { out.next_request_slot = next_; }

 private:
  using Id = std::array<uint8_t, 16>;

  int64_t capacity_;
  int64_t next_ = 0;               // slot
  std::vector<RequestRow> slots_;  // grows to capacity_
  absl::flat_hash_map<Id, int64_t, RequestIdHash> by_id_;
};

}  // namespace skep::state

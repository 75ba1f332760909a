#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <absl/container/inlined_vector.h>

#include "server/state/id_map.h"
#include "server/state/shared_names.h"
#include "server/state/state.h"
#include "storage/model/rows.h"

namespace skep::state {

// What the store holds of each lock request, one row per component, in step with the LockTable that
// decides. Memory keeps what rows of one request, and requests for one resource, have in common
// once. Confined to the loop thread.
class LockRows {
 public:
  struct Component {
    TableId table;  // none: a database
    ResourceRef resource;
    LockKind kind : 8 = LockKind::kSharedRead;
    WriteOp op : 8 = WriteOp::kInsert;  // if it declares one
    bool declares = false;
    bool dynamic = false;
    LockState state : 8 = LockState::kWaiting;  // the request's, as in its rows
  };
  struct Request {
    TxnId txn;  // none: outside any
    ClientRef client;
    Timestamp request_time{};
    Timestamp acquire_time{};
    absl::InlinedVector<Component, 1> components;  // from 1; never empty

    LockState state() const { return components.front().state; }
    void set_state(LockState state) {
      for (Component& component : components) component.state = state;
    }
  };

  // Valid until it is erased.
  const Request* Find(LockId lock) const { return requests_.Find(lock); }
  const IdMap<LockId, Request>& all() const { return requests_; }
  static std::vector<LockRow> RowsOf(LockId lock, const Request& request);

  ResourceRef Share(const LockResource& resource);
  void Add(LockId lock, Request request, Unit& unit);
  void Grant(LockId lock, Timestamp when, Unit& unit);
  void Erase(LockId lock, Unit& unit);

  int64_t held_components() const { return held_; }
  int64_t waiting_components() const { return waiting_; }

  void Load(const StoredState& stored, Clients& clients);
  void Store(StoredState& out) const;

 private:
  int64_t& CounterOf(const Request& request);
  static void Put(LockId lock, const Request& request, Unit& unit);

  Resources resources_;
  IdMap<LockId, Request> requests_;
  int64_t held_ = 0;
  int64_t waiting_ = 0;
};

}  // namespace skep::state

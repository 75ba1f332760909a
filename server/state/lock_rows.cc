#include "server/state/lock_rows.h"

#include <utility>

namespace skep::state {

std::vector<LockRow> LockRows::RowsOf(LockId lock, const Request& request) {
  std::vector<LockRow> rows;
  rows.reserve(request.components.size());
  for (const Component& component : request.components) {
    LockRow& row = rows.emplace_back();
    row.lock = lock;
    row.component = static_cast<int32_t>(rows.size());
    row.txn = request.txn;
    row.resource = *component.resource;
    row.table = component.table;
    row.kind = component.kind;
    row.state = component.state;
    if (component.declares) row.op = component.op;
    row.dynamic = component.dynamic;
    row.request_time = request.request_time;
    row.acquire_time = request.acquire_time;
    row.user = request.client->user;
    row.host = request.client->host;
    row.agent = request.client->agent;
  }
  return rows;
}

int64_t& LockRows::CounterOf(const Request& request) {
  return request.state() == LockState::kAcquired ? held_ : waiting_;
}

void LockRows::Put(LockId lock, const Request& request, Unit& unit) {
  for (LockRow& row : RowsOf(lock, request)) unit.Add(skep::Put<LockRow>{std::move(row)});
}

ResourceRef LockRows::Share(const LockResource& resource) {
  return resources_.Get(ResourceTraits::ViewOf(resource));
}

void LockRows::Add(LockId lock, Request request, Unit& unit) {
  Put(lock, request, unit);
  CounterOf(request) += std::ssize(request.components);
  requests_.Insert(lock) = std::move(request);
}

void LockRows::Grant(LockId lock, Timestamp when, Unit& unit) {
  Request& request = *requests_.Find(lock);
  CounterOf(request) -= std::ssize(request.components);
  request.set_state(LockState::kAcquired);
  request.acquire_time = when;
  Put(lock, request, unit);
  CounterOf(request) += std::ssize(request.components);
}

void LockRows::Erase(LockId lock, Unit& unit) {
  const Request* request = requests_.Find(lock);
  if (request == nullptr) return;
  CounterOf(*request) -= std::ssize(request->components);
  requests_.Erase(lock);
  unit.Add(EraseLock{lock});
}

void LockRows::Load(const StoredState& stored, Clients& clients) {
  for (const auto& [key, row] : stored.locks) {
    Request* known = requests_.Find(row.lock);
    Request& request = known != nullptr ? *known : requests_.Insert(row.lock);
    request.txn = row.txn;
    request.client = clients.Get({row.user, row.host, row.agent});
    request.request_time = row.request_time;
    request.acquire_time = row.acquire_time;
    Component& component = request.components.emplace_back();
    component.table = row.table;
    component.resource = Share(row.resource);
    component.kind = row.kind;
    component.op = row.op.value_or(WriteOp::kInsert);
    component.declares = row.op.has_value();
    component.dynamic = row.dynamic;
    component.state = row.state;
    ++CounterOf(request);
  }
}

void LockRows::Store(StoredState& out) const {
  for (const auto& [lock, request] : requests_) {
    for (LockRow& row : RowsOf(lock, request)) {
      out.locks[{lock, row.component}] = std::move(row);
    }
  }
}

}  // namespace skep::state

#include "server/state/lock_index.h"

#include <algorithm>

namespace skep::state::locks {
namespace {

KindSet ConflictingKinds(LockKind kind) {
  KindSet set = 0;
  for (size_t k = 0; k < kKinds; ++k) {
    const auto other = static_cast<LockKind>(k);
    if (LocksConflict(kind, other)) set |= BitOf(other);
  }
  return set;
}

}  // namespace

KindSet ConflictsAbove(LockKind kind, const Node& node, const Node& outer) {
  KindSet kinds = ConflictingKinds(kind);
  if (kind == LockKind::kExclusive && outer.is_database() && !node.is_database()) {
    kinds &= static_cast<KindSet>(~BitOf(LockKind::kSharedRead));  // LCM-4
  }
  return kinds;
}

KindSet ConflictsBelow(LockKind kind, const Node& node) {
  KindSet kinds = ConflictingKinds(kind);
  if (kind == LockKind::kSharedRead && node.is_database()) {
    kinds &= static_cast<KindSet>(~BitOf(LockKind::kExclusive));  // LCM-4
  }
  return kinds;
}

bool PlacesConflict(const Place& a, const Place& b) {
  for (const Node* outer = a.node; outer != nullptr; outer = outer->parent) {
    if (outer == b.node) return (ConflictsAbove(a.kind, *a.node, *outer) & BitOf(b.kind)) != 0;
  }
  for (const Node* outer = b.node->parent; outer != nullptr; outer = outer->parent) {
    if (outer == a.node) return (ConflictsBelow(a.kind, *a.node) & BitOf(b.kind)) != 0;
  }
  return false;
}

bool LockCovers(LockKind held, const Node& at, LockKind asked, const Node& on) {
  if (held < asked) return false;
  if (&at == &on) return true;
  if (held == LockKind::kSharedRead && at.is_database()) return false;
  for (const Node* outer = on.parent; outer != nullptr; outer = outer->parent) {
    if (outer == &at) return true;
  }
  return false;
}

std::vector<Record*> WaitingOf(const OwnerRecord& owner) {
  std::vector<Record*> waiting;
  for (Record* r = owner.last; waiting.size() < owner.waiting; r = r->previous_of_owner) {
    if (!r->granted) waiting.push_back(r);
  }
  std::reverse(waiting.begin(), waiting.end());
  return waiting;
}

bool SameTxn(const Record& a, const Record& b) {
  return a.owner().is_txn() && a.owner() == b.owner();
}

std::vector<LockResource> Containers(const LockResource& resource) {
  std::vector<LockResource> containers{resource};
  if (!resource.partition.empty()) containers.push_back({resource.database, resource.table, ""});
  if (!resource.table.empty()) containers.push_back({resource.database, "", ""});
  return containers;
}

Node* Index::Make(const LockResource& resource) {
  auto child = [](auto& map, const std::string& name, Node* parent) {
    std::unique_ptr<Node>& slot = map[name];
    if (slot == nullptr) {
      slot = std::make_unique<Node>();
      slot->parent = parent;
      slot->name = name;
    }
    return slot.get();
  };
  Node* node = child(databases_, resource.database, nullptr);
  if (resource.table.empty()) return node;
  node = child(node->children, resource.table, node);
  if (resource.partition.empty()) return node;
  return child(node->children, resource.partition, node);
}

Places Index::PlacesOf(const LockRequest& request) {
  std::vector<LockTarget> targets = request.targets;
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  Places places;
  places.reserve(targets.size());
  for (const LockTarget& target : targets) places.push_back({Make(target.resource), target.kind});
  return places;
}

void Index::Insert(Record& record) {
  for (const Place& place : record.places) {
    const auto k = static_cast<size_t>(place.kind);
    (record.granted ? place.node->granted_self : place.node->waiting_self)[k][record.id()] =
        &record;
    ++place.node->components;
    for (Node* outer = place.node->parent; outer != nullptr; outer = outer->parent) {
      (record.granted ? outer->granted_below : outer->waiting_below)[k][record.id()] = &record;
      ++outer->components;
    }
  }
}

void Index::Remove(const Record& record) {
  for (const Place& place : record.places) {
    const auto k = static_cast<size_t>(place.kind);
    (record.granted ? place.node->granted_self : place.node->waiting_self)[k].erase(record.id());
    --place.node->components;
    for (Node* outer = place.node->parent; outer != nullptr; outer = outer->parent) {
      (record.granted ? outer->granted_below : outer->waiting_below)[k].erase(record.id());
      --outer->components;
    }
  }
}

void Index::Prune(const Places& places) {
  // Each node once and children first: none is looked at after it is gone.
  std::array<std::vector<Node*>, 3> by_depth;
  for (const Place& place : places) {
    int depth = place.node->parent == nullptr ? 0 : place.node->parent->parent == nullptr ? 1 : 2;
    for (Node* node = place.node; node != nullptr; node = node->parent) {
      if (node->components == 0) by_depth[static_cast<size_t>(depth)].push_back(node);
      --depth;
    }
  }
  for (size_t depth = by_depth.size(); depth-- > 0;) {
    std::vector<Node*>& nodes = by_depth[depth];
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (Node* node : nodes) {
      if (!node->children.empty()) continue;
      auto& siblings = node->parent != nullptr ? node->parent->children : databases_;
      siblings.erase(std::string(node->name));
    }
  }
}

const Node* Index::FindNode(const LockResource& resource) const {
  auto child = [](const auto& map, const std::string& name) -> const Node* {
    auto it = map.find(name);
    return it == map.end() ? nullptr : it->second.get();
  };
  const Node* node = child(databases_, resource.database);
  if (node == nullptr || resource.table.empty()) return node;
  node = child(node->children, resource.table);
  if (node == nullptr || resource.partition.empty()) return node;
  return child(node->children, resource.partition);
}

}  // namespace skep::state::locks

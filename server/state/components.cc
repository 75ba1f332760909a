#include "server/state/components.h"

#include <tuple>
#include <utility>

namespace skep::state {
namespace {

template <class A, class B>
bool IsBefore(const A& a, std::string_view a_partition, const B& b, std::string_view b_partition) {
  const WriteOp a_op = a.op;
  const WriteOp b_op = b.op;
  return std::tie(a.table, a_partition, a_op) < std::tie(b.table, b_partition, b_op);
}

}  // namespace

bool Components::Less::operator()(const Component& a, const Component& b) const {
  return IsBefore(a, a.partition(), b, b.partition());
}
bool Components::Less::operator()(const Component& a, const Key& b) const {
  return IsBefore(a, a.partition(), b, b.partition);
}
bool Components::Less::operator()(const Key& a, const Component& b) const {
  return IsBefore(a, a.partition, b, b.partition());
}

Components::Component Components::Make(const ComponentRow& row) {
  Component component;
  component.table = row.table;
  if (!row.partition.empty()) component.name = std::make_unique<const std::string>(row.partition);
  component.op = row.op;
  component.dynamic = row.dynamic;
  return component;
}

ComponentRow Components::RowOf(TxnId txn, const Component& component) {
  return {
      txn, component.table, std::string(component.partition()), component.op, component.dynamic};
}

template <class Visit>
void Components::ForEach(Visit visit) const {
  if (all_ == nullptr) return;
  if (all_->many == nullptr) return visit(all_->only);
  for (const Component& component : *all_->many) visit(component);
}

template <class Visit>
void Components::ForEachOf(TableId table, Visit visit) const {
  if (all_ == nullptr) return;
  if (all_->many == nullptr) {
    if (all_->only.table == table) visit(all_->only);
    return;
  }
  for (auto it = all_->many->lower_bound(Key{table, "", WriteOp::kInsert});
       it != all_->many->end() && it->table == table;
       ++it) {
    visit(*it);
  }
}

bool Components::Add(const ComponentRow& row) {
  if (all_ == nullptr) {
    all_ = std::make_unique<All>();
    all_->only = Make(row);
    return true;
  }
  const Key key{row.table, row.partition, row.op};
  if (all_->many == nullptr) {
    Component& only = all_->only;
    if (!Less()(key, only) && !Less()(only, key)) {
      if (!only.dynamic || row.dynamic) return false;
      only.dynamic = false;
      return true;
    }
    all_->many = std::make_unique<absl::btree_set<Component, Less>>();
    all_->many->insert(std::move(only));
  }
  const auto known = all_->many->find(key);
  if (known == all_->many->end()) {
    all_->many->insert(Make(row));
    return true;
  }
  if (!known->dynamic || row.dynamic) return false;
  auto node = all_->many->extract(known);
  node.value().dynamic = false;
  all_->many->insert(std::move(node));
  return true;
}

std::vector<ComponentRow> Components::TakeDynamic(TxnId txn, TableId table) {
  std::vector<ComponentRow> taken;
  ForEachOf(table, [&](const Component& c) {
    if (c.dynamic) taken.push_back(RowOf(txn, c));
  });
  if (taken.empty()) return taken;
  if (all_->many != nullptr) {
    for (const ComponentRow& row : taken)
      all_->many->erase(all_->many->find(Key{row.table, row.partition, row.op}));
  }
  if (all_->many == nullptr || all_->many->empty()) all_ = nullptr;
  return taken;
}

bool Components::Names(TableId table) const {
  bool found = false;
  ForEachOf(table, [&](const Component&) { found = true; });
  return found;
}

std::vector<ComponentRow> Components::Rows(TxnId txn) const {
  std::vector<ComponentRow> rows;
  ForEach([&](const Component& c) { rows.push_back(RowOf(txn, c)); });
  return rows;
}

}  // namespace skep::state

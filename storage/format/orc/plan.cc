#include "storage/format/orc/plan.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "storage/base/text.h"
#include "storage/format/orc/acid_schema.h"
#include "storage/format/orc/errors.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

std::string ChildName(const TypeNode& node, const std::string& name, size_t child) {
  switch (node.type.kind) {
    case TypeKind::kStruct:
      return name + "." + AsciiLower(node.field_names[child]);
    case TypeKind::kMap:
      return name + (child == 0 ? ".key" : ".value");
    case TypeKind::kUnion:
      return name + ".f" + std::to_string(child);
    default:
      return name + ".element";
  }
}

PlanNode NodeOf(const Tail& tail, uint32_t column, std::string name) {
  const TypeNode& node = tail.types[column];
  PlanNode out;
  out.column = column;
  out.type = node.type;
  for (size_t i = 0; i < node.subtypes.size(); ++i) {
    out.children.push_back(NodeOf(tail, node.subtypes[i], ChildName(node, name, i)));
    out.type.children.push_back(out.children.back().type);
    if (node.type.kind == TypeKind::kStruct)
      out.type.field_names.push_back(AsciiLower(node.field_names[i]));
  }
  out.name = std::move(name);
  return out;
}

// Adds `node`'s part under `path` (names of fields, each behind a point) to `out`, which is the
// same column, empty or cut down. False where there is no such field.
bool AddPath(const PlanNode& node, std::string_view path, PlanNode* out) {
  if (path.empty()) {
    *out = node;
    return true;
  }
  if (node.type.kind != TypeKind::kStruct) return false;
  for (size_t i = 0; i < node.children.size(); ++i) {
    const std::string& field = node.type.field_names[i];
    if (!path.substr(1).starts_with(field)) continue;
    const std::string_view rest = path.substr(1 + field.size());
    if (!rest.empty() && rest[0] != '.') continue;
    const auto same = [&](const PlanNode& child) {
      return child.column == node.children[i].column;
    };
    auto at = std::find_if(out->children.begin(), out->children.end(), same);
    PlanNode part = at == out->children.end() ? node.children[i].WithoutChildren() : *at;
    if (!AddPath(node.children[i], rest, &part)) continue;
    if (at == out->children.end()) {
      out->children.push_back(part);
      out->type.children.push_back(part.type);
      out->type.field_names.push_back(field);
    } else {
      out->type.children[static_cast<size_t>(at - out->children.begin())] = part.type;
      *at = std::move(part);
    }
    return true;
  }
  return false;
}

absl::Status CheckAcidTypes(const Tail& tail, const std::string& path) {
  for (size_t i = 0; i < kAcidFields.size(); ++i) {
    const HiveType& type = tail.types[tail.types[0].subtypes[i]].type;
    if (type.kind != kAcidFields[i].kind) {
      return CorruptFile(
          path,
          "the ACID field " + std::string(kAcidFields[i].name) + " has type " + type.ToString(),
          tail.file_length);
    }
  }
  return absl::OkStatus();
}

}  // namespace

PlanNode PlanNode::WithoutChildren() const {
  PlanNode out;
  out.column = column;
  out.type = type;
  out.name = name;
  if (type.kind == TypeKind::kStruct) {
    out.type.children.clear();
    out.type.field_names.clear();
  } else {
    out.children = children;
  }
  return out;
}

absl::StatusOr<std::vector<PlanNode>> SelectColumns(const std::vector<PlanNode>& columns,
                                                    const std::vector<std::string>& names,
                                                    const std::string& path) {
  std::vector<PlanNode> selected;
  for (const std::string& name : names) {
    const PlanNode* column = nullptr;
    for (const PlanNode& candidate : columns) {
      if (candidate.name == name) column = &candidate;
    }
    std::string_view rest;
    for (size_t dot = name.find('.'); column == nullptr && dot != std::string::npos;
         dot = name.find('.', dot + 1)) {
      for (const PlanNode& candidate : columns) {
        if (candidate.name != std::string_view(name).substr(0, dot)) continue;
        column = &candidate;
        rest = std::string_view(name).substr(dot);
      }
    }
    const auto same = [&](const PlanNode& node) {
      return column != nullptr && node.column == column->column;
    };
    const auto at = std::find_if(selected.begin(), selected.end(), same);
    const bool is_path = !rest.empty() && at != selected.end();
    PlanNode part;
    if (column != nullptr) part = is_path ? *at : column->WithoutChildren();
    if (column == nullptr || !AddPath(*column, rest, &part)) {
      return MakeError(ErrorReason::kInvalidRequest,
                       path + ": no column \"" + name + "\"",
                       {{"path", path}, {"column", name}});
    }
    if (is_path) {
      *at = std::move(part);
    } else {
      selected.push_back(std::move(part));
    }
  }
  return selected;
}

absl::StatusOr<std::vector<PlanNode>> ColumnsOf(const Tail& tail, const std::string& path) {
  std::vector<PlanNode> columns;
  if (tail.types.empty()) return columns;
  uint32_t parent = 0;
  if (HasAcidSchema(tail)) {
    if (absl::Status status = CheckAcidTypes(tail, path); !status.ok()) return status;
    parent = tail.types[0].subtypes[kRowField];
  } else if (tail.types[0].type.kind != TypeKind::kStruct) {
    columns.push_back(NodeOf(tail, 0, "value"));
    return columns;
  }
  const TypeNode& node = tail.types[parent];
  for (size_t i = 0; i < node.subtypes.size(); ++i) {
    columns.push_back(NodeOf(tail, node.subtypes[i], AsciiLower(node.field_names[i])));
  }
  return columns;
}

}  // namespace skep::orc

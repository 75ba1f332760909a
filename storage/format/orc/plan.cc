#include "storage/format/orc/plan.h"

#include <algorithm>

#include "storage/base/text.h"
#include "storage/format/orc/acid_schema.h"
#include "storage/format/orc/errors.h"

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

bool PlanNode::Contains(TypeKind kind) const {
  return type.kind == kind ||
         std::any_of(children.begin(), children.end(), [&](const PlanNode& child) {
           return child.Contains(kind);
         });
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

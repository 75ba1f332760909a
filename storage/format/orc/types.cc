#include "storage/format/orc/types.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

constexpr size_t kMaxDepth = 64;
constexpr uint32_t kMaxPrecision = 38;
// Hive 0.11 and 0.12 wrote decimals without a precision (TY-25).
constexpr int32_t kBareDecimalScale = 18;

constexpr std::array<std::pair<OrcKind, TypeKind>, 19> kKinds{{
    {OrcKind::kBoolean, TypeKind::kBoolean},
    {OrcKind::kByte, TypeKind::kTinyint},
    {OrcKind::kShort, TypeKind::kSmallint},
    {OrcKind::kInt, TypeKind::kInt},
    {OrcKind::kLong, TypeKind::kBigint},
    {OrcKind::kFloat, TypeKind::kFloat},
    {OrcKind::kDouble, TypeKind::kDouble},
    {OrcKind::kString, TypeKind::kString},
    {OrcKind::kBinary, TypeKind::kBinary},
    {OrcKind::kTimestamp, TypeKind::kTimestamp},
    {OrcKind::kList, TypeKind::kList},
    {OrcKind::kMap, TypeKind::kMap},
    {OrcKind::kStruct, TypeKind::kStruct},
    {OrcKind::kUnion, TypeKind::kUnion},
    {OrcKind::kDecimal, TypeKind::kDecimal},
    {OrcKind::kDate, TypeKind::kDate},
    {OrcKind::kVarchar, TypeKind::kVarchar},
    {OrcKind::kChar, TypeKind::kChar},
    {OrcKind::kTimestampInstant, TypeKind::kTimestampLocalTz},
}};

std::optional<TypeKind> HiveKindOf(uint32_t kind) {
  for (const auto& [orc, hive] : kKinds) {
    if (static_cast<uint32_t>(orc) == kind) return hive;
  }
  return std::nullopt;
}

absl::Status Bad(uint32_t column, std::string_view what) {
  return MakeError(ErrorReason::kCorruptFile,
                   "type " + std::to_string(column) + ": " + std::string(what));
}

absl::Status SetParameters(const proto::Type& type, uint32_t column, HiveType* out) {
  if (out->kind == TypeKind::kChar || out->kind == TypeKind::kVarchar) {
    if (type.maximum_length() == 0 ||
        type.maximum_length() > static_cast<uint32_t>(std::numeric_limits<int32_t>::max())) {
      return Bad(column, "length " + std::to_string(type.maximum_length()) + " of char or varchar");
    }
    out->length = static_cast<int32_t>(type.maximum_length());
  }
  if (out->kind == TypeKind::kDecimal) {
    if (type.precision() == 0) {
      out->precision = kMaxPrecision;
      out->scale = kBareDecimalScale;
      return absl::OkStatus();
    }
    if (type.precision() > kMaxPrecision || type.scale() > type.precision()) {
      return Bad(
          column,
          "decimal(" + std::to_string(type.precision()) + "," + std::to_string(type.scale()) + ")");
    }
    out->precision = static_cast<int32_t>(type.precision());
    out->scale = static_cast<int32_t>(type.scale());
  }
  return absl::OkStatus();
}

absl::Status CheckArity(const TypeNode& node, uint32_t column) {
  const size_t children = node.subtypes.size();
  const bool fits = [&] {
    switch (node.type.kind) {
      case TypeKind::kList:
        return children == 1;
      case TypeKind::kMap:
        return children == 2;
      case TypeKind::kStruct:
        return node.field_names.size() == children;
      case TypeKind::kUnion:
        return children >= 1 && children <= 256;
      default:
        return children == 0;
    }
  }();
  return fits ? absl::OkStatus() : Bad(column, "wrong number of children");
}

// The list must be one tree in preorder. Returns the number after the last node of the subtree.
absl::StatusOr<uint32_t> CheckPreorder(const std::vector<TypeNode>& types,
                                       uint32_t column,
                                       size_t depth) {
  if (depth > kMaxDepth) return Bad(column, "nested more than 64 deep");
  uint32_t next = column + 1;
  for (const uint32_t child : types[column].subtypes) {
    if (child != next || child >= types.size()) return Bad(column, "children are not in preorder");
    SKEP_ASSIGN_OR_RETURN(next, CheckPreorder(types, child, depth + 1));
  }
  return next;
}

void FlattenInto(const HiveType& type, std::vector<TypeNode>* out) {
  const size_t at = out->size();
  TypeNode node;
  node.type = type;
  node.type.children.clear();
  node.type.field_names.clear();
  node.field_names = type.field_names;
  out->push_back(std::move(node));
  for (const HiveType& child : type.children) {
    (*out)[at].subtypes.push_back(static_cast<uint32_t>(out->size()));
    FlattenInto(child, out);
  }
}

}  // namespace

OrcKind OrcKindOf(TypeKind kind) {
  return std::find_if(
             kKinds.begin(), kKinds.end(), [&](const auto& pair) { return pair.second == kind; })
      ->first;
}

absl::StatusOr<std::vector<TypeNode>> ParseTypes(const proto::Footer& footer) {
  std::vector<TypeNode> types;
  types.reserve(static_cast<size_t>(footer.types_size()));
  for (const proto::Type& type : footer.types()) {
    const auto column = static_cast<uint32_t>(types.size());
    const std::optional<TypeKind> kind = HiveKindOf(type.kind());
    if (!kind) {
      return MakeError(ErrorReason::kNotSupported, "ORC type kind " + std::to_string(type.kind()));
    }
    TypeNode node;
    node.type.kind = *kind;
    SKEP_RETURN_IF_ERROR(SetParameters(type, column, &node.type));
    node.subtypes.assign(type.subtypes().begin(), type.subtypes().end());
    node.field_names.assign(type.field_names().begin(), type.field_names().end());
    SKEP_RETURN_IF_ERROR(CheckArity(node, column));
    types.push_back(std::move(node));
  }
  if (types.empty()) return types;
  SKEP_ASSIGN_OR_RETURN(const uint32_t end, CheckPreorder(types, 0, 0));
  if (end != types.size()) return Bad(end, "belongs to no parent");
  return types;
}

HiveType TreeOf(const std::vector<TypeNode>& types, uint32_t column) {
  const TypeNode& node = types[column];
  HiveType tree = node.type;
  tree.field_names = node.field_names;
  for (const uint32_t child : node.subtypes) tree.children.push_back(TreeOf(types, child));
  return tree;
}

std::vector<TypeNode> FlattenTree(const HiveType& root) {
  std::vector<TypeNode> out;
  FlattenInto(root, &out);
  return out;
}

void AppendTypes(const std::vector<TypeNode>& types, proto::Footer* footer) {
  for (const TypeNode& node : types) {
    proto::Type* type = footer->add_types();
    type->set_kind(static_cast<uint32_t>(OrcKindOf(node.type.kind)));
    for (const uint32_t child : node.subtypes) type->add_subtypes(child);
    for (const std::string& name : node.field_names) type->add_field_names(name);
    if (node.type.kind == TypeKind::kChar || node.type.kind == TypeKind::kVarchar) {
      type->set_maximum_length(static_cast<uint32_t>(node.type.length));
    }
    if (node.type.kind == TypeKind::kDecimal) {
      type->set_precision(static_cast<uint32_t>(node.type.precision));
      type->set_scale(static_cast<uint32_t>(node.type.scale));
    }
  }
}

}  // namespace skep::orc

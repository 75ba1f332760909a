#pragma once

// Between ORC's flat type list and the tree of HiveType.

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/format/orc/orc.pb.h"
#include "storage/format/orc/tail.h"

namespace skep::orc {

// ORC's numbers of type kinds (the field `kind` of Type).
enum class OrcKind : uint32_t {
  kBoolean = 0,
  kByte = 1,
  kShort = 2,
  kInt = 3,
  kLong = 4,
  kFloat = 5,
  kDouble = 6,
  kString = 7,
  kBinary = 8,
  kTimestamp = 9,
  kList = 10,
  kMap = 11,
  kStruct = 12,
  kUnion = 13,
  kDecimal = 14,
  kDate = 15,
  kVarchar = 16,
  kChar = 17,
  kTimestampInstant = 18,
};

OrcKind OrcKindOf(TypeKind kind);

// Checks numbering (FA-9), arity and depth. Errors: kCorruptFile, kNotSupported, without a path.
absl::StatusOr<std::vector<TypeNode>> ParseTypes(const proto::Footer& footer);
// The tree below `column`.
HiveType TreeOf(const std::vector<TypeNode>& types, uint32_t column);
// The inverse: nodes in preorder.
std::vector<TypeNode> FlattenTree(const HiveType& root);
void AppendTypes(const std::vector<TypeNode>& types, proto::Footer* footer);

}  // namespace skep::orc

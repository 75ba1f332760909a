#pragma once

// The six fields of Hive's ACID row (RW-1) and the keys of its file metadata.

#include <array>
#include <cstddef>
#include <string_view>

#include "storage/model/hive_type.h"

namespace skep::orc {

struct AcidField {
  std::string_view name;
  TypeKind kind;
};

inline constexpr std::array<AcidField, 6> kAcidFields{{{"operation", TypeKind::kInt},
                                                       {"originalTransaction", TypeKind::kBigint},
                                                       {"bucket", TypeKind::kInt},
                                                       {"rowId", TypeKind::kBigint},
                                                       {"currentTransaction", TypeKind::kBigint},
                                                       {"row", TypeKind::kStruct}}};
inline constexpr size_t kRowField = 5;

inline constexpr std::string_view kAcidVersionEntry = "hive.acid.version";
inline constexpr std::string_view kAcidVersion = "2";
inline constexpr std::string_view kKeyIndexEntry = "hive.acid.key.index";
inline constexpr std::string_view kAcidStatsEntry = "hive.acid.stats";

}  // namespace skep::orc

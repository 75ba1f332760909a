#pragma once

// What a read decodes: the wanted columns of a file as a tree, each node with its id in the file
// and the name under which errors speak of it.

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/format/orc/tail.h"

namespace skep::orc {

struct PlanNode {
  uint32_t column = 0;  // id in the file
  HiveType type;        // with children and lower-case field names, as of the file
  std::string name;     // "st.a": the column for people
  std::vector<PlanNode> children;

  PlanNode WithoutChildren() const;  // of a struct: to be filled with some of its fields
};

struct ReadPlan {
  bool is_acid = false;
  bool root_is_struct = true;
  std::vector<PlanNode> columns;  // in the order asked for; for an ACID file fields of `row`
};

// The table's columns in the file: the fields of `row` or of the root; one column `value` for any
// other root. Names lower case, also inside structs. Errors: kCorruptFile where the six ACID names
// have other types.
absl::StatusOr<std::vector<PlanNode>> ColumnsOf(const Tail& tail, const std::string& path);

// The nodes that `names` ask for, in their order: a column, or a path of fields into structs
// ("address.city"). A struct that is only named by paths holds those fields alone; the name of a
// column goes before a path. Errors: kInvalidRequest naming the file.
absl::StatusOr<std::vector<PlanNode>> SelectColumns(const std::vector<PlanNode>& columns,
                                                    const std::vector<std::string>& names,
                                                    const std::string& path);

}  // namespace skep::orc

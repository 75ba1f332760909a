#pragma once

// Predicates of a scan: a tree of comparisons under AND, OR, NOT. A reader may skip what a
// predicate proves absent; only EvaluatePredicate decides about a row (three-valued logic of SQL: a
// row passes iff TRUE).

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/format/column_range.h"
#include "storage/model/hive_type.h"

namespace arrow {
class BooleanArray;
class RecordBatch;
}  // namespace arrow

namespace skep::format {

enum class PredicateOp {
  kEq,
  kNotEq,
  kLt,
  kLe,
  kGt,
  kGe,
  kIn,
  kBetween,
  kIsNull,
  kNullSafeEq,
  kAnd,
  kOr,
  kNot
};

// A literal as typed text: parsed once against the column's type when the predicate is bound.
struct Predicate {
  PredicateOp op = PredicateOp::kAnd;
  std::string column;                 // leaf: lower-case name
  std::vector<std::string> literals;  // leaf: kIn any number, kBetween two, kIsNull none, else one
  std::vector<Predicate> children;    // kAnd, kOr, kNot
};

// A predicate whose columns are resolved and whose literals have their column's type. Immutable.
class BoundPredicate {
 public:
  // Errors: kInvalidRequest: unknown column (naming the nearest), a literal that is not of the
  // column's type, a type that cannot be compared (list, map, struct, union, binary).
  static absl::StatusOr<BoundPredicate> Bind(const Predicate& predicate,
                                             const std::vector<Column>& columns);
  ~BoundPredicate();
  BoundPredicate(BoundPredicate&&) noexcept;
  BoundPredicate& operator=(BoundPredicate&&) noexcept;

  // One boolean per row: true iff the predicate is TRUE. `batch` has the bound columns by name.
  // Timestamps compare by (us, sub), CHAR without trailing blanks.
  absl::StatusOr<std::shared_ptr<arrow::BooleanArray>> Evaluate(
      const arrow::RecordBatch& batch) const;
  // False where no row whose columns lie in the given ranges can make the predicate TRUE.
  bool MayMatch(const RangeOfColumn& range_of) const;
  // Lower-case names of the columns it looks at.
  std::vector<std::string> columns() const;

 private:
  struct Node;
  explicit BoundPredicate(std::unique_ptr<Node> root);
  std::unique_ptr<Node> root_;
};

}  // namespace skep::format

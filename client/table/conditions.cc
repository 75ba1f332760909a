#include "client/table/conditions.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <arrow/api.h>
#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/vocabulary.h"
#include "storage/model/errors.h"

namespace skep::client {
namespace {

using format::Predicate;
using format::PredicateOp;

struct Form {
  PredicateOp op;
  size_t values;
};

std::optional<Form> FormOf(Comparison comparison) {
  switch (comparison) {
    case Comparison::kEqual:
      return Form{PredicateOp::kEq, 1};
    case Comparison::kNotEqual:
      return Form{PredicateOp::kNotEq, 1};
    case Comparison::kLess:
      return Form{PredicateOp::kLt, 1};
    case Comparison::kLessOrEqual:
      return Form{PredicateOp::kLe, 1};
    case Comparison::kGreater:
      return Form{PredicateOp::kGt, 1};
    case Comparison::kGreaterOrEqual:
      return Form{PredicateOp::kGe, 1};
    case Comparison::kBetween:
      return Form{PredicateOp::kBetween, 2};
    case Comparison::kIsNull:
    case Comparison::kIsNotNull:
      return Form{PredicateOp::kIsNull, 0};
    case Comparison::kIn:
      return std::nullopt;
  }
  return std::nullopt;
}

absl::StatusOr<Predicate> LeafOf(const Condition& condition) {
  Predicate leaf{.op = PredicateOp::kIn,
                 .column = AsciiLower(condition.column),
                 .literals = condition.values,
                 .children = {}};
  const auto form = FormOf(condition.comparison);
  if (form ? condition.values.size() != form->values : condition.values.empty()) {
    return MakeError(ErrorReason::kInvalidRequest,
                     fmt::format("the condition on `{}` has {} value(s), which its comparison does "
                                 "not take",
                                 Printable(condition.column),
                                 condition.values.size()),
                     {{"field", "where"}, {"column", condition.column}});
  }
  if (form) leaf.op = form->op;
  if (condition.comparison != Comparison::kIsNotNull) return leaf;
  return Predicate{
      .op = PredicateOp::kNot, .column = "", .literals = {}, .children = {std::move(leaf)}};
}

}  // namespace

absl::StatusOr<std::optional<Predicate>> PredicateOf(const std::vector<Condition>& where) {
  if (where.empty()) return std::nullopt;
  Predicate all{.op = PredicateOp::kAnd, .column = "", .literals = {}, .children = {}};
  for (const Condition& condition : where) {
    SKEP_ASSIGN_OR_RETURN(Predicate leaf, LeafOf(condition));
    all.children.push_back(std::move(leaf));
  }
  return std::optional(std::move(all));
}

absl::StatusOr<bool> PartitionMayMatch(const std::vector<table::PartitionValue>& partition,
                                       const std::vector<Condition>& where) {
  std::vector<Column> columns;
  for (const table::PartitionValue& value : partition) columns.push_back(value.column);
  std::vector<Condition> on_partition;
  std::copy_if(
      where.begin(), where.end(), std::back_inserter(on_partition), [&](const Condition& c) {
        const std::string name = AsciiLower(c.column);
        return std::any_of(columns.begin(), columns.end(), [&](const Column& column) {
          return column.name == name;
        });
      });
  SKEP_ASSIGN_OR_RETURN(const auto predicate, PredicateOf(on_partition));
  if (!predicate) return true;
  SKEP_ASSIGN_OR_RETURN(const auto bound, format::BoundPredicate::Bind(*predicate, columns));
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (const table::PartitionValue& value : partition) {
    SKEP_ASSIGN_OR_RETURN(auto array, table::RepeatPartitionValue(value, 1));
    arrays.push_back(std::move(array));
  }
  const auto row = arrow::RecordBatch::Make(format::ArrowSchemaOf(columns), 1, std::move(arrays));
  SKEP_ASSIGN_OR_RETURN(const auto passes, bound.Evaluate(*row));
  return passes->IsValid(0) && passes->Value(0);
}

}  // namespace skep::client

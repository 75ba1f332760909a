#include "storage/table/stripe_filter.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skep::testing {
namespace {

using format::Predicate;
using format::PredicateOp;
using ::testing::ElementsAre;
using ::testing::Optional;

// A plain file with `n int`, three stripes: 0…9 without nulls, 10…19 with nulls, 20…29 without.
orc::Tail ThreeStripes() {
  orc::Tail tail;
  tail.row_index_stride = 10000;
  orc::TypeNode root{
      .type = HiveType{.kind = TypeKind::kStruct}, .subtypes = {1}, .field_names = {"N"}};
  orc::TypeNode n{.type = HiveType{.kind = TypeKind::kInt}, .subtypes = {}, .field_names = {}};
  tail.types = {root, n};
  tail.root = HiveType{.kind = TypeKind::kStruct, .children = {n.type}, .field_names = {"N"}};
  for (int64_t i = 0; i < 3; ++i) {
    tail.stripes.push_back({.rows = 10});
    orc::ColumnStatistics column;
    column.values = i == 1 ? 9 : 10;
    column.has_null = i == 1;
    column.int_min = i * 10;
    column.int_max = i * 10 + 9;
    tail.stripe_statistics.push_back({orc::ColumnStatistics{}, column});
  }
  return tail;
}

Predicate Leaf(PredicateOp op, std::vector<std::string> literals = {}) {
  return {.op = op, .column = "n", .literals = std::move(literals), .children = {}};
}

Predicate Tree(PredicateOp op, std::vector<Predicate> children) {
  return {.op = op, .column = "", .literals = {}, .children = std::move(children)};
}

TEST(StripesToRead, SkipsWhatTheBoundsExclude) {
  struct Case {
    std::string name;
    Predicate predicate;
    std::optional<std::vector<size_t>> stripes;
  };
  const std::vector<Case> cases = {
      {"equal", Leaf(PredicateOp::kEq, {"15"}), std::vector<size_t>{1}},
      {"equal to nothing", Leaf(PredicateOp::kEq, {"99"}), std::vector<size_t>{}},
      {"less at the edge", Leaf(PredicateOp::kLt, {"10"}), std::vector<size_t>{0}},
      {"less or equal at the edge", Leaf(PredicateOp::kLe, {"10"}), std::vector<size_t>{0, 1}},
      {"greater at the edge", Leaf(PredicateOp::kGt, {"19"}), std::vector<size_t>{2}},
      {"greater or equal at the edge", Leaf(PredicateOp::kGe, {"19"}), std::vector<size_t>{1, 2}},
      {"in", Leaf(PredicateOp::kIn, {"3", "25"}), std::vector<size_t>{0, 2}},
      {"between", Leaf(PredicateOp::kBetween, {"5", "12"}), std::vector<size_t>{0, 1}},
      {"is null", Leaf(PredicateOp::kIsNull), std::vector<size_t>{1}},
      {"and",
       Tree(PredicateOp::kAnd, {Leaf(PredicateOp::kGt, {"5"}), Leaf(PredicateOp::kLt, {"15"})}),
       std::vector<size_t>{0, 1}},
      {"or",
       Tree(PredicateOp::kOr, {Leaf(PredicateOp::kEq, {"5"}), Leaf(PredicateOp::kEq, {"25"})}),
       std::vector<size_t>{0, 2}},
      {"not proves nothing",
       Tree(PredicateOp::kNot, {Leaf(PredicateOp::kEq, {"5"})}),
       std::nullopt},
      {"not equal proves nothing", Leaf(PredicateOp::kNotEq, {"5"}), std::nullopt},
      {"null-safe equal proves nothing", Leaf(PredicateOp::kNullSafeEq, {"5"}), std::nullopt},
      {"a literal that is no integer", Leaf(PredicateOp::kEq, {"5.5"}), std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(table::StripesToRead(ThreeStripes(), c.predicate), c.stripes);
  }
}

TEST(StripesToRead, BelievesOnlyCompleteAndTrustedStatistics) {
  const Predicate none = Leaf(PredicateOp::kEq, {"99"});
  orc::Tail untrusted = ThreeStripes();
  untrusted.row_index_stride = 0;
  EXPECT_EQ(table::StripesToRead(untrusted, none), std::nullopt);

  orc::Tail incomplete = ThreeStripes();
  incomplete.stripe_statistics.pop_back();
  EXPECT_EQ(table::StripesToRead(incomplete, none), std::nullopt);

  orc::Tail unbounded = ThreeStripes();
  unbounded.stripe_statistics[1][1].int_max.reset();
  EXPECT_THAT(table::StripesToRead(unbounded, none), Optional(ElementsAre(1)));

  Predicate unknown = none;
  unknown.column = "m";
  EXPECT_EQ(table::StripesToRead(ThreeStripes(), unknown), std::nullopt);
}

}  // namespace
}  // namespace skep::testing

#include "storage/table/stripe_filter.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "storage/base/text.h"

namespace skep::table {
namespace {

using format::Predicate;
using format::PredicateOp;

bool IsInteger(TypeKind kind) {
  return kind == TypeKind::kTinyint || kind == TypeKind::kSmallint || kind == TypeKind::kInt ||
         kind == TypeKind::kBigint;
}

// Column ids of the table's columns in the file, by lower-case name.
std::map<std::string, size_t> ColumnIds(const orc::Tail& tail) {
  std::map<std::string, size_t> ids;
  if (tail.types.empty()) return ids;
  size_t parent = 0;
  if (orc::HasAcidSchema(tail)) parent = tail.types[0].subtypes.back();
  const orc::TypeNode& node = tail.types[parent];
  for (size_t i = 0; i < node.field_names.size() && i < node.subtypes.size(); ++i) {
    ids.emplace(AsciiLower(node.field_names[i]), node.subtypes[i]);
  }
  return ids;
}

struct Bounds {
  int64_t low;
  int64_t high;
};

// True iff no value within the bounds can satisfy the comparison.
bool NoneWithin(const Bounds& bounds, PredicateOp op, const std::vector<int64_t>& literals) {
  const auto outside = [&](int64_t value) { return value < bounds.low || value > bounds.high; };
  if (op == PredicateOp::kIn) return std::all_of(literals.begin(), literals.end(), outside);
  if (op == PredicateOp::kBetween) {
    return literals.size() == 2 && (bounds.high < literals[0] || bounds.low > literals[1]);
  }
  if (literals.size() != 1) return false;
  const int64_t value = literals[0];
  switch (op) {
    case PredicateOp::kEq:
      return outside(value);
    case PredicateOp::kLt:
      return bounds.low >= value;
    case PredicateOp::kLe:
      return bounds.low > value;
    case PredicateOp::kGt:
      return bounds.high <= value;
    case PredicateOp::kGe:
      return bounds.high < value;
    default:
      return false;
  }
}

class StripeTest {
 public:
  StripeTest(const orc::Tail& tail, size_t stripe)
      : tail_(tail), stripe_(stripe), ids_(ColumnIds(tail)) {}

  // True iff the statistics prove that no row of the stripe satisfies the predicate.
  bool ProvesAbsent(const Predicate& predicate) const {
    const auto absent = [this](const Predicate& child) { return ProvesAbsent(child); };
    const std::vector<Predicate>& children = predicate.children;
    switch (predicate.op) {
      case PredicateOp::kAnd:
        return std::any_of(children.begin(), children.end(), absent);
      case PredicateOp::kOr:
        return !children.empty() && std::all_of(children.begin(), children.end(), absent);
      case PredicateOp::kNot:
        return false;
      default:
        return LeafAbsent(predicate);
    }
  }

 private:
  bool LeafAbsent(const Predicate& leaf) const {
    const auto id = ids_.find(leaf.column);
    const auto& statistics = tail_.stripe_statistics[stripe_];
    if (id == ids_.end() || id->second >= statistics.size()) return false;
    const orc::ColumnStatistics& column = statistics[id->second];
    if (leaf.op == PredicateOp::kIsNull) {
      return !column.has_null && column.values == tail_.stripes[stripe_].rows;
    }
    if (!IsInteger(tail_.types[id->second].type.kind) || !column.int_min || !column.int_max) {
      return false;
    }
    std::vector<int64_t> literals;
    for (const std::string& text : leaf.literals) {
      const auto value = ParseInt64(text);
      if (!value) return false;
      literals.push_back(*value);
    }
    return NoneWithin({*column.int_min, *column.int_max}, leaf.op, literals);
  }

  const orc::Tail& tail_;
  const size_t stripe_;
  const std::map<std::string, size_t> ids_;
};

}  // namespace

std::optional<std::vector<size_t>> StripesToRead(const orc::Tail& tail,
                                                 const Predicate& predicate) {
  if (!tail.StatisticsTrusted() || tail.stripe_statistics.size() != tail.stripes.size()) {
    return std::nullopt;
  }
  std::vector<size_t> stripes;
  for (size_t i = 0; i < tail.stripes.size(); ++i) {
    if (!StripeTest(tail, i).ProvesAbsent(predicate)) stripes.push_back(i);
  }
  if (stripes.size() == tail.stripes.size()) return std::nullopt;
  return stripes;
}

}  // namespace skep::table

#include "storage/format/predicate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/util/decimal.h>

#include "storage/base/status_macros.h"
#include "storage/format/arrow_status.h"
#include "storage/format/literal.h"
#include "storage/format/timestamp_type.h"
#include "storage/model/errors.h"

namespace skep::format {

namespace {

// SQL's third value lies between the other two, so that AND is the minimum and OR the maximum.
enum Truth : int8_t { kFalse = 0, kUnknown = 1, kTrue = 2 };
using Truths = std::vector<int8_t>;

Truth TruthOf(bool value) { return value ? kTrue : kFalse; }

// How a value stands to a literal; nullopt: neither (NaN).
using Order = std::optional<int>;

template <class T>
Order Compare(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

Order CompareDoubles(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::nullopt;
  return Compare(a, b);
}

Order CompareDecimals(const arrow::Decimal128& value, const DecimalLiteral& literal) {
  if (literal.above) return value <= literal.floor ? -1 : 1;
  return Compare(value, literal.floor);
}

template <class ArrayType>
const ArrayType& As(const arrow::Array& array) {
  return static_cast<const ArrayType&>(array);
}

std::string_view WithoutTrailingBlanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// One column of a batch, ready to be compared row by row.
class Values {
 public:
  Values(const arrow::Array& array, TypeKind kind) : array_(array), kind_(kind) {
    if (kind == TypeKind::kTimestamp || kind == TypeKind::kTimestampLocalTz) times_.emplace(array);
  }

  bool IsNull(int64_t i) const { return array_.IsNull(i); }

  Order CompareTo(int64_t i, const Literal& literal) const {
    switch (kind_) {
      case TypeKind::kBoolean:
        return Compare<int>(As<arrow::BooleanArray>(array_).Value(i), std::get<bool>(literal));
      case TypeKind::kTinyint:
        return Compare<int64_t>(As<arrow::Int8Array>(array_).Value(i), std::get<int64_t>(literal));
      case TypeKind::kSmallint:
        return Compare<int64_t>(As<arrow::Int16Array>(array_).Value(i), std::get<int64_t>(literal));
      case TypeKind::kInt:
        return Compare<int64_t>(As<arrow::Int32Array>(array_).Value(i), std::get<int64_t>(literal));
      case TypeKind::kBigint:
        return Compare<int64_t>(As<arrow::Int64Array>(array_).Value(i), std::get<int64_t>(literal));
      case TypeKind::kFloat:
        return CompareDoubles(As<arrow::FloatArray>(array_).Value(i), std::get<double>(literal));
      case TypeKind::kDouble:
        return CompareDoubles(As<arrow::DoubleArray>(array_).Value(i), std::get<double>(literal));
      case TypeKind::kChar:
        return Compare<std::string_view>(
            WithoutTrailingBlanks(As<arrow::BinaryArray>(array_).GetView(i)),
            std::get<std::string>(literal));
      case TypeKind::kDate:
        return Compare(As<arrow::Date32Array>(array_).Value(i),
                       std::get<DateLiteral>(literal).days);
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLocalTz:
        return Compare(times_->At(i), std::get<WallTime>(literal));
      case TypeKind::kDecimal:
        return CompareDecimals(arrow::Decimal128(As<arrow::Decimal128Array>(array_).GetValue(i)),
                               std::get<DecimalLiteral>(literal));
      default:
        return Compare<std::string_view>(As<arrow::BinaryArray>(array_).GetView(i),
                                         std::get<std::string>(literal));
    }
  }

 private:
  const arrow::Array& array_;
  TypeKind kind_;
  std::optional<TimestampReader> times_;
};

// What comparing any value of a range to a literal can give. A set, never too small.
struct Orders {
  bool less = false, equal = false, greater = false, unordered = false;

  bool AnyBut(bool Orders::*one) const {
    Orders others = *this;
    others.*one = false;
    return others.less || others.equal || others.greater || others.unordered;
  }
};

Order CompareLiterals(const Literal& bound, const Literal& literal) {
  if (const auto* value = std::get_if<DecimalLiteral>(&bound)) {
    return CompareDecimals(value->floor, std::get<DecimalLiteral>(literal));
  }
  return std::visit(
      [&](const auto& value) -> Order {
        using T = std::decay_t<decltype(value)>;
        const T& other = std::get<T>(literal);
        if constexpr (std::is_same_v<T, double>) {
          return CompareDoubles(value, other);
        } else if constexpr (std::is_same_v<T, DateLiteral>) {
          return Compare(value.days, other.days);
        } else if constexpr (std::is_same_v<T, DecimalLiteral>) {
          return std::nullopt;  // above
        } else {
          return Compare(value, other);
        }
      },
      bound);
}

// `equality`: whether it matters if the value itself can be there, which may have to be read.
Orders OrdersOf(const ColumnRange& range, const Literal& literal, bool equality) {
  Orders orders;
  const auto* number = std::get_if<double>(&literal);
  orders.unordered = number != nullptr;
  if (number != nullptr && std::isnan(*number)) return orders;
  const Order low = range.min ? CompareLiterals(*range.min, literal) : -1;
  const Order high = range.max ? CompareLiterals(*range.max, literal) : 1;
  orders.less = !low || *low < 0;
  orders.greater = !high || *high > 0;
  orders.equal = (!low || *low <= 0) && (!high || *high >= 0) &&
                 (!equality || !range.may_contain || range.may_contain(literal));
  return orders;
}

bool IsLeaf(PredicateOp op) {
  return op != PredicateOp::kAnd && op != PredicateOp::kOr && op != PredicateOp::kNot;
}

bool CanCompare(TypeKind kind) {
  switch (kind) {
    case TypeKind::kList:
    case TypeKind::kMap:
    case TypeKind::kStruct:
    case TypeKind::kUnion:
    case TypeKind::kBinary:
      return false;
    default:
      return true;
  }
}

// The number of single-character edits between two names.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

absl::StatusOr<const Column*> FindColumn(const std::string& name,
                                         const std::vector<Column>& columns) {
  const Column* nearest = nullptr;
  for (const Column& column : columns) {
    if (column.name == name) return &column;
    if (nearest == nullptr || EditDistance(name, column.name) < EditDistance(name, nearest->name)) {
      nearest = &column;
    }
  }
  return MakeError(ErrorReason::kInvalidRequest,
                   "no column \"" + name + "\"" +
                       (nearest == nullptr ? "" : "; the nearest is \"" + nearest->name + "\""),
                   {{"column", name}});
}

absl::Status CheckShape(const Predicate& predicate) {
  const size_t literals = predicate.literals.size();
  bool fits = true;
  switch (predicate.op) {
    case PredicateOp::kIn:
      fits = literals >= 1;
      break;
    case PredicateOp::kBetween:
      fits = literals == 2;
      break;
    case PredicateOp::kIsNull:
      fits = literals == 0;
      break;
    case PredicateOp::kNullSafeEq:
      fits = literals <= 1;
      break;  // none: <=> NULL
    case PredicateOp::kNot:
      fits = literals == 0 && predicate.children.size() == 1;
      break;
    case PredicateOp::kAnd:
    case PredicateOp::kOr:
      fits = literals == 0;
      break;
    default:
      fits = literals == 1;
  }
  if (IsLeaf(predicate.op) && !predicate.children.empty()) fits = false;
  return fits ? absl::OkStatus()
              : MakeError(ErrorReason::kInvalidRequest,
                          "a predicate with the wrong number of operands",
                          {{"column", predicate.column}});
}

}  // namespace

struct BoundPredicate::Node {
  PredicateOp op = PredicateOp::kAnd;
  std::string column;
  HiveType type;
  std::vector<Literal> literals;
  std::vector<std::unique_ptr<Node>> children;

  static absl::StatusOr<std::unique_ptr<Node>> Make(const Predicate& predicate,
                                                    const std::vector<Column>& columns) {
    SKEP_RETURN_IF_ERROR(CheckShape(predicate));
    auto node = std::make_unique<Node>();
    node->op = predicate.op;
    for (const Predicate& child : predicate.children) {
      SKEP_ASSIGN_OR_RETURN(std::unique_ptr<Node> bound, Make(child, columns));
      node->children.push_back(std::move(bound));
    }
    if (!IsLeaf(predicate.op)) return node;
    SKEP_ASSIGN_OR_RETURN(const Column* column, FindColumn(predicate.column, columns));
    node->column = column->name;
    node->type = column->type;
    if (!predicate.literals.empty() && !CanCompare(column->type.kind)) {
      return MakeError(ErrorReason::kInvalidRequest,
                       "column " + column->name + " of type " + column->type.ToString() +
                           " cannot be compared; IS NULL is all that works on it",
                       {{"column", column->name}});
    }
    for (const std::string& text : predicate.literals) {
      std::optional<Literal> literal = ParseLiteral(text, column->type);
      if (!literal) {
        return MakeError(
            ErrorReason::kInvalidRequest,
            "\"" + text + "\" is no " + column->type.ToString() + " (column " + column->name + ")",
            {{"column", column->name}, {"literal", text}});
      }
      node->literals.push_back(*std::move(literal));
    }
    return node;
  }

  void Collect(std::set<std::string>* names) const {
    if (IsLeaf(op)) names->insert(column);
    for (const auto& child : children) child->Collect(names);
  }

  Truth Leaf(const Values& values, int64_t i) const {
    const bool null = values.IsNull(i);
    if (op == PredicateOp::kIsNull || (op == PredicateOp::kNullSafeEq && literals.empty())) {
      return TruthOf(null);
    }
    if (null) return op == PredicateOp::kNullSafeEq ? kFalse : kUnknown;
    const Order order = values.CompareTo(i, literals[0]);
    switch (op) {
      case PredicateOp::kEq:
      case PredicateOp::kNullSafeEq:
        return TruthOf(order == 0);
      case PredicateOp::kNotEq:
        return TruthOf(order != 0);
      case PredicateOp::kLt:
        return TruthOf(order && *order < 0);
      case PredicateOp::kLe:
        return TruthOf(order && *order <= 0);
      case PredicateOp::kGt:
        return TruthOf(order && *order > 0);
      case PredicateOp::kGe:
        return TruthOf(order && *order >= 0);
      case PredicateOp::kBetween: {
        const Order high = values.CompareTo(i, literals[1]);
        return TruthOf(order && *order >= 0 && high && *high <= 0);
      }
      default:  // kIn
        return TruthOf(std::any_of(literals.begin(), literals.end(), [&](const Literal& literal) {
          return values.CompareTo(i, literal) == 0;
        }));
    }
  }

  // Which truths a row of these ranges can have, as a set of 1 << Truth.
  static constexpr uint32_t kCanBeFalse = 1U << kFalse;
  static constexpr uint32_t kCanBeUnknown = 1U << kUnknown;
  static constexpr uint32_t kCanBeTrue = 1U << kTrue;

  uint32_t PossibleLeaf(const ColumnRange& range) const {
    if (op == PredicateOp::kIsNull || (op == PredicateOp::kNullSafeEq && literals.empty())) {
      return (range.may_be_null ? kCanBeTrue : 0) | (range.may_have_values ? kCanBeFalse : 0);
    }
    uint32_t possible = 0;
    if (range.may_be_null) possible |= op == PredicateOp::kNullSafeEq ? kCanBeFalse : kCanBeUnknown;
    if (!range.may_have_values) return possible;
    const bool equality = op == PredicateOp::kEq || op == PredicateOp::kNullSafeEq ||
                          op == PredicateOp::kNotEq || op == PredicateOp::kIn;
    const Orders orders = OrdersOf(range, literals[0], equality);
    bool is_true = false, is_false = true;
    switch (op) {
      case PredicateOp::kEq:
      case PredicateOp::kNullSafeEq:
        is_true = orders.equal;
        is_false = orders.AnyBut(&Orders::equal);
        break;
      case PredicateOp::kNotEq:
        is_true = orders.AnyBut(&Orders::equal);
        is_false = orders.equal;
        break;
      case PredicateOp::kLt:
        is_true = orders.less;
        is_false = orders.AnyBut(&Orders::less);
        break;
      case PredicateOp::kLe:
        is_true = orders.less || orders.equal;
        is_false = orders.greater || orders.unordered;
        break;
      case PredicateOp::kGt:
        is_true = orders.greater;
        is_false = orders.AnyBut(&Orders::greater);
        break;
      case PredicateOp::kGe:
        is_true = orders.greater || orders.equal;
        is_false = orders.less || orders.unordered;
        break;
      case PredicateOp::kBetween: {
        const Orders high = OrdersOf(range, literals[1], equality);
        is_true = (orders.equal || orders.greater) && (high.equal || high.less);
        break;
      }
      default:  // kIn
        is_true = std::any_of(literals.begin(), literals.end(), [&](const Literal& literal) {
          return OrdersOf(range, literal, equality).equal;
        });
    }
    return possible | (is_true ? kCanBeTrue : 0) | (is_false ? kCanBeFalse : 0);
  }

  uint32_t Possible(const RangeOfColumn& range_of) const {
    if (IsLeaf(op)) return PossibleLeaf(range_of(column, type).value_or(ColumnRange()));
    const bool is_or = op == PredicateOp::kOr;
    uint32_t possible = is_or ? kCanBeFalse : kCanBeTrue;
    for (const auto& child : children) {
      const uint32_t below = child->Possible(range_of);
      uint32_t both = 0;
      for (const Truth a : {kFalse, kUnknown, kTrue}) {
        for (const Truth b : {kFalse, kUnknown, kTrue}) {
          if ((possible >> a & 1) == 0 || (below >> b & 1) == 0) continue;
          both |= 1U << (is_or ? std::max(a, b) : std::min(a, b));
        }
      }
      possible = both;
    }
    if (op == PredicateOp::kNot) {
      possible = (possible & kCanBeUnknown) | ((possible & kCanBeTrue) != 0 ? kCanBeFalse : 0) |
                 ((possible & kCanBeFalse) != 0 ? kCanBeTrue : 0);
    }
    return possible;
  }

  absl::StatusOr<Truths> Evaluate(const arrow::RecordBatch& batch) const {
    const auto rows = static_cast<size_t>(batch.num_rows());
    if (IsLeaf(op)) {
      const std::shared_ptr<arrow::Array> array = batch.GetColumnByName(column);
      if (array == nullptr) {
        return MakeError(ErrorReason::kInternal, "the batch lacks column " + column);
      }
      const Values values(*array, type.kind);
      Truths out(rows);
      for (size_t i = 0; i < rows; ++i) out[i] = Leaf(values, static_cast<int64_t>(i));
      return out;
    }
    Truths out(rows, op == PredicateOp::kOr ? kFalse : kTrue);
    for (const auto& child : children) {
      SKEP_ASSIGN_OR_RETURN(const Truths below, child->Evaluate(batch));
      for (size_t i = 0; i < rows; ++i) {
        out[i] = op == PredicateOp::kOr ? std::max(out[i], below[i]) : std::min(out[i], below[i]);
      }
    }
    if (op == PredicateOp::kNot) {
      for (int8_t& truth : out) truth = static_cast<int8_t>(kTrue - truth);
    }
    return out;
  }
};

BoundPredicate::BoundPredicate(std::unique_ptr<Node> root) : root_(std::move(root)) {}
BoundPredicate::~BoundPredicate() = default;
BoundPredicate::BoundPredicate(BoundPredicate&&) noexcept = default;
BoundPredicate& BoundPredicate::operator=(BoundPredicate&&) noexcept = default;

absl::StatusOr<BoundPredicate> BoundPredicate::Bind(const Predicate& predicate,
                                                    const std::vector<Column>& columns) {
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<Node> root, Node::Make(predicate, columns));
  return BoundPredicate(std::move(root));
}

absl::StatusOr<std::shared_ptr<arrow::BooleanArray>> BoundPredicate::Evaluate(
    const arrow::RecordBatch& batch) const {
  SKEP_ASSIGN_OR_RETURN(const Truths truths, root_->Evaluate(batch));
  arrow::BooleanBuilder builder;
  SKEP_RETURN_IF_ERROR(FromArrow(builder.Reserve(batch.num_rows())));
  for (const int8_t truth : truths) builder.UnsafeAppend(truth == kTrue);
  std::shared_ptr<arrow::BooleanArray> out;
  SKEP_RETURN_IF_ERROR(FromArrow(builder.Finish(&out)));
  return out;
}

bool BoundPredicate::MayMatch(const RangeOfColumn& range_of) const {
  return (root_->Possible(range_of) & Node::kCanBeTrue) != 0;
}

std::vector<std::string> BoundPredicate::columns() const {
  std::set<std::string> names;
  root_->Collect(&names);
  return {names.begin(), names.end()};
}

}  // namespace skep::format

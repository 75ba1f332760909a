#include "storage/format/predicate.h"

#include <optional>

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/util/decimal.h>

#include "storage/format/vocabulary.h"
#include "tests/testing/status_matchers.h"

namespace skep::format {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Op = PredicateOp;

Predicate Leaf(Op op, std::string column, std::vector<std::string> literals = {}) {
  return {op, std::move(column), std::move(literals), {}};
}
Predicate Tree(Op op, std::vector<Predicate> children) { return {op, "", {}, std::move(children)}; }

// n: 1, 2, NULL, 3 · s: 'a', 'b', 'c', NULL · ch char(3): 'x', 'y z', NULL, '' · …
const std::vector<Column>& Columns() {
  static const auto* const kColumns =
      new std::vector<Column>(*ParseColumns("n int, s string, ch char(3), d date, t timestamp, dec "
                                            "decimal(6,2), f float, b boolean, l array<int>"));
  return *kColumns;
}

template <class Builder, class Value>
std::shared_ptr<arrow::Array> Values(Builder builder,
                                     const std::vector<std::optional<Value>>& values) {
  for (const auto& value : values)
    EXPECT_TRUE((value ? builder.Append(*value) : builder.AppendNull()).ok());
  return *builder.Finish();
}

std::shared_ptr<arrow::RecordBatch> Rows() {
  constexpr auto kNull = std::nullopt;
  const auto names = [](const std::vector<Column>& columns) {
    arrow::FieldVector fields;
    for (size_t i = 0; i + 1 < columns.size(); ++i)
      fields.push_back(arrow::field(columns[i].name, arrow::null()));
    return fields;
  };
  arrow::ArrayVector arrays{
      Values<arrow::Int32Builder, int32_t>(arrow::Int32Builder(), {1, 2, kNull, 3}),
      Values<arrow::StringBuilder, std::string>(arrow::StringBuilder(), {"a", "b", "c", kNull}),
      Values<arrow::StringBuilder, std::string>(arrow::StringBuilder(), {"x", "y z", kNull, ""}),
      Values<arrow::Date32Builder, int32_t>(arrow::Date32Builder(), {0, 1, kNull, 2932896}),
      Values<arrow::TimestampBuilder, int64_t>(
          arrow::TimestampBuilder(arrow::timestamp(arrow::TimeUnit::NANO),
                                  arrow::default_memory_pool()),
          {0, 1, kNull, -1}),
      Values<arrow::Decimal128Builder, arrow::Decimal128>(
          arrow::Decimal128Builder(arrow::decimal128(6, 2)),
          {arrow::Decimal128(150), arrow::Decimal128(-150), kNull, arrow::Decimal128(0)}),
      Values<arrow::FloatBuilder, float>(
          arrow::FloatBuilder(), {1.1F, std::numeric_limits<float>::quiet_NaN(), kNull, -1.0F}),
      Values<arrow::BooleanBuilder, bool>(arrow::BooleanBuilder(), {true, false, kNull, true})};
  arrow::FieldVector fields = names(Columns());
  for (size_t i = 0; i < arrays.size(); ++i) fields[i] = fields[i]->WithType(arrays[i]->type());
  return *ToVocabulary(*arrow::RecordBatch::Make(arrow::schema(fields), 4, arrays), Columns());
}

// "TF?T" of a predicate that is TRUE, FALSE, UNKNOWN, TRUE: NOT tells FALSE from UNKNOWN.
std::string Truths(const Predicate& predicate) {
  const auto rows = Rows();
  const auto evaluate = [&](const Predicate& p) {
    const auto bound = BoundPredicate::Bind(p, Columns());
    EXPECT_TRUE(bound.ok()) << bound.status();
    return *bound->Evaluate(*rows);
  };
  const auto yes = evaluate(predicate), no = evaluate(Tree(Op::kNot, {predicate}));
  std::string out;
  for (int64_t i = 0; i < 4; ++i) out += yes->Value(i) ? 'T' : no->Value(i) ? 'F' : '?';
  return out;
}

struct TruthCase {
  const char* name;
  Predicate predicate;
  const char* truths;
};

TEST(Predicate, FollowsSqlsThreeValues) {
  const Predicate kTrue = Leaf(Op::kGe, "n", {"0"}), kFalse = Leaf(Op::kLt, "n", {"0"});
  const TruthCase kCases[] = {
      {"=", Leaf(Op::kEq, "n", {"2"}), "FT?F"},
      {"<>", Leaf(Op::kNotEq, "n", {"2"}), "TF?T"},
      {"<", Leaf(Op::kLt, "n", {"2"}), "TF?F"},
      {"<=", Leaf(Op::kLe, "n", {"2"}), "TT?F"},
      {">", Leaf(Op::kGt, "n", {"2"}), "FF?T"},
      {">=", Leaf(Op::kGe, "n", {"2"}), "FT?T"},
      {"IN", Leaf(Op::kIn, "n", {"3", "1"}), "TF?T"},
      {"BETWEEN", Leaf(Op::kBetween, "n", {"2", "3"}), "FT?T"},
      {"IS NULL", Leaf(Op::kIsNull, "n"), "FFTF"},
      {"<=>", Leaf(Op::kNullSafeEq, "n", {"1"}), "TFFF"},
      {"<=> NULL", Leaf(Op::kNullSafeEq, "n"), "FFTF"},
      {"AND of unknown and false",
       Tree(Op::kAnd, {Leaf(Op::kEq, "n", {"1"}), Leaf(Op::kEq, "s", {"a"})}),
       "TFFF"},
      {"AND of unknown and true", Tree(Op::kAnd, {kTrue, Leaf(Op::kEq, "s", {"c"})}), "FF??"},
      {"OR of unknown and true", Tree(Op::kOr, {kFalse, Leaf(Op::kEq, "s", {"c"})}), "FFT?"},
      {"empty AND", Tree(Op::kAnd, {}), "TTTT"},
      {"empty OR", Tree(Op::kOr, {}), "FFFF"},
      {"text by bytes", Leaf(Op::kGt, "s", {"a"}), "FTT?"},
      {"CHAR without trailing blanks", Leaf(Op::kEq, "ch", {"x   "}), "TF?F"},
      {"empty CHAR", Leaf(Op::kEq, "ch", {""}), "FF?T"},
      {"date", Leaf(Op::kLe, "d", {"1970-01-02"}), "TT?F"},
      {"timestamp by nanosecond", Leaf(Op::kGt, "t", {"1970-01-01 00:00:00"}), "FT?F"},
      {"timestamp before", Leaf(Op::kLt, "t", {"1970-01-01"}), "FF?T"},
      {"decimal", Leaf(Op::kEq, "dec", {"1.5"}), "TF?F"},
      {"decimal with more digits", Leaf(Op::kEq, "dec", {"1.501"}), "FF?F"},
      {"decimal below more digits", Leaf(Op::kLt, "dec", {"1.501"}), "TT?T"},
      {"negative decimal with more digits", Leaf(Op::kGt, "dec", {"-1.501"}), "TT?T"},
      {"decimal beyond its precision", Leaf(Op::kLt, "dec", {"123456789012"}), "TT?T"},
      {"float literal is a float", Leaf(Op::kEq, "f", {"1.1"}), "TF?F"},
      {"NaN is not below", Leaf(Op::kLt, "f", {"5"}), "TF?T"},
      {"boolean", Leaf(Op::kEq, "b", {"TRUE"}), "TF?T"},
      {"any type can be null", Leaf(Op::kIsNull, "l"), "TTTT"},
  };
  for (const TruthCase& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Truths(c.predicate), c.truths);
  }
}

TEST(Predicate, RefusesWhatItCannotBind) {
  const TruthCase kCases[] = {
      {"unknown column", Leaf(Op::kEq, "m", {"1"}), "the nearest is \"n\""},
      {"no number", Leaf(Op::kEq, "n", {"one"}), "\"one\" is no int"},
      {"fraction for an integer", Leaf(Op::kEq, "n", {"1.5"}), "is no int"},
      {"no date", Leaf(Op::kEq, "d", {"2024-02-30"}), "is no date"},
      {"list", Leaf(Op::kEq, "l", {"1"}), "cannot be compared"},
      {"one bound", Leaf(Op::kBetween, "n", {"1"}), "wrong number of operands"},
      {"NOT of two",
       Tree(Op::kNot, {Leaf(Op::kIsNull, "n"), Leaf(Op::kIsNull, "n")}),
       "wrong number"},
  };
  for (const TruthCase& c : kCases) {
    SCOPED_TRACE(c.name);
    const auto bound = BoundPredicate::Bind(c.predicate, Columns());
    EXPECT_THAT(bound, HasReason(ErrorReason::kInvalidRequest));
    EXPECT_THAT(bound, HasMessage(HasSubstr(c.truths)));
  }
}

TEST(Predicate, NamesItsColumnsOnce) {
  const auto bound = BoundPredicate::Bind(
      Tree(Op::kOr, {Leaf(Op::kEq, "s", {"a"}), Leaf(Op::kIsNull, "n"), Leaf(Op::kEq, "s", {"b"})}),
      Columns());
  ASSERT_TRUE(bound.ok());
  EXPECT_THAT(bound->columns(), ElementsAre("n", "s"));
}

}  // namespace
}  // namespace skep::format

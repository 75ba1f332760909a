// Statistics that exclude rows: what they prove, what they must not, and that rows are the same
// with and without them.

#include <limits>
#include <random>
#include <set>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <nlohmann/json.hpp>

#include "storage/base/status_macros.h"
#include "storage/format/orc/prune.h"
#include "storage/format/orc/reader.h"
#include "storage/format/predicate.h"
#include "storage/format/vocabulary.h"
#include "tests/storage/format/fixtures.h"
#include "tests/testing/status_matchers.h"

namespace skep::orc {
namespace {

using format::BoundPredicate;
using format::ColumnRange;
using format::Predicate;
using format::PredicateOp;
using ::skep::testing::FilesBelow;
using ::skep::testing::Fixture;
using ::skep::testing::OpenOrc;

constexpr uint32_t kJava = 0, kCpp = 1, kTrino = 4;

HiveType TypeOf(const std::string& text) { return *ParseHiveType(text); }

Tail TailOf(uint32_t writer, uint32_t version) {
  Tail tail;
  tail.writer = writer;
  tail.writer_version = version;
  tail.row_index_stride = 1000;
  return tail;
}

struct Case {
  const char* name;
  std::string type;
  ColumnStatistics statistics;
  Predicate predicate;
  bool may_match;
  Tail tail = TailOf(kCpp, 6);
  StatisticsLevel level = StatisticsLevel::kStripe;
  Calendar calendar = Calendar::kProleptic;
};

Predicate Leaf(PredicateOp op, std::vector<std::string> literals) {
  return {.op = op, .column = "c", .literals = std::move(literals), .children = {}};
}
Predicate Eq(const std::string& literal) { return Leaf(PredicateOp::kEq, {literal}); }
Predicate Not(Predicate child) {
  return {.op = PredicateOp::kNot, .column = "", .literals = {}, .children = {std::move(child)}};
}

constexpr uint64_t kRows = 100;

ColumnStatistics Counted(bool has_null = false) {
  ColumnStatistics statistics;
  statistics.values = has_null ? kRows - 1 : kRows;
  statistics.has_null = has_null;
  return statistics;
}
ColumnStatistics Ints(int64_t low, int64_t high, bool has_null = false) {
  ColumnStatistics statistics = Counted(has_null);
  statistics.int_min = low;
  statistics.int_max = high;
  return statistics;
}
ColumnStatistics Doubles(std::optional<double> low,
                         std::optional<double> high,
                         std::optional<double> sum) {
  ColumnStatistics statistics = Counted();
  statistics.double_min = low;
  statistics.double_max = high;
  statistics.double_sum = sum;
  return statistics;
}
ColumnStatistics Texts(const std::string& low, const std::string& high) {
  ColumnStatistics statistics = Counted();
  statistics.string_min = low;
  statistics.string_max = high;
  return statistics;
}
ColumnStatistics Times(int64_t low, int64_t high) {
  ColumnStatistics statistics = Counted();
  statistics.timestamp_min_utc_ms = low;
  statistics.timestamp_max_utc_ms = high;
  return statistics;
}
ColumnStatistics Decimals(const std::string& low, const std::string& high) {
  ColumnStatistics statistics = Counted();
  statistics.decimal_min = low;
  statistics.decimal_max = high;
  return statistics;
}
ColumnStatistics Dates(int32_t low, int32_t high) {
  ColumnStatistics statistics = Counted();
  statistics.date_min = low;
  statistics.date_max = high;
  return statistics;
}
ColumnStatistics Nothing(uint64_t values, bool has_null) {
  ColumnStatistics statistics;
  statistics.values = values;
  statistics.has_null = has_null;
  return statistics;
}

std::vector<Case> Cases() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tail untrusted = TailOf(kCpp, 6);
  untrusted.row_index_stride = 0;
  const auto stripe = StatisticsLevel::kStripe;
  const auto group = StatisticsLevel::kRowGroup;
  return {
      {"= within", "bigint", Ints(5, 9), Eq("7"), true},
      {"= below", "bigint", Ints(5, 9), Eq("4"), false},
      {"= above", "bigint", Ints(5, 9), Eq("10"), false},
      {"not = where all are", "bigint", Ints(5, 5), Not(Eq("5")), false},
      {"not = elsewhere", "bigint", Ints(5, 6), Not(Eq("5")), true},
      {"not = beside nulls", "bigint", Ints(5, 5, true), Not(Eq("5")), false},
      {"<>", "bigint", Ints(5, 5), Leaf(PredicateOp::kNotEq, {"5"}), false},
      {"< at the bound", "bigint", Ints(5, 9), Leaf(PredicateOp::kLt, {"5"}), false},
      {"<= at the bound", "bigint", Ints(5, 9), Leaf(PredicateOp::kLe, {"5"}), true},
      {"> at the bound", "bigint", Ints(5, 9), Leaf(PredicateOp::kGt, {"9"}), false},
      {">= at the bound", "bigint", Ints(5, 9), Leaf(PredicateOp::kGe, {"9"}), true},
      {"not < where all are", "bigint", Ints(1, 4), Not(Leaf(PredicateOp::kLt, {"5"})), false},
      {"between beside", "bigint", Ints(5, 9), Leaf(PredicateOp::kBetween, {"1", "4"}), false},
      {"between across", "bigint", Ints(5, 9), Leaf(PredicateOp::kBetween, {"1", "5"}), true},
      {"in, none", "bigint", Ints(5, 9), Leaf(PredicateOp::kIn, {"1", "4", "10"}), false},
      {"in, one", "bigint", Ints(5, 9), Leaf(PredicateOp::kIn, {"1", "6"}), true},
      {"is null without any", "bigint", Ints(5, 9), Leaf(PredicateOp::kIsNull, {}), false},
      {"is null", "bigint", Ints(5, 9, true), Leaf(PredicateOp::kIsNull, {}), true},
      {"is not null, all null",
       "bigint",
       Nothing(0, true),
       Not(Leaf(PredicateOp::kIsNull, {})),
       false},
      {"= where all are null", "bigint", Nothing(0, true), Eq("5"), false},
      {"no values and no nulls (SG-2)", "bigint", Nothing(0, false), Eq("5"), true},
      {"more values than rows", "bigint", Nothing(kRows + 1, false), Eq("5"), true},
      {"fewer values than rows are nulls",
       "bigint",
       Nothing(kRows - 1, false),
       Leaf(PredicateOp::kIsNull, {}),
       true},
      {"<=> null", "bigint", Ints(5, 9), Leaf(PredicateOp::kNullSafeEq, {}), false},
      {"not <=> beside nulls",
       "bigint",
       Ints(5, 5, true),
       Not(Leaf(PredicateOp::kNullSafeEq, {"5"})),
       true},
      {"without a row index (M-4)", "bigint", Ints(5, 9), Eq("4"), true, untrusted},
      {"beyond the column's width (RL-8)", "smallint", Ints(0, 65535), Eq("-1"), true},
      {"doubles", "double", Doubles(1, 2, 3), Eq("2.5"), false},
      {"doubles may be NaN", "double", Doubles(1, 1, 1), Not(Eq("1")), true},
      {"doubles without a sum", "double", Doubles(1, 2, {}), Eq("2.5"), true},
      {"a NaN in the sum", "double", Doubles(1, 2, nan), Eq("2.5"), true},
      {"NaN as a bound", "double", Doubles(nan, nan, nan), Eq("2.5"), true},
      {"zeros of both signs", "double", Doubles(-0.0, -0.0, 0), Eq("0"), true},
      {"text", "string", Texts("b", "d"), Eq("e"), false},
      {"text, unsigned bytes", "string", Texts("b", "\xc3\xa4"), Eq("z"), true},
      {"text with a zero byte",
       "string",
       Texts(std::string("b\0", 2), std::string("b\0", 2)),
       Eq("c"),
       true},
      {"text of the first writer", "string", Texts("b", "d"), Eq("e"), true, TailOf(kJava, 0)},
      {"text of the first writer, group",
       "string",
       Texts("b", "d"),
       Eq("e"),
       true,
       TailOf(kJava, 0),
       group},
      {"days of the first writer", "date", Dates(0, 9), Eq("1971-01-01"), true, TailOf(kJava, 0)},
      {"days of the first writer, group",
       "date",
       Dates(0, 9),
       Eq("1971-01-01"),
       false,
       TailOf(kJava, 0),
       group},
      {"char, padded", "char(4)", Texts("ab  ", "ab  "), Eq("ab"), true},
      {"char, trimmed", "char(4)", Texts("ab", "ab"), Eq("ab  "), true},
      {"char, outside", "char(4)", Texts("ab  ", "ab  "), Eq("ac"), false},
      {"char, below a blank", "char(4)", Texts("ab\x01 ", "ab  "), Eq("ab\x01"), true},
      {"varchar, cut on reading", "varchar(2)", Texts("abc", "abd"), Eq("ab"), true},
      {"days", "date", Dates(0, 9), Eq("1970-01-11"), false},
      // Day -171655 is 1500-01-01 in a hybrid file, 1500-01-10 in a proleptic one.
      {"days of a hybrid file",
       "date",
       Dates(-171655, -171655),
       Eq("1500-01-01"),
       true,
       TailOf(kJava, 6),
       stripe,
       Calendar::kJulianGregorian},
      {"the same number in a proleptic file",
       "date",
       Dates(-171655, -171655),
       Eq("1500-01-01"),
       false},
      {"the last millisecond is covered",
       "timestamp",
       Times(1'000'000'000, 1'000'000'000),
       Eq("1970-01-12 13:46:40.000999999"),
       true},
      {"a millisecond later",
       "timestamp",
       Times(1'000'000'000, 1'000'000'000),
       Eq("1970-01-12 13:46:40.001"),
       false},
      {"the second before 1970 is read later (TY-17)",
       "timestamp",
       Times(-500, -500),
       Eq("1970-01-01 00:00:00.5"),
       true},
      {"local time statistics of old writers",
       "timestamp",
       Times(1'000'000'000, 1'000'000'000),
       Eq("2020-01-01"),
       true,
       TailOf(kJava, 5)},
      {"decimals, exactly", "decimal(20,2)", Decimals("1.5", "2.25"), Eq("2.26"), false},
      {"decimals at the bound", "decimal(20,2)", Decimals("1.5", "2.25"), Eq("2.25"), true},
      {"decimals with more digits than the column",
       "decimal(20,1)",
       Decimals("1.55", "1.55"),
       Eq("1.6"),
       true},
      {"decimals of writer version 6 (ORC-517)",
       "decimal(10,2)",
       Decimals("1.5", "2.25"),
       Eq("9"),
       true,
       TailOf(kJava, 6)},
      {"wide decimals of writer version 6",
       "decimal(20,2)",
       Decimals("1.5", "2.25"),
       Eq("9"),
       false,
       TailOf(kJava, 6)},
      {"decimals that are no text", "decimal(20,2)", Decimals("1E3", "x"), Eq("9"), true},
      {"decimals of Trino",
       "decimal(10,2)",
       Decimals("1.5", "2.25"),
       Eq("9"),
       false,
       TailOf(kTrino, 6)},
  };
}

TEST(RangeOf, ProvesNoMoreThanItsWriterKnew) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const HiveType type = TypeOf(c.type);
    SKEP_ASSERT_OK_AND_ASSIGN(const BoundPredicate bound,
                              BoundPredicate::Bind(c.predicate, {{"c", type, ""}}));
    EXPECT_EQ(bound.MayMatch([&](const std::string& name, const HiveType& asked) {
      EXPECT_EQ(name, "c");
      EXPECT_EQ(asked, type);
      return RangeOf(c.statistics, type, c.tail, c.calendar, c.level, kRows);
    }),
              c.may_match);
  }
}

TEST(MayMatch, KnowsThreeValuesAndBloomFilters) {
  const std::vector<Column> columns{{"a", TypeOf("bigint"), ""}, {"b", TypeOf("bigint"), ""}};
  const auto leaf = [](const char* column, PredicateOp op, const char* literal) {
    return Predicate{.op = op, .column = column, .literals = {literal}, .children = {}};
  };
  const Predicate a_is_5 = leaf("a", PredicateOp::kEq, "5");
  const Predicate b_is_9 = leaf("b", PredicateOp::kEq, "9");
  const auto both = [](PredicateOp op, Predicate x, Predicate y) {
    return Predicate{
        .op = op, .column = "", .literals = {}, .children = {std::move(x), std::move(y)}};
  };
  // a is 1…5 without nulls, and its filter knows no 4; of b nothing is known.
  const auto range_of = [](const std::string& name,
                           const HiveType& /*type*/) -> std::optional<ColumnRange> {
    if (name != "a") return std::nullopt;
    ColumnRange range;
    range.may_be_null = false;
    range.min = format::Literal(int64_t{1});
    range.max = format::Literal(int64_t{5});
    range.may_contain = [](const format::Literal& value) { return std::get<int64_t>(value) != 4; };
    return range;
  };
  const std::pair<Predicate, bool> kCases[] = {
      {a_is_5, true},
      {b_is_9, true},
      {leaf("a", PredicateOp::kEq, "4"), false},
      {Not(leaf("a", PredicateOp::kEq, "4")), true},
      {leaf("a", PredicateOp::kLe, "4"), true},
      {both(PredicateOp::kAnd, leaf("a", PredicateOp::kEq, "6"), b_is_9), false},
      {both(PredicateOp::kOr, leaf("a", PredicateOp::kEq, "6"), b_is_9), true},
      {both(PredicateOp::kOr, leaf("a", PredicateOp::kEq, "6"), leaf("a", PredicateOp::kLt, "1")),
       false},
      {Not(both(PredicateOp::kOr, leaf("a", PredicateOp::kLe, "5"), b_is_9)), false},
      {Not(both(PredicateOp::kAnd, leaf("a", PredicateOp::kLe, "5"), b_is_9)), true},
  };
  for (size_t i = 0; i < std::size(kCases); ++i) {
    SKEP_ASSERT_OK_AND_ASSIGN(const BoundPredicate bound,
                              BoundPredicate::Bind(kCases[i].first, columns));
    EXPECT_EQ(bound.MayMatch(range_of), kCases[i].second) << i;
  }
}

// Positions of the rows that pass.
absl::StatusOr<std::vector<int64_t>> Passing(Reader& reader,
                                             const BoundPredicate& predicate,
                                             bool skip,
                                             ReadCounters* counters) {
  ReadOptions options;
  options.columns = predicate.columns();
  options.batch_rows = 3000;
  if (skip) options.predicate = &predicate;
  SKEP_ASSIGN_OR_RETURN(const auto stream, reader.Read(options));
  std::vector<int64_t> positions;
  while (true) {
    SKEP_ASSIGN_OR_RETURN(const auto batch, stream->Next());
    if (batch == nullptr) break;
    SKEP_ASSIGN_OR_RETURN(const auto passes, predicate.Evaluate(*batch->rows));
    for (int64_t i = 0; i < batch->length; ++i) {
      if (passes->Value(i)) positions.push_back(batch->first_row + i);
    }
  }
  *counters = stream->counters();
  return positions;
}

// Values of the file as literals: those at the edges of statistics are the likely mistakes.
class Literals {
 public:
  Literals(const arrow::RecordBatch& rows, const std::vector<Column>& columns, uint64_t seed)
      : random_(seed) {
    for (size_t c = 0; c < columns.size(); ++c) {
      std::vector<std::string> texts;
      for (int64_t i = 0; i < std::min<int64_t>(rows.num_rows(), 400); ++i) {
        std::string text;
        format::AppendJson(
            *rows.column(static_cast<int>(c)), (i * 37) % rows.num_rows(), columns[c].type, &text);
        const auto value = nlohmann::json::parse(text, nullptr, false);
        if (value.is_null() || value.is_discarded()) continue;
        texts.push_back(value.is_string() ? value.get<std::string>() : text);
      }
      const Predicate probe{.op = PredicateOp::kEq,
                            .column = columns[c].name,
                            .literals = texts.empty() ? std::vector<std::string>{"0"}
                                                      : std::vector<std::string>{texts[0]},
                            .children = {}};
      if (!texts.empty() && BoundPredicate::Bind(probe, columns).ok()) {
        columns_.push_back(columns[c].name);
        texts_.push_back(std::move(texts));
      }
    }
  }

  bool empty() const { return columns_.empty(); }

  Predicate Random(int depth) {
    if (depth > 0 && Below(2) == 0) {
      Predicate predicate;
      predicate.op = Below(5) == 0 ? PredicateOp::kNot
                                   : (Below(2) == 0 ? PredicateOp::kAnd : PredicateOp::kOr);
      predicate.children.push_back(Random(depth - 1));
      if (predicate.op != PredicateOp::kNot) predicate.children.push_back(Random(depth - 1));
      return predicate;
    }
    constexpr PredicateOp kOps[] = {PredicateOp::kEq,
                                    PredicateOp::kNotEq,
                                    PredicateOp::kLt,
                                    PredicateOp::kLe,
                                    PredicateOp::kGt,
                                    PredicateOp::kGe,
                                    PredicateOp::kIn,
                                    PredicateOp::kBetween,
                                    PredicateOp::kIsNull,
                                    PredicateOp::kNullSafeEq};
    Predicate leaf;
    leaf.op = kOps[Below(std::size(kOps))];
    const size_t column = Below(columns_.size());
    leaf.column = columns_[column];
    const size_t literals = leaf.op == PredicateOp::kIsNull ? 0
                            : leaf.op == PredicateOp::kBetween
                                ? 2
                                : (leaf.op == PredicateOp::kIn ? 1 + Below(4) : 1);
    for (size_t i = 0; i < literals; ++i) {
      leaf.literals.push_back(texts_[column][Below(texts_[column].size())]);
    }
    return leaf;
  }

 private:
  size_t Below(size_t bound) { return random_() % bound; }

  std::mt19937_64 random_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> texts_;
};

TEST(Pruning, NeverLosesARow) {
  SKEP_REQUIRE_FIXTURES();
  std::vector<std::string> files = FilesBelow(Fixture("orc"));
  for (std::string& file : FilesBelow(Fixture("acid"))) files.push_back(std::move(file));
  int64_t skipped = 0, groups = 0, tried = 0;
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const auto reader = OpenOrc(file);
    if (!reader.ok() || (*reader)->tail().rows > 60000) continue;
    const auto stream = (*reader)->Read({.batch_rows = 1 << 20});
    if (!stream.ok()) continue;
    const auto first = (*stream)->Next();
    if (!first.ok() || *first == nullptr) continue;
    Literals literals(*(*first)->rows, (*reader)->columns(), tried);
    for (int i = 0; i < 12 && !literals.empty(); ++i) {
      const auto bound = BoundPredicate::Bind(literals.Random(2), (*reader)->columns());
      if (!bound.ok()) continue;  // an infinite literal, a text that the type does not take back
      ReadCounters counters;
      const auto all = Passing(**reader, *bound, false, &counters);
      if (!all.ok()) continue;
      SKEP_ASSERT_OK_AND_ASSIGN(const auto some, Passing(**reader, *bound, true, &counters));
      ASSERT_EQ(some, *all) << "predicate " << i;
      skipped += counters.stripes_skipped;
      groups += counters.groups_skipped;
      ++tried;
    }
  }
  EXPECT_GT(tried, 300);
  EXPECT_GT(skipped, 50);
  EXPECT_GT(groups, 20);
}

TEST(Pruning, SkipsRowGroupsOfAnAcidFile) {
  SKEP_REQUIRE_FIXTURES();
  SKEP_ASSERT_OK_AND_ASSIGN(
      const auto reader,
      OpenOrc(Fixture("acid/nation-25k-deletes/delta_0000002_0000002_0000/bucket_00000")));
  const Predicate predicate{
      .op = PredicateOp::kEq, .column = "n_nationkey", .literals = {"7"}, .children = {}};
  SKEP_ASSERT_OK_AND_ASSIGN(const auto bound, BoundPredicate::Bind(predicate, reader->columns()));
  ReadOptions options;
  options.predicate = &bound;
  SKEP_ASSERT_OK_AND_ASSIGN(const auto stream, reader->Read(options));
  SKEP_ASSERT_OK_AND_ASSIGN(const auto batch, stream->Next());
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->first_row, 7000);
  EXPECT_EQ(batch->length, 1000);
  EXPECT_EQ(batch->row_id.front(), 7000);
  EXPECT_EQ(batch->row_id.back(), 7999);
  SKEP_ASSERT_OK_AND_ASSIGN(const auto end, stream->Next());
  EXPECT_EQ(end, nullptr);
  EXPECT_EQ(stream->counters().stripes_skipped, 4);
  EXPECT_EQ(stream->counters().groups_skipped, 4);
  EXPECT_EQ(stream->counters().rows_read, 1000);
}

}  // namespace
}  // namespace skep::orc

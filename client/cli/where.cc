#include "client/cli/where.h"

#include <optional>
#include <string>
#include <utility>

#include "client/cli/usage.h"
#include "client/ddl/token_stream.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

using client::Comparison;
using client::Condition;
using ddl::Token;
using ddl::TokenKind;
using ddl::TokenStream;

class WhereParser {
 public:
  explicit WhereParser(TokenStream& tokens) : tokens_(tokens) {}

  absl::StatusOr<std::vector<Condition>> Run() {
    std::vector<Condition> conditions;
    if (AtEnd()) return conditions;
    do {
      SKEP_ASSIGN_OR_RETURN(Condition condition, TakeCondition());
      conditions.push_back(std::move(condition));
    } while (tokens_.TryWords({"AND"}));
    if (AtEnd()) return conditions;
    SKEP_RETURN_IF_ERROR(RefuseLogic());
    return tokens_.Expected("AND or the end");
  }

 private:
  bool AtEnd() const { return tokens_.Peek().kind == TokenKind::kEnd; }

  // What people try next, and what there is instead.
  absl::Status RefuseLogic() const {
    const Token& next = tokens_.Peek();
    if (next.IsWord("OR") || next.IsWord("NOT") || next.IsSymbol('(')) {
      return tokens_.Error(
          ErrorReason::kInvalidRequest,
          next,
          "only conditions joined by AND are understood; " + next.Shown() + " is not");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Condition> TakeCondition() {
    SKEP_RETURN_IF_ERROR(RefuseLogic());
    Condition condition;
    SKEP_ASSIGN_OR_RETURN(condition.column, tokens_.ExpectName("a column name"));
    if (tokens_.TryWords({"IS"})) {
      condition.comparison =
          tokens_.TryWords({"NOT"}) ? Comparison::kIsNotNull : Comparison::kIsNull;
      SKEP_RETURN_IF_ERROR(tokens_.ExpectWords({"NULL"}));
      return condition;
    }
    SKEP_RETURN_IF_ERROR(RefuseLogic());
    if (tokens_.TryWords({"IN"})) {
      condition.comparison = Comparison::kIn;
      SKEP_RETURN_IF_ERROR(tokens_.ExpectSymbol('('));
      do {
        SKEP_RETURN_IF_ERROR(TakeValue(&condition));
      } while (tokens_.TrySymbol(','));
      SKEP_RETURN_IF_ERROR(tokens_.ExpectSymbol(')'));
      return condition;
    }
    if (tokens_.TryWords({"BETWEEN"})) {
      condition.comparison = Comparison::kBetween;
      SKEP_RETURN_IF_ERROR(TakeValue(&condition));
      SKEP_RETURN_IF_ERROR(tokens_.ExpectWords({"AND"}));
      SKEP_RETURN_IF_ERROR(TakeValue(&condition));
      return condition;
    }
    SKEP_ASSIGN_OR_RETURN(condition.comparison, TakeComparison());
    SKEP_RETURN_IF_ERROR(TakeValue(&condition));
    return condition;
  }

  absl::StatusOr<Comparison> TakeComparison() {
    if (tokens_.TrySymbol('=')) {
      TryNext('=');
      return Comparison::kEqual;
    }
    if (tokens_.TrySymbol('!')) {
      if (TryNext('=')) return Comparison::kNotEqual;
      return tokens_.Expected("'=' behind '!'");
    }
    if (tokens_.TrySymbol('<')) {
      if (TryNext('=')) return Comparison::kLessOrEqual;
      return TryNext('>') ? Comparison::kNotEqual : Comparison::kLess;
    }
    if (tokens_.TrySymbol('>')) {
      return TryNext('=') ? Comparison::kGreaterOrEqual : Comparison::kGreater;
    }
    return tokens_.Expected("a comparison, IN, BETWEEN or IS NULL");
  }

  bool TryNext(char symbol) { return tokens_.TrySymbol(symbol); }

  absl::Status TakeValue(Condition* condition) {
    if (tokens_.Peek(1).kind == TokenKind::kString &&
        (tokens_.Peek().IsWord("DATE") || tokens_.Peek().IsWord("TIMESTAMP"))) {
      tokens_.Take();
    }
    const Token first = tokens_.Peek();
    if (first.kind == TokenKind::kString) {
      condition->values.push_back(tokens_.Take().text);
      return absl::OkStatus();
    }
    if (first.IsWord("TRUE") || first.IsWord("FALSE")) {
      condition->values.push_back(AsciiLower(tokens_.Take().text));
      return absl::OkStatus();
    }
    if (first.IsWord("NULL")) {
      return tokens_.Error(
          ErrorReason::kInvalidRequest, first, "nothing equals NULL; write IS NULL or IS NOT NULL");
    }
    return TakeNumber(condition);
  }

  // Sign, digits, point and exponent come as tokens that touch each other: -1.5e-3.
  absl::Status TakeNumber(Condition* condition) {
    const Token first = tokens_.Peek();
    std::string text;
    size_t end = first.offset;
    while (tokens_.Peek().offset == end && IsNumberPart(tokens_.Peek(), text)) {
      text += tokens_.Peek().text;
      end += tokens_.Take().text.size();
    }
    std::string_view digits = text;
    if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
    if (digits.empty() || !ParseDouble(digits).has_value()) {
      return tokens_.Error(ErrorReason::kInvalidRequest,
                           first,
                           "expected a value (a number, quoted text, true or false), found " +
                               (text.empty() ? first.Shown() : text));
    }
    condition->values.emplace_back(digits);
    return absl::OkStatus();
  }

  static bool IsNumberPart(const Token& token, const std::string& before) {
    if (token.kind == TokenKind::kNumber || token.IsSymbol('.')) return true;
    if (token.IsSymbol('-') || token.IsSymbol('+')) {
      return before.empty() || before.back() == 'e' || before.back() == 'E';
    }
    // "1e5" and "5e" are words that begin with a digit; "e5" follows a point: "1.e5".
    return token.kind == TokenKind::kWord &&
           token.text.find_first_not_of("0123456789eE") == std::string::npos &&
           (!before.empty() || (token.text[0] >= '0' && token.text[0] <= '9'));
  }

  TokenStream& tokens_;
};

}  // namespace

absl::StatusOr<std::vector<Condition>> ParseWhere(std::string_view text) {
  absl::StatusOr<std::vector<Token>> tokens = ddl::Tokenize(text);
  if (!tokens.ok()) return AsUsage(Annotate(tokens.status(), "--where"));
  TokenStream stream(text, *std::move(tokens));
  absl::StatusOr<std::vector<Condition>> conditions = WhereParser(stream).Run();
  if (!conditions.ok()) return AsUsage(Annotate(conditions.status(), "--where"));
  return conditions;
}

}  // namespace skep::cli

#include "client/ddl/columns.h"

#include <algorithm>
#include <string>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"

namespace skep::ddl {
namespace {

constexpr int kMaxDepth = 64;

absl::StatusOr<HiveType> TakeTypeAt(TokenStream& tokens, int depth);

absl::StatusOr<HiveType> TakeNested(
    TokenStream& tokens, TypeKind kind, size_t min, size_t max, int depth) {
  HiveType type;
  type.kind = kind;
  SKEP_RETURN_IF_ERROR(tokens.ExpectSymbol('<'));
  do {
    if (kind == TypeKind::kStruct) {
      SKEP_ASSIGN_OR_RETURN(std::string name, tokens.ExpectName("a field name"));
      SKEP_RETURN_IF_ERROR(tokens.ExpectSymbol(':'));
      type.field_names.push_back(std::move(name));
    }
    SKEP_ASSIGN_OR_RETURN(HiveType child, TakeTypeAt(tokens, depth + 1));
    type.children.push_back(std::move(child));
    if (kind == TypeKind::kStruct && tokens.TryWords({"COMMENT"})) {
      SKEP_RETURN_IF_ERROR(tokens.ExpectString("the field's comment").status());
    }
  } while (type.children.size() < max && tokens.TrySymbol(','));
  if (type.children.size() < min) return tokens.Expected("','");
  SKEP_RETURN_IF_ERROR(tokens.ExpectSymbol('>'));
  return type;
}

// "decimal ( 12 , 2 )", "timestamp with local time zone", "double precision": gathered and given to
// the model's parser, which knows the words.
absl::StatusOr<HiveType> TakePlain(TokenStream& tokens) {
  const Token first = tokens.Peek();
  if (first.kind != TokenKind::kWord) return tokens.Expected("a type");
  std::string text = AsciiLower(tokens.Take().text);
  if (tokens.TryWords({"WITH", "LOCAL", "TIME", "ZONE"})) text += " with local time zone";
  if (text == "double" && tokens.TryWords({"PRECISION"})) text += " precision";
  if (tokens.TrySymbol('(')) {
    text += '(';
    SKEP_ASSIGN_OR_RETURN(int a, tokens.ExpectNumber("a length"));
    text += std::to_string(a);
    if (tokens.TrySymbol(',')) {
      SKEP_ASSIGN_OR_RETURN(int b, tokens.ExpectNumber("a scale"));
      text += ',' + std::to_string(b);
    }
    SKEP_RETURN_IF_ERROR(tokens.ExpectSymbol(')'));
    text += ')';
  }
  absl::StatusOr<HiveType> type = ParseHiveType(text);
  if (!type.ok())
    return tokens.Error(ErrorReason::kInvalidRequest, first, MessageOf(type.status()));
  return type;
}

absl::StatusOr<HiveType> TakeTypeAt(TokenStream& tokens, int depth) {
  if (depth > kMaxDepth) {
    return tokens.Error(
        ErrorReason::kInvalidRequest, tokens.Peek(), "types are nested deeper than 64");
  }
  if (tokens.TryWords({"ARRAY"})) return TakeNested(tokens, TypeKind::kList, 1, 1, depth);
  if (tokens.TryWords({"MAP"})) return TakeNested(tokens, TypeKind::kMap, 2, 2, depth);
  if (tokens.TryWords({"STRUCT"})) return TakeNested(tokens, TypeKind::kStruct, 1, SIZE_MAX, depth);
  if (tokens.TryWords({"UNIONTYPE"}))
    return TakeNested(tokens, TypeKind::kUnion, 1, SIZE_MAX, depth);
  return TakePlain(tokens);
}

// Up to the ',' or ')' that ends a column or a table constraint.
void SkipConstraint(TokenStream& tokens) {
  int depth = 0;
  while (tokens.Peek().kind != TokenKind::kEnd) {
    const Token& next = tokens.Peek();
    if (depth == 0 && (next.IsSymbol(',') || next.IsSymbol(')'))) return;
    if (next.IsSymbol('(')) ++depth;
    if (next.IsSymbol(')')) --depth;
    tokens.Take();
  }
}

bool AtTableConstraint(const TokenStream& tokens) {
  const Token& first = tokens.Peek();
  const Token& second = tokens.Peek(1);
  return (first.IsWord("CONSTRAINT") && second.kind != TokenKind::kEnd) ||
         ((first.IsWord("PRIMARY") || first.IsWord("FOREIGN")) && second.IsWord("KEY")) ||
         ((first.IsWord("UNIQUE") || first.IsWord("CHECK")) && second.IsSymbol('('));
}

absl::Status TakeColumnEnd(TokenStream& tokens, Column* column) {
  while (!tokens.Peek().IsSymbol(',') && !tokens.Peek().IsSymbol(')')) {
    if (tokens.TryWords({"COMMENT"})) {
      SKEP_ASSIGN_OR_RETURN(column->comment, tokens.ExpectString("the column's comment"));
      return absl::OkStatus();
    }
    static constexpr std::string_view kConstraints[] = {
        "NOT", "NULL", "DEFAULT", "CHECK", "UNIQUE", "PRIMARY", "REFERENCES", "CONSTRAINT"};
    const Token& next = tokens.Peek();
    bool constraint = std::any_of(std::begin(kConstraints),
                                  std::end(kConstraints),
                                  [&next](std::string_view word) { return next.IsWord(word); });
    if (!constraint) return tokens.Expected("',' or ')' behind the column");
    int depth = 0;
    do {
      if (tokens.Peek().IsSymbol('(')) ++depth;
      if (tokens.Peek().IsSymbol(')')) --depth;
      tokens.Take();
    } while (tokens.Peek().kind != TokenKind::kEnd &&
             (depth > 0 || !(tokens.Peek().IsSymbol(',') || tokens.Peek().IsSymbol(')') ||
                             tokens.Peek().IsWord("COMMENT"))));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<HiveType> TakeType(TokenStream& tokens) { return TakeTypeAt(tokens, 1); }

absl::StatusOr<std::vector<Column>> TakeColumnList(TokenStream& tokens) {
  std::vector<Column> columns;
  SKEP_RETURN_IF_ERROR(tokens.ExpectSymbol('('));
  do {
    if (!columns.empty() && AtTableConstraint(tokens)) {
      SkipConstraint(tokens);
      continue;
    }
    const Token at = tokens.Peek();
    Column column;
    SKEP_ASSIGN_OR_RETURN(column.name, tokens.ExpectName("a column name"));
    SKEP_ASSIGN_OR_RETURN(column.type, TakeType(tokens));
    SKEP_RETURN_IF_ERROR(TakeColumnEnd(tokens, &column));
    for (const Column& other : columns) {
      if (other.name == column.name) {
        return tokens.Error(
            ErrorReason::kInvalidRequest, at, "column " + at.Shown() + " occurs twice");
      }
    }
    columns.push_back(std::move(column));
  } while (tokens.TrySymbol(','));
  SKEP_RETURN_IF_ERROR(tokens.ExpectSymbol(')'));
  return columns;
}

}  // namespace skep::ddl

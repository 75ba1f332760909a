#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/model/errors.h"

namespace skep::ddl {

enum class TokenKind { kWord, kQuotedName, kString, kNumber, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string
      text;  // words as written; names and strings without quotes, escapes resolved; one symbol
  size_t offset = 0;  // of its first byte in the source

  bool IsWord(std::string_view upper) const;  // any case
  bool IsSymbol(char symbol) const { return kind == TokenKind::kSymbol && text[0] == symbol; }
  std::string Shown() const;  // for messages: `name`, 'string', ',' or "the end of the text"
};

// An error at a place of `source`: "line 3, column 5: WHAT", the line, a caret. Columns count
// characters.
absl::Status ErrorAt(ErrorReason reason,
                     std::string_view source,
                     size_t offset,
                     std::string_view what);

// Splits Hive's SQL text; the last token is kEnd. Strings resolve Hive's escapes (\n \t \'
// \\ \uXXXX \ooo …;
// \% and \_ keep their backslash). Errors: kInvalidRequest for an open quote, a character that
// starts nothing, text that is not UTF-8.
absl::StatusOr<std::vector<Token>> Tokenize(std::string_view source);

}  // namespace skep::ddl

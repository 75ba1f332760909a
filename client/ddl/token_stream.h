#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "client/ddl/lexer.h"

namespace skep::ddl {

// A cursor over the tokens of one text, for recursive descent. Thread-compatible.
class TokenStream {
 public:
  // `source` must outlive the stream. `tokens` ends with kEnd.
  TokenStream(std::string_view source, std::vector<Token> tokens)
      : source_(source), tokens_(std::move(tokens)) {}

  const Token& Peek(size_t ahead = 0) const;
  Token Take();

  // Takes the words if all of them come next, in this order.
  bool TryWords(std::initializer_list<std::string_view> words);
  bool TrySymbol(char symbol);

  absl::Status ExpectWords(std::initializer_list<std::string_view> words);
  absl::Status ExpectSymbol(char symbol);
  // A plain or backquoted name, lower-cased. `what` is for the message: "a column name".
  absl::StatusOr<std::string> ExpectName(std::string_view what);
  absl::StatusOr<std::string> ExpectString(std::string_view what);
  absl::StatusOr<int> ExpectNumber(std::string_view what);

  // "expected WHAT, found …" at the next token.
  absl::Status Expected(std::string_view what) const;
  absl::Status Error(ErrorReason reason, const Token& at, std::string_view what) const;

 private:
  std::string_view source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace skep::ddl

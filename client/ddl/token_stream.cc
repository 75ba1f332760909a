#include "client/ddl/token_stream.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"

namespace skep::ddl {

const Token& TokenStream::Peek(size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

Token TokenStream::Take() {
  Token token = Peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool TokenStream::TryWords(std::initializer_list<std::string_view> words) {
  size_t ahead = 0;
  for (std::string_view word : words) {
    if (!Peek(ahead++).IsWord(word)) return false;
  }
  at_ += words.size();
  return true;
}

bool TokenStream::TrySymbol(char symbol) {
  if (!Peek().IsSymbol(symbol)) return false;
  ++at_;
  return true;
}

absl::Status TokenStream::ExpectWords(std::initializer_list<std::string_view> words) {
  for (std::string_view word : words) {
    if (!Peek().IsWord(word)) return Expected(word);
    ++at_;
  }
  return absl::OkStatus();
}

absl::Status TokenStream::ExpectSymbol(char symbol) {
  if (TrySymbol(symbol)) return absl::OkStatus();
  return Expected(std::string("'") + symbol + "'");
}

absl::StatusOr<std::string> TokenStream::ExpectName(std::string_view what) {
  const Token& token = Peek();
  if (token.kind != TokenKind::kWord && token.kind != TokenKind::kQuotedName) return Expected(what);
  if (token.text.empty()) {
    return Error(ErrorReason::kInvalidRequest, token, std::string(what) + " is empty");
  }
  return AsciiLower(Take().text);
}

absl::StatusOr<std::string> TokenStream::ExpectString(std::string_view what) {
  if (Peek().kind != TokenKind::kString) return Expected(what);
  return Take().text;
}

absl::StatusOr<int> TokenStream::ExpectNumber(std::string_view what) {
  if (Peek().kind != TokenKind::kNumber) return Expected(what);
  std::optional<int64_t> value = ParseInt64(Peek().text);
  if (!value.has_value() || *value > std::numeric_limits<int>::max()) {
    return Error(ErrorReason::kInvalidRequest, Peek(), Peek().Shown() + " is too large");
  }
  Take();
  return static_cast<int>(*value);
}

absl::Status TokenStream::Expected(std::string_view what) const {
  return Error(ErrorReason::kInvalidRequest,
               Peek(),
               "expected " + std::string(what) + ", found " + Peek().Shown());
}

absl::Status TokenStream::Error(ErrorReason reason, const Token& at, std::string_view what) const {
  return ErrorAt(reason, source_, at.offset, what);
}

}  // namespace skep::ddl

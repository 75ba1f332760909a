#include "client/ddl/lexer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"

namespace skep::ddl {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWordPart(char c) { return IsWordStart(c) || IsDigit(c); }
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xE0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// `digits` characters of `text` as a number of `base`, if all are digits of it.
std::optional<uint32_t> DigitsOf(std::string_view text, size_t digits, int base) {
  if (text.size() < digits) return std::nullopt;
  uint32_t value = 0;
  for (char c : text.substr(0, digits)) {
    int digit = IsDigit(c)               ? c - '0'
                : (c >= 'a' && c <= 'f') ? c - 'a' + 10
                : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                         : 99;
    if (digit >= base) return std::nullopt;
    value = value * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit);
  }
  return value;
}

// Resolves the escape after a backslash at the front of `rest`; returns how many bytes it took.
size_t AppendEscape(std::string_view rest, std::string* out) {
  if (rest[0] == 'u') {
    std::optional<uint32_t> code = DigitsOf(rest.substr(1), 4, 16);
    if (code.has_value() && (*code < 0xD800 || *code > 0xDFFF)) {
      AppendUtf8(*code, out);
      return 5;
    }
  }
  if (rest[0] == '0' || rest[0] == '1') {
    if (std::optional<uint32_t> code = DigitsOf(rest, 3, 8)) {
      AppendUtf8(*code, out);
      return 3;
    }
  }
  static constexpr std::pair<char, char> kEscapes[] = {
      {'0', '\0'}, {'b', '\b'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'Z', '\x1a'}};
  for (auto [letter, value] : kEscapes) {
    if (rest[0] == letter) {
      *out += value;
      return 1;
    }
  }
  if (rest[0] == '%' || rest[0] == '_') *out += '\\';
  *out += rest[0];
  return 1;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  absl::StatusOr<std::vector<Token>> Run() {
    if (!IsValidUtf8(source_)) {
      return MakeError(
          ErrorReason::kInvalidRequest, "the text is not valid UTF-8", {{"field", "ddl"}});
    }
    std::vector<Token> tokens;
    while (true) {
      SkipBlanksAndComments();
      if (at_ == source_.size()) break;
      Token token;
      token.offset = at_;
      SKEP_RETURN_IF_ERROR(Next(&token));
      tokens.push_back(std::move(token));
    }
    Token end;
    end.offset = at_;
    tokens.push_back(end);
    return tokens;
  }

 private:
  void SkipBlanksAndComments() {
    while (at_ < source_.size()) {
      if (IsBlank(source_[at_])) {
        ++at_;
      } else if (source_.substr(at_, 2) == "--") {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else {
        return;
      }
    }
  }

  absl::Status Next(Token* token) {
    char c = source_[at_];
    if (c == '`') return QuotedName(token);
    if (c == '\'' || c == '"') return String(token);
    // A name may begin with a digit (`2024_orders`): a number is digits alone.
    if (IsWordPart(c)) {
      size_t end = at_;
      while (end < source_.size() && IsWordPart(source_[end])) ++end;
      token->text = source_.substr(at_, end - at_);
      bool digits = std::all_of(token->text.begin(), token->text.end(), IsDigit);
      token->kind = digits ? TokenKind::kNumber : TokenKind::kWord;
      at_ = end;
      return absl::OkStatus();
    }
    // Other punctuation occurs in constraints, which are passed over.
    if (c <= ' ' || c > '~') {
      size_t length = 1;
      while (at_ + length < source_.size() && IsContinuation(source_[at_ + length])) ++length;
      return ErrorAt(ErrorReason::kInvalidRequest,
                     source_,
                     at_,
                     "unexpected character " + Printable(source_.substr(at_, length)));
    }
    token->kind = TokenKind::kSymbol;
    token->text = c;
    ++at_;
    return absl::OkStatus();
  }

  absl::Status QuotedName(Token* token) {
    token->kind = TokenKind::kQuotedName;
    for (size_t i = at_ + 1; i < source_.size(); ++i) {
      if (source_[i] != '`') {
        token->text += source_[i];
      } else if (i + 1 < source_.size() && source_[i + 1] == '`') {
        token->text += '`';
        ++i;
      } else {
        at_ = i + 1;
        return absl::OkStatus();
      }
    }
    return ErrorAt(
        ErrorReason::kInvalidRequest, source_, at_, "the name that begins here has no closing `");
  }

  absl::Status String(Token* token) {
    token->kind = TokenKind::kString;
    const char quote = source_[at_];
    size_t i = at_ + 1;
    while (i < source_.size() && source_[i] != quote) {
      if (source_[i] == '\\' && i + 1 < source_.size()) {
        i += 1 + AppendEscape(source_.substr(i + 1), &token->text);
      } else {
        token->text += source_[i++];
      }
    }
    if (i >= source_.size()) {
      return ErrorAt(ErrorReason::kInvalidRequest,
                     source_,
                     at_,
                     std::string("the string that begins here has no closing ") + quote);
    }
    at_ = i + 1;
    return absl::OkStatus();
  }

  std::string_view source_;
  size_t at_ = 0;
};

}  // namespace

bool Token::IsWord(std::string_view upper) const {
  return kind == TokenKind::kWord && AsciiEqualsIgnoreCase(text, upper);
}

std::string Token::Shown() const {
  switch (kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kQuotedName:
      return "`" + Printable(text) + "`";
    case TokenKind::kWord:
    case TokenKind::kNumber:
      return Printable(text);
    case TokenKind::kString:
    case TokenKind::kSymbol:
      break;
  }
  return "'" + Printable(text) + "'";
}

absl::Status ErrorAt(ErrorReason reason,
                     std::string_view source,
                     size_t offset,
                     std::string_view what) {
  size_t begin = offset == 0 ? std::string_view::npos : source.rfind('\n', offset - 1);
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  size_t end = std::min(source.find('\n', offset), source.size());
  std::string line_number = std::to_string(
      1 + std::count(source.begin(), source.begin() + static_cast<long>(begin), '\n'));
  std::string below;
  for (char c : source.substr(begin, offset - begin)) {
    if (!IsContinuation(c)) below += c == '\t' ? '\t' : ' ';
  }
  std::string column = std::to_string(below.size() + 1);
  std::string line(source.substr(begin, end - begin));
  while (!line.empty() && IsBlank(line.back())) line.pop_back();
  return MakeError(reason,
                   "line " + line_number + ", column " + column + ": " + std::string(what) + "\n" +
                       line + "\n" + below + "^",
                   {{"field", "text"}, {"line", line_number}, {"column", column}});
}

absl::StatusOr<std::vector<Token>> Tokenize(std::string_view source) { return Lexer(source).Run(); }

}  // namespace skep::ddl

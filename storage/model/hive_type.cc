#include "storage/model/hive_type.h"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/model/quote.h"

namespace skep {

namespace {

constexpr int kMaxDepth = 64;
constexpr int32_t kMaxCharLength = 255;
constexpr int32_t kMaxVarcharLength = 65535;

struct Primitive {
  std::string_view word;
  TypeKind kind;
};

// The first word of each kind is the one that prints.
constexpr std::array kPrimitives = {
    Primitive{"boolean", TypeKind::kBoolean},
    Primitive{"tinyint", TypeKind::kTinyint},
    Primitive{"smallint", TypeKind::kSmallint},
    Primitive{"int", TypeKind::kInt},
    Primitive{"integer", TypeKind::kInt},
    Primitive{"bigint", TypeKind::kBigint},
    Primitive{"float", TypeKind::kFloat},
    Primitive{"double", TypeKind::kDouble},
    Primitive{"string", TypeKind::kString},
    Primitive{"binary", TypeKind::kBinary},
    Primitive{"date", TypeKind::kDate},
    Primitive{"timestamp", TypeKind::kTimestamp},
};

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// A recursive-descent parser over one text; `at_` is the place of the next character.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<HiveType> Type(int depth = 0) {
    if (depth > kMaxDepth) return Refuse(fmt::format("nests deeper than {} levels", kMaxDepth));
    SkipBlanks();
    const size_t start = at_;
    const std::string word = AsciiLower(Word());
    if (word == "array") return Children(TypeKind::kList, 1, 1, depth);
    if (word == "map") return Children(TypeKind::kMap, 2, 2, depth);
    if (word == "uniontype") return Children(TypeKind::kUnion, 1, 127, depth);
    if (word == "struct") return Struct(depth);
    if (word == "char") return Sized(TypeKind::kChar, kMaxCharLength);
    if (word == "varchar") return Sized(TypeKind::kVarchar, kMaxVarcharLength);
    if (word == "decimal" || word == "numeric" || word == "dec") return Decimal();
    for (const Primitive& primitive : kPrimitives) {
      if (word != primitive.word) continue;
      HiveType type;
      type.kind = primitive.kind;
      if (type.kind == TypeKind::kDouble) SkipWords({"precision"});
      if (type.kind == TypeKind::kTimestamp && SkipWords({"with", "local", "time", "zone"})) {
        type.kind = TypeKind::kTimestampLocalTz;
      }
      return type;
    }
    at_ = start;
    return Refuse(word.empty() ? "needs a type" : fmt::format("has the unknown type '{}'", word));
  }

  absl::StatusOr<std::vector<Column>> Columns() {
    std::vector<Column> columns;
    SkipBlanks();
    if (AtEnd()) return columns;
    do {
      Column column;
      SKEP_ASSIGN_OR_RETURN(column.name, Name());
      SKEP_ASSIGN_OR_RETURN(column.type, Type());
      if (SkipWords({"comment"})) {
        SKEP_ASSIGN_OR_RETURN(column.comment, Quoted());
      }
      for (const Column& seen : columns) {
        if (seen.name == column.name)
          return Refuse(fmt::format("names column '{}' twice", column.name));
      }
      columns.push_back(std::move(column));
    } while (Skip(','));
    return columns;
  }

  absl::Status End() {
    SkipBlanks();
    if (AtEnd()) return absl::OkStatus();
    return Refuse(fmt::format("has '{}' where it should end", Printable(text_.substr(at_, 20))));
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }

  void SkipBlanks() {
    while (!AtEnd() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  bool Skip(char c) {
    SkipBlanks();
    if (AtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view Word() {
    SkipBlanks();
    const size_t start = at_;
    while (!AtEnd() && IsWordCharacter(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  // All words or none.
  bool SkipWords(std::initializer_list<std::string_view> words) {
    const size_t start = at_;
    for (const std::string_view word : words) {
      if (!AsciiEqualsIgnoreCase(Word(), word)) {
        at_ = start;
        return false;
      }
    }
    return true;
  }

  absl::Status Refuse(std::string_view why) const {
    return MakeError(
        ErrorReason::kInvalidRequest,
        fmt::format("type text '{}' {} (at character {})", skep::Quoted(text_, 200), why, at_ + 1),
        {{"field", "type"}, {"position", std::to_string(at_ + 1)}});
  }

  absl::Status Expect(char c) {
    if (Skip(c)) return absl::OkStatus();
    return Refuse(fmt::format("needs '{}'", c));
  }

  absl::StatusOr<std::string> Name() {
    SkipBlanks();
    if (!AtEnd() && text_[at_] == '`') {
      const size_t end = text_.find('`', at_ + 1);
      if (end == std::string_view::npos) return Refuse("has a name without its closing backquote");
      const std::string name = AsciiLower(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      if (name.empty() || !IsValidUtf8(name))
        return Refuse("has a name that is empty or not UTF-8");
      return name;
    }
    const std::string name = AsciiLower(Word());
    if (name.empty() || !IsValidUtf8(name)) return Refuse("needs a name");
    return name;
  }

  absl::StatusOr<std::string> Quoted() {
    SkipBlanks();
    if (AtEnd() || (text_[at_] != '\'' && text_[at_] != '"')) return Refuse("needs a quoted text");
    const char quote = text_[at_++];
    std::string value;
    while (!AtEnd() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_++];
    }
    if (AtEnd()) return Refuse("has a quoted text without its end");
    ++at_;
    return value;
  }

  absl::StatusOr<int32_t> Number(std::string_view what, int64_t least, int64_t most) {
    const std::string_view digits = Word();
    const auto value = ParseInt64(digits);
    if (!value.has_value() || *value < least || *value > most) {
      return Refuse(fmt::format("has the {} '{}': {} to {} is allowed", what, digits, least, most));
    }
    return static_cast<int32_t>(*value);
  }

  absl::StatusOr<HiveType> Sized(TypeKind kind, int32_t most) {
    HiveType type;
    type.kind = kind;
    SKEP_RETURN_IF_ERROR(Expect('('));
    SKEP_ASSIGN_OR_RETURN(type.length, Number("length", 1, most));
    SKEP_RETURN_IF_ERROR(Expect(')'));
    return type;
  }

  absl::StatusOr<HiveType> Decimal() {
    HiveType type;
    type.kind = TypeKind::kDecimal;
    type.precision = 10;
    if (!Skip('(')) return type;
    SKEP_ASSIGN_OR_RETURN(type.precision, Number("precision", 1, 38));
    if (Skip(',')) {
      SKEP_ASSIGN_OR_RETURN(type.scale, Number("scale", 0, type.precision));
    }
    SKEP_RETURN_IF_ERROR(Expect(')'));
    return type;
  }

  absl::StatusOr<HiveType> Children(TypeKind kind, size_t least, size_t most, int depth) {
    HiveType type;
    type.kind = kind;
    SKEP_RETURN_IF_ERROR(Expect('<'));
    do {
      SKEP_ASSIGN_OR_RETURN(HiveType child, Type(depth + 1));
      type.children.push_back(std::move(child));
    } while (Skip(','));
    SKEP_RETURN_IF_ERROR(Expect('>'));
    if (type.children.size() < least || type.children.size() > most) {
      return Refuse(fmt::format(
          "gives {} types where {} to {} are needed", type.children.size(), least, most));
    }
    return type;
  }

  absl::StatusOr<HiveType> Struct(int depth) {
    HiveType type;
    type.kind = TypeKind::kStruct;
    SKEP_RETURN_IF_ERROR(Expect('<'));
    if (Skip('>')) return type;
    do {
      SKEP_ASSIGN_OR_RETURN(std::string name, Name());
      SKEP_RETURN_IF_ERROR(Expect(':'));
      SKEP_ASSIGN_OR_RETURN(HiveType child, Type(depth + 1));
      if (SkipWords({"comment"})) {
        SKEP_RETURN_IF_ERROR(Quoted().status());
      }
      type.field_names.push_back(std::move(name));
      type.children.push_back(std::move(child));
    } while (Skip(','));
    SKEP_RETURN_IF_ERROR(Expect('>'));
    return type;
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::string FieldName(const std::string& name) {
  for (const char c : name) {
    if (!IsWordCharacter(c)) return "`" + name + "`";
  }
  return name.empty() ? "``" : name;
}

std::string JoinChildren(const HiveType& type) {
  std::string text;
  for (size_t i = 0; i < type.children.size(); ++i) {
    if (i > 0) text += ',';
    if (type.kind == TypeKind::kStruct) text += FieldName(type.field_names[i]) + ":";
    text += type.children[i].ToString();
  }
  return text;
}

}  // namespace

std::string HiveType::ToString() const {
  switch (kind) {
    case TypeKind::kChar:
      return fmt::format("char({})", length);
    case TypeKind::kVarchar:
      return fmt::format("varchar({})", length);
    case TypeKind::kDecimal:
      return fmt::format("decimal({},{})", precision, scale);
    case TypeKind::kTimestampLocalTz:
      return "timestamp with local time zone";
    case TypeKind::kList:
      return "array<" + JoinChildren(*this) + ">";
    case TypeKind::kMap:
      return "map<" + JoinChildren(*this) + ">";
    case TypeKind::kStruct:
      return "struct<" + JoinChildren(*this) + ">";
    case TypeKind::kUnion:
      return "uniontype<" + JoinChildren(*this) + ">";
    default:
      break;
  }
  for (const Primitive& primitive : kPrimitives) {
    if (primitive.kind == kind) return std::string(primitive.word);
  }
  return "unknown";
}

absl::StatusOr<HiveType> ParseHiveType(std::string_view text) {
  Parser parser(text);
  SKEP_ASSIGN_OR_RETURN(HiveType type, parser.Type());
  SKEP_RETURN_IF_ERROR(parser.End());
  return type;
}

absl::StatusOr<std::vector<Column>> ParseColumns(std::string_view text) {
  Parser parser(text);
  SKEP_ASSIGN_OR_RETURN(std::vector<Column> columns, parser.Columns());
  SKEP_RETURN_IF_ERROR(parser.End());
  return columns;
}

}  // namespace skep

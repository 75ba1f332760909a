#include "client/ddl/create_table.h"

#include <optional>
#include <utility>

#include "client/ddl/columns.h"
#include "client/ddl/token_stream.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"

namespace skep::ddl {
namespace {

// The last component of a class name decides: packages moved between Hive releases.
bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

FileFormat FormatOfClasses(std::string_view input_format, std::string_view serde) {
  if (EndsWith(input_format, ".OrcInputFormat")) return FileFormat::kOrc;
  if (EndsWith(input_format, ".MapredParquetInputFormat")) return FileFormat::kParquet;
  if (EndsWith(input_format, ".AvroContainerInputFormat")) return FileFormat::kAvro;
  bool plain_text = serde.empty() || EndsWith(serde, ".LazySimpleSerDe");
  if (EndsWith(input_format, ".TextInputFormat") && plain_text) return FileFormat::kText;
  return FileFormat::kOther;
}

std::optional<FileFormat> FormatOfWord(std::string_view word) {
  static constexpr std::pair<std::string_view, FileFormat> kWords[] = {
      {"ORC", FileFormat::kOrc},
      {"ORCFILE", FileFormat::kOrc},
      {"PARQUET", FileFormat::kParquet},
      {"PARQUETFILE", FileFormat::kParquet},
      {"AVRO", FileFormat::kAvro},
      {"AVROFILE", FileFormat::kAvro},
      {"TEXTFILE", FileFormat::kText},
      {"SEQUENCEFILE", FileFormat::kOther},
      {"RCFILE", FileFormat::kOther},
      {"JSONFILE", FileFormat::kOther}};
  for (const auto& [name, format] : kWords) {
    if (AsciiEqualsIgnoreCase(word, name)) return format;
  }
  return std::nullopt;
}

// Hive prints "file:/dir" for what it was given as a path.
std::string PathOfLocation(const std::string& location) {
  static constexpr std::string_view kScheme = "file:";
  if (location.rfind(kScheme, 0) != 0) return location;
  std::string path = location.substr(kScheme.size());
  if (path.rfind("///", 0) == 0) path.erase(0, 2);
  return path;
}

class Parser {
 public:
  explicit Parser(TokenStream& tokens) : tokens_(tokens) {}

  absl::StatusOr<CreateTable> Run() {
    SKEP_RETURN_IF_ERROR(TakeHead());
    // Hive prints the column list of a table whose schema comes from its SerDe as well.
    SKEP_ASSIGN_OR_RETURN(result_.columns, TakeColumnList(tokens_));
    while (true) {
      SKEP_ASSIGN_OR_RETURN(bool taken, TakeClause());
      if (!taken) break;
    }
    SKEP_RETURN_IF_ERROR(TakeRest());
    SKEP_RETURN_IF_ERROR(CheckNames());
    return std::move(result_);
  }

 private:
  absl::Status TakeHead() {
    SKEP_RETURN_IF_ERROR(tokens_.ExpectWords({"CREATE"}));
    while (true) {
      if (tokens_.TryWords({"EXTERNAL"})) {
        result_.external = true;
      } else if (tokens_.TryWords({"TRANSACTIONAL"})) {
        result_.properties["transactional"] = "true";
      } else if (!tokens_.TryWords({"MANAGED"}) && !tokens_.TryWords({"TEMPORARY"})) {
        break;
      }
    }
    if (tokens_.Peek().IsWord("VIEW") || tokens_.Peek().IsWord("MATERIALIZED")) {
      return tokens_.Error(
          ErrorReason::kNotSupported, tokens_.Peek(), "views have no files; give a CREATE TABLE");
    }
    SKEP_RETURN_IF_ERROR(tokens_.ExpectWords({"TABLE"}));
    if (tokens_.TryWords({"IF"})) SKEP_RETURN_IF_ERROR(tokens_.ExpectWords({"NOT", "EXISTS"}));
    const Token at = tokens_.Peek();
    SKEP_ASSIGN_OR_RETURN(result_.table, tokens_.ExpectName("a table name"));
    if (tokens_.TrySymbol('.')) {
      result_.database = std::move(result_.table);
      SKEP_ASSIGN_OR_RETURN(result_.table, tokens_.ExpectName("a table name"));
    } else if (size_t dot = result_.table.find('.'); dot != std::string::npos) {
      // Hive 2 prints `db.t` within one pair of quotes.
      result_.database = result_.table.substr(0, dot);
      result_.table = result_.table.substr(dot + 1);
      if (result_.database.empty() || result_.table.empty()) {
        return tokens_.Error(ErrorReason::kInvalidRequest, at, "the table name has an empty part");
      }
    }
    return absl::OkStatus();
  }

  // One clause behind the columns; false if none comes.
  absl::StatusOr<bool> TakeClause() {
    absl::Status status;
    if (tokens_.TryWords({"COMMENT"})) {
      SKEP_ASSIGN_OR_RETURN(result_.comment, tokens_.ExpectString("the table's comment"));
    } else if (tokens_.TryWords({"PARTITIONED", "BY"})) {
      status = TakePartitionedBy();
    } else if (tokens_.TryWords({"CLUSTERED", "BY"})) {
      status = TakeClusteredBy();
    } else if (tokens_.TryWords({"SKEWED", "BY"})) {
      status = TakeSkewedBy();
    } else if (tokens_.TryWords({"ROW", "FORMAT"})) {
      status = TakeRowFormat();
    } else if (tokens_.TryWords({"STORED", "AS"})) {
      status = TakeStoredAs();
    } else if (tokens_.Peek().IsWord("STORED")) {
      return tokens_.Error(ErrorReason::kNotSupported,
                           tokens_.Peek(),
                           "tables of a storage handler (STORED BY) are not Hive ACID tables");
    } else if (tokens_.TryWords({"WITH", "SERDEPROPERTIES"})) {
      status = TakeProperties(&result_.serde_properties);
    } else if (tokens_.TryWords({"LOCATION"})) {
      SKEP_ASSIGN_OR_RETURN(std::string location, tokens_.ExpectString("the location"));
      result_.location = PathOfLocation(location);
    } else if (tokens_.TryWords({"TBLPROPERTIES"})) {
      status = TakeProperties(&result_.properties);
    } else {
      return false;
    }
    if (!status.ok()) return status;
    return true;
  }

  absl::Status TakePartitionedBy() {
    if (tokens_.Peek().IsWord("SPEC")) {
      return tokens_.Error(ErrorReason::kNotSupported,
                           tokens_.Peek(),
                           "partition transforms are not Hive partitions");
    }
    SKEP_ASSIGN_OR_RETURN(result_.partition_columns, TakeColumnList(tokens_));
    return absl::OkStatus();
  }

  absl::Status TakeClusteredBy() {
    SKEP_ASSIGN_OR_RETURN(result_.bucketing.columns, TakeNames());
    if (tokens_.TryWords({"SORTED", "BY"})) {
      SKEP_RETURN_IF_ERROR(tokens_.ExpectSymbol('('));
      do {
        SKEP_ASSIGN_OR_RETURN(std::string name, tokens_.ExpectName("a column name"));
        result_.bucketing.sorted_by.push_back(std::move(name));
        if (!tokens_.TryWords({"ASC"})) tokens_.TryWords({"DESC"});
        if (tokens_.TryWords({"NULLS"}) && !tokens_.TryWords({"FIRST"})) {
          SKEP_RETURN_IF_ERROR(tokens_.ExpectWords({"LAST"}));
        }
      } while (tokens_.TrySymbol(','));
      SKEP_RETURN_IF_ERROR(tokens_.ExpectSymbol(')'));
    }
    SKEP_RETURN_IF_ERROR(tokens_.ExpectWords({"INTO"}));
    const Token at = tokens_.Peek();
    SKEP_ASSIGN_OR_RETURN(result_.bucketing.bucket_count,
                          tokens_.ExpectNumber("the number of buckets"));
    if (result_.bucketing.bucket_count == 0) {
      return tokens_.Error(ErrorReason::kInvalidRequest, at, "a table has at least one bucket");
    }
    return tokens_.ExpectWords({"BUCKETS"});
  }

  // Where skewed values lie is a matter of sub-directories; what the files hold does not change.
  absl::Status TakeSkewedBy() {
    SKEP_RETURN_IF_ERROR(TakeNames().status());
    SKEP_RETURN_IF_ERROR(tokens_.ExpectWords({"ON"}));
    int depth = 0;
    do {
      if (tokens_.Peek().kind == TokenKind::kEnd || (depth == 0 && !tokens_.Peek().IsSymbol('('))) {
        return tokens_.Expected(depth == 0 ? "'('" : "')'");
      }
      if (tokens_.Peek().IsSymbol('(')) ++depth;
      if (tokens_.Peek().IsSymbol(')')) --depth;
      tokens_.Take();
    } while (depth > 0);
    tokens_.TryWords({"STORED", "AS", "DIRECTORIES"});
    return absl::OkStatus();
  }

  absl::Status TakeRowFormat() {
    if (tokens_.TryWords({"SERDE"})) {
      SKEP_ASSIGN_OR_RETURN(result_.serde, tokens_.ExpectString("the SerDe's class"));
      if (result_.format_words.empty()) return absl::OkStatus();
      if (EndsWith(result_.format_words, "Format")) {
        result_.format = FormatOfClasses(result_.format_words, result_.serde);
      }
      return absl::OkStatus();
    }
    SKEP_RETURN_IF_ERROR(tokens_.ExpectWords({"DELIMITED"}));
    struct Clause {
      std::initializer_list<std::string_view> words;
      std::string_view key;
    };
    static const Clause kClauses[] = {
        {{"FIELDS", "TERMINATED", "BY"}, "field.delim"},
        {{"ESCAPED", "BY"}, "escape.delim"},
        {{"COLLECTION", "ITEMS", "TERMINATED", "BY"}, "collection.delim"},
        {{"MAP", "KEYS", "TERMINATED", "BY"}, "mapkey.delim"},
        {{"LINES", "TERMINATED", "BY"}, "line.delim"},
        {{"NULL", "DEFINED", "AS"}, "serialization.null.format"}};
    bool again = true;
    while (again) {
      again = false;
      for (const Clause& clause : kClauses) {
        if (!tokens_.TryWords(clause.words)) continue;
        SKEP_ASSIGN_OR_RETURN(result_.serde_properties[std::string(clause.key)],
                              tokens_.ExpectString("a string"));
        again = true;
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakeStoredAs() {
    if (tokens_.TryWords({"INPUTFORMAT"})) {
      SKEP_ASSIGN_OR_RETURN(result_.format_words, tokens_.ExpectString("the input format's class"));
      SKEP_RETURN_IF_ERROR(tokens_.ExpectWords({"OUTPUTFORMAT"}));
      SKEP_RETURN_IF_ERROR(tokens_.ExpectString("the output format's class").status());
      result_.format = FormatOfClasses(result_.format_words, result_.serde);
      return absl::OkStatus();
    }
    std::optional<FileFormat> format;
    if (tokens_.Peek().kind == TokenKind::kWord) format = FormatOfWord(tokens_.Peek().text);
    if (!format.has_value()) {
      return tokens_.Expected(
          "ORC, PARQUET, AVRO, TEXTFILE, SEQUENCEFILE, RCFILE, JSONFILE or INPUTFORMAT");
    }
    result_.format = *format;
    result_.format_words = tokens_.Take().text;
    return absl::OkStatus();
  }

  absl::Status TakeProperties(Properties* properties) {
    SKEP_RETURN_IF_ERROR(tokens_.ExpectSymbol('('));
    do {
      SKEP_ASSIGN_OR_RETURN(std::string key, tokens_.ExpectString("a property's name in quotes"));
      SKEP_RETURN_IF_ERROR(tokens_.ExpectSymbol('='));
      SKEP_ASSIGN_OR_RETURN(std::string value,
                            tokens_.ExpectString("the property's value in quotes"));
      (*properties)[std::move(key)] = std::move(value);
    } while (tokens_.TrySymbol(','));
    return tokens_.ExpectSymbol(')');
  }

  absl::StatusOr<std::vector<std::string>> TakeNames() {
    std::vector<std::string> names;
    SKEP_RETURN_IF_ERROR(tokens_.ExpectSymbol('('));
    do {
      SKEP_ASSIGN_OR_RETURN(std::string name, tokens_.ExpectName("a column name"));
      names.push_back(std::move(name));
    } while (tokens_.TrySymbol(','));
    SKEP_RETURN_IF_ERROR(tokens_.ExpectSymbol(')'));
    return names;
  }

  absl::Status TakeRest() {
    tokens_.TrySymbol(';');
    // Hive 4 prints constraints as statements of their own.
    if (tokens_.Peek().IsWord("ALTER") && tokens_.Peek(1).IsWord("TABLE")) return absl::OkStatus();
    if (tokens_.Peek().kind == TokenKind::kEnd) return absl::OkStatus();
    return tokens_.Expected("a clause of CREATE TABLE or its end");
  }

  absl::Status CheckNames() const {
    for (const Column& partition : result_.partition_columns) {
      for (const Column& column : result_.columns) {
        if (column.name == partition.name) {
          return MakeError(
              ErrorReason::kInvalidRequest,
              "column `" + column.name + "` is both in the column list and in PARTITIONED BY",
              {{"field", "ddl"}, {"column_name", column.name}});
        }
      }
    }
    return absl::OkStatus();
  }

  TokenStream& tokens_;
  CreateTable result_;
};

}  // namespace

bool CreateTable::transactional() const {
  return AsciiEqualsIgnoreCase(PropertyIgnoreCase(properties, "transactional"), "true");
}

TableKind CreateTable::kind() const {
  if (external) return TableKind::kExternal;
  return ManagedKind(format, properties);
}

absl::StatusOr<CreateTable> ParseCreateTable(std::string_view text) {
  SKEP_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(text));
  TokenStream stream(text, std::move(tokens));
  return Parser(stream).Run();
}

}  // namespace skep::ddl

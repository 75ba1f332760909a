#include "client/cli/listing.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "client/cli/usage.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

absl::StatusOr<size_t> FindColumn(const Listing& listing, std::string_view title) {
  std::vector<std::string> titles;
  for (size_t i = 0; i < listing.columns.size(); ++i) {
    titles.push_back(AsciiLower(listing.columns[i].title));
    if (titles.back() == AsciiLower(title)) return i;
  }
  return AsUsage(MakeError(
      ErrorReason::kInvalidRequest,
      "there is no column '" + Printable(title) + "'; there are " + JoinText(titles, ", "),
      {{"field", "columns"}}));
}

bool IsEmptyInEveryRow(const Listing& listing, size_t column) {
  return !listing.rows.empty() &&
         std::all_of(listing.rows.begin(), listing.rows.end(), [column](const auto& row) {
           return row[column].empty();
         });
}

absl::StatusOr<std::vector<size_t>> Chosen(const Listing& listing,
                                           const GlobalOptions& global,
                                           Output output) {
  std::vector<size_t> chosen;
  for (const std::string& title : global.columns) {
    SKEP_ASSIGN_OR_RETURN(size_t column, FindColumn(listing, title));
    chosen.push_back(column);
  }
  if (!global.columns.empty()) return chosen;
  if (output == Output::kName) return std::vector<size_t>{listing.name_column};
  for (size_t i = 0; i < listing.columns.size(); ++i) {
    const bool hidden =
        output == Output::kTable && (listing.columns[i].wide || IsEmptyInEveryRow(listing, i));
    if (!hidden) chosen.push_back(i);
  }
  return chosen;
}

// Numbers by value and before text, text by bytes.
bool CellLess(const std::string& a, const std::string& b) {
  std::optional<double> x = ParseDouble(a);
  std::optional<double> y = ParseDouble(b);
  if (x.has_value() && y.has_value()) return *x < *y;
  if (x.has_value() != y.has_value()) return x.has_value();
  return a < b;
}

absl::Status Sort(Listing& listing, std::string_view by) {
  if (by.empty()) return absl::OkStatus();
  const bool descending = by[0] == '-';
  SKEP_ASSIGN_OR_RETURN(size_t column, FindColumn(listing, descending ? by.substr(1) : by));
  const auto& keys = listing.sort_keys.empty() ? listing.rows : listing.sort_keys;
  std::vector<size_t> order(listing.rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const std::string& x = keys[descending ? b : a][column];
    return CellLess(x, keys[descending ? a : b][column]);
  });
  std::vector<std::vector<std::string>> sorted;
  for (const size_t row : order) sorted.push_back(std::move(listing.rows[row]));
  listing.rows = std::move(sorted);
  return absl::OkStatus();
}

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string TsvCell(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '\t':
        escaped += "\\t";
        break;
      case '\n':
        escaped += "\\n";
        break;
      case '\r':
        escaped += "\\r";
        break;
      case '\\':
        escaped += "\\\\";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// Characters, not bytes: names may hold any letter.
size_t Width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

using Lines = std::vector<std::vector<std::string>>;

std::string Aligned(const Lines& lines, const std::vector<bool>& right) {
  std::vector<size_t> widths(right.size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], Width(line[i]));
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - Width(line[i]), ' ');
      if (i > 0) row += "  ";
      row += right[i] ? padding + line[i] : line[i] + padding;
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::string Separated(const Lines& lines, char separator) {
  std::string text;
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      if (i > 0) text += separator;
      text += separator == ',' ? CsvCell(line[i]) : TsvCell(line[i]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> Render(const Listing& listing,
                                   const GlobalOptions& global,
                                   Output output) {
  Listing sorted = listing;
  SKEP_RETURN_IF_ERROR(Sort(sorted, global.sort));
  SKEP_ASSIGN_OR_RETURN(std::vector<size_t> chosen, Chosen(listing, global, output));
  const bool separated = output == Output::kCsv || output == Output::kTsv;
  const bool headers =
      !global.no_headers && output != Output::kName && (separated || !sorted.rows.empty());

  Lines lines;
  std::vector<bool> right;
  if (headers) lines.emplace_back();
  for (size_t column : chosen) {
    right.push_back(listing.columns[column].right);
    if (!headers) continue;
    const std::string& title = listing.columns[column].title;
    lines[0].push_back(separated ? AsciiLower(title) : title);
  }
  for (const auto& row : sorted.rows) {
    lines.emplace_back();
    for (size_t column : chosen) {
      lines.back().push_back(separated ? row[column] : Printable(row[column]));
    }
  }
  if (output == Output::kCsv) return Separated(lines, ',');
  if (output == Output::kTsv) return Separated(lines, '\t');
  return Aligned(lines, right);
}

}  // namespace skep::cli

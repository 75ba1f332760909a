#include <memory>
#include <string>
#include <utility>

#include "client/cli/commands.h"
#include "client/cli/exit_codes.h"
#include "client/cli/listing.h"
#include "client/cli/reply.h"
#include "client/cli/resource.h"
#include "client/cli/usage.h"
#include "client/cli/where.h"
#include "client/table/read_rows.h"
#include "storage/base/counted.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {
namespace {

using client::TextRow;

// Widths of a table are taken from this many rows; later ones are laid out in groups of their own.
constexpr size_t kRowsLaidOutTogether = 1'000;

// Text without its quotes, everything else as JSON writes it.
std::string Cell(const std::string& json) {
  if (json.empty() || json[0] != '"') return json;
  Json value = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  return value.is_string() ? value.get<std::string>() : json;
}

// Prints rows as they come, in one of the outputs.
class RowPrinter {
 public:
  RowPrinter(Run& run, bool row_ids, Output output)
      : run_(run), out_(run.io().out), row_ids_(row_ids), output_(output) {
    layout_.no_headers = run.global().no_headers;
  }

  absl::Status Header(const std::vector<std::string>& columns) {
    columns_ = columns;
    // Row ids stand before the columns, and the partition only says where they count.
    if (row_ids_) {
      listing_.columns = {
          {"partition"}, {"writeid", false, true}, {"bucket", false, true}, {"rowid", false, true}};
    }
    for (const std::string& column : columns) listing_.columns.push_back({column});
    if (output_ == Output::kJson) out_ << "[";
    return absl::OkStatus();
  }

  absl::Status Row(const TextRow& row) {
    ++rows_;
    if (output_ == Output::kJson || output_ == Output::kJsonl) {
      const std::string line =
          row_ids_ ? client::JsonLineWithRowId(columns_, row) : client::JsonLine(columns_, row);
      if (output_ == Output::kJson) out_ << (rows_ > 1 ? ",\n " : "\n ");
      out_ << line;
      if (output_ == Output::kJsonl) out_ << "\n";
      return CheckOutput();
    }
    std::vector<std::string> cells;
    if (row_ids_) {
      cells = {row.partition,
               std::to_string(row.write_id),
               std::to_string(row.bucket),
               std::to_string(row.row_id)};
    }
    const bool separated = output_ == Output::kCsv || output_ == Output::kTsv;
    for (const std::string& value : row.values) {
      // Programs read NULL as the empty cell, people as a word.
      cells.push_back(separated && value == "null" ? "" : value == "null" ? "NULL" : Cell(value));
    }
    listing_.rows.push_back(std::move(cells));
    if (listing_.rows.size() >= kRowsLaidOutTogether) SKEP_RETURN_IF_ERROR(Flush());
    return CheckOutput();
  }

  absl::Status End() {
    if (output_ == Output::kJson) out_ << (rows_ > 0 ? "\n]\n" : "]\n");
    if (output_ != Output::kJson && output_ != Output::kJsonl) SKEP_RETURN_IF_ERROR(Flush());
    if (output_ == Output::kTable || output_ == Output::kWide) {
      const int64_t limit = run_.global().limit;
      run_.Say(Counted(rows_, "row") + (limit > 0 && rows_ == limit ? " (--limit)" : ""));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Flush() {
    SKEP_ASSIGN_OR_RETURN(std::string text, Render(listing_, layout_, output_));
    out_ << text;
    listing_.rows.clear();
    layout_.no_headers = true;
    return absl::OkStatus();
  }

  // Nobody reads any more (`| head`): no reason to go on.
  absl::Status CheckOutput() const {
    return out_.good() ? absl::OkStatus() : absl::CancelledError("the output is closed");
  }

  Run& run_;
  std::ostream& out_;
  const bool row_ids_;
  const Output output_;
  GlobalOptions layout_;
  std::vector<std::string> columns_;
  Listing listing_;
  int64_t rows_ = 0;
};

}  // namespace

absl::StatusOr<int> RunCommand(Run& run, const Read& options) {
  SKEP_ASSIGN_OR_RETURN(Resource resource, ParseResource(options.resource, Scope::kTable));
  client::ReadRowsOptions rows;
  rows.partition = resource.partition;
  rows.columns = run.global().columns;
  SKEP_ASSIGN_OR_RETURN(rows.where, ParseWhere(options.where));
  if (run.global().limit > 0) rows.limit = run.global().limit;
  const Output output = run.global().OutputOr(Output::kTable);
  if (output == Output::kHive || output == Output::kName) {
    return AsUsage(MakeError(ErrorReason::kInvalidRequest,
                             "rows are printed as table, json, jsonl, csv or tsv",
                             {{"field", "output"}}));
  }
  SKEP_ASSIGN_OR_RETURN(client::Session * session, run.session());
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<client::Transaction> txn,
                        session->Begin({.mode = client::TransactionMode::kReadOnly}));
  RowPrinter printer(run, options.row_ids, output);
  client::RowSink sink;
  sink.header = [&printer](const std::vector<std::string>& columns) {
    return printer.Header(columns);
  };
  sink.row = [&printer](const TextRow& row) { return printer.Row(row); };
  SKEP_RETURN_IF_ERROR(client::ReadRows(txn->core(), run.io().fs, resource.name(), rows, sink));
  SKEP_RETURN_IF_ERROR(printer.End());
  SKEP_RETURN_IF_ERROR(txn->Commit());
  return kDone;
}

}  // namespace skep::cli

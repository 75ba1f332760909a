#include <map>
#include <string>

#include "client/cli/commands.h"
#include "client/cli/confirm.h"
#include "client/cli/exit_codes.h"
#include "client/cli/print.h"
#include "client/cli/text_file.h"
#include "client/cli/usage.h"
#include "client/ddl/create_table.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/model/hive_type.h"

namespace skep::cli {
namespace {

constexpr std::chrono::milliseconds kDropLockWait{60'000};

Json NameJson(const TableName& name) {
  return {{"database", name.database}, {"table", name.table}};
}

Json ColumnsJson(const std::vector<Column>& columns) {
  Json list = Json::array();
  for (const Column& column : columns) {
    list.push_back(
        {{"name", column.name}, {"type", column.type.ToString()}, {"comment", column.comment}});
  }
  return list;
}

std::string FormatEnum(FileFormat format) {
  switch (format) {
    case FileFormat::kOrc:
      return "FILE_FORMAT_ORC";
    case FileFormat::kParquet:
      return "FILE_FORMAT_PARQUET";
    case FileFormat::kAvro:
      return "FILE_FORMAT_AVRO";
    case FileFormat::kText:
      return "FILE_FORMAT_TEXT";
    case FileFormat::kOther:
      break;
  }
  return "FILE_FORMAT_OTHER";
}

absl::StatusOr<std::vector<Column>> ColumnsOf(const std::string& option, const std::string& text) {
  absl::StatusOr<std::vector<Column>> columns = ParseColumns(text);
  if (!columns.ok()) return AsUsage(Annotate(columns.status(), option));
  return columns;
}

absl::StatusOr<Json> PropertiesJson(const std::vector<std::string>& pairs) {
  Json properties = Json::object();
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return AsUsage(MakeError(
          ErrorReason::kInvalidRequest, Printable(pair) + " is not KEY=VALUE", {{"field", "set"}}));
    }
    properties[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return properties;
}

// "created sales.orders (full acid, orc) at /w/sales.db/orders"
std::string Announce(const std::string& verb, const Json& table) {
  std::string kind = AsciiLower(Enum(table, "kind", "TABLE_KIND_"));
  if (kind == "full_acid") kind = "full acid";
  if (kind == "insert_only") kind = "insert-only";
  return Printable(verb + " " + TableOf(Object(table, "name")) + " (" + kind + ", " +
                   AsciiLower(Enum(table, "format", "FILE_FORMAT_")) + ") at " +
                   Text(table, "location")) +
         "\n";
}

// A path as the server needs it: from the root.
std::string Absolute(const Context& io, const std::string& path) {
  return path.empty() || path[0] == '/' ? path : io.working_directory + "/" + path;
}

absl::Status FillFromDdl(const std::string& file, Json* request) {
  SKEP_ASSIGN_OR_RETURN(std::string text, ReadTextFile(file));
  absl::StatusOr<ddl::CreateTable> parsed = ddl::ParseCreateTable(text);
  if (!parsed.ok()) return Annotate(parsed.status(), file);
  if (parsed->external) {
    return MakeError(
        ErrorReason::kNotSupported,
        file +
            ": the table is EXTERNAL; register takes managed tables, create table --external "
            "--location names an external one",
        {{"what", "external table"}});
  }
  if (!parsed->transactional()) {
    return MakeError(
        ErrorReason::kTableNotTransactional,
        file +
            ": the table is not transactional ('transactional'='true' is missing in its "
            "TBLPROPERTIES)",
        {{"table", parsed->table}});
  }
  (*request)["columns"] = ColumnsJson(parsed->columns);
  (*request)["partitionColumns"] = ColumnsJson(parsed->partition_columns);
  (*request)["format"] = FormatEnum(parsed->format);
  (*request)["properties"] = parsed->properties;
  if (parsed->bucketing.bucket_count > 0) {
    (*request)["bucketing"] = {{"columns", parsed->bucketing.columns},
                               {"count", parsed->bucketing.bucket_count}};
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> RunCommand(Run& run, const CreateTable& options) {
  SKEP_ASSIGN_OR_RETURN(TableName name, ParseTableArgument(options.table));
  SKEP_ASSIGN_OR_RETURN(std::vector<Column> columns, ColumnsOf("--columns", options.columns));
  std::vector<Column> partition_columns;
  if (!options.partitioned_by.empty()) {
    SKEP_ASSIGN_OR_RETURN(partition_columns, ColumnsOf("--partitioned-by", options.partitioned_by));
  }
  absl::StatusOr<FileFormat> format = ParseFileFormat(options.format);
  if (!format.ok()) return AsUsage(format.status());
  SKEP_ASSIGN_OR_RETURN(Json properties, PropertiesJson(options.properties));
  const Json request = {{"name", NameJson(name)},
                        {"columns", ColumnsJson(columns)},
                        {"partitionColumns", ColumnsJson(partition_columns)},
                        {"format", FormatEnum(*format)},
                        {"external", options.external},
                        {"location", Absolute(run.io(), options.location)},
                        {"properties", properties}};
  SKEP_ASSIGN_OR_RETURN(std::string answer, run.Call("TableService.CreateTable", request.dump()));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  SKEP_RETURN_IF_ERROR(PrintReply(run, reply, Announce("created", Object(reply, "table"))));
  return kDone;
}

absl::StatusOr<int> RunCommand(Run& run, const RegisterTable& options) {
  SKEP_ASSIGN_OR_RETURN(TableName name, ParseTableArgument(options.table));
  Json request = {{"name", NameJson(name)},
                  {"location", Absolute(run.io(), options.directory)},
                  {"validWriteIds", options.write_ids},
                  {"validTxns", options.txns}};
  if (!options.ddl_file.empty()) SKEP_RETURN_IF_ERROR(FillFromDdl(options.ddl_file, &request));
  SKEP_ASSIGN_OR_RETURN(std::string answer, run.Call("TableService.RegisterTable", request.dump()));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  const Json& table = Object(reply, "table");
  std::string text = Announce("registered", table);
  text += "next write id " + Text(table, "nextWriteId");
  if (!List(table, "partitionColumns").empty())
    text += ", " + Text(table, "partitionCount") + " partitions";
  text += "\n";
  for (const Json& note : List(reply, "notes")) {
    if (note.is_string()) text += "note: " + Printable(note.get<std::string>()) + "\n";
  }
  SKEP_RETURN_IF_ERROR(PrintReply(run, reply, text));
  return kDone;
}

absl::StatusOr<int> RunCommand(Run& run, const SetProperties& options) {
  SKEP_ASSIGN_OR_RETURN(TableName name, ParseTableArgument(options.table));
  if (options.properties.empty() && options.unset.empty()) {
    return AsUsage(MakeError(ErrorReason::kInvalidRequest,
                             "nothing to change: give KEY=VALUE or --unset KEY",
                             {{"field", "properties"}}));
  }
  SKEP_ASSIGN_OR_RETURN(Json set, PropertiesJson(options.properties));
  const Json request = {{"name", NameJson(name)}, {"set", set}, {"unset", options.unset}};
  SKEP_ASSIGN_OR_RETURN(std::string answer,
                        run.Call("TableService.SetTableProperties", request.dump()));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  std::map<std::string, std::string> properties;  // in order, for people
  for (const auto& [key, value] : Object(Object(reply, "table"), "properties").items()) {
    if (value.is_string()) properties[key] = value.get<std::string>();
  }
  std::string text = name.ToString() + (properties.empty() ? " has no properties" : " has");
  for (const auto& [key, value] : properties) text += "\n  " + Printable(key + "=" + value);
  SKEP_RETURN_IF_ERROR(PrintReply(run, reply, text + "\n"));
  return kDone;
}

absl::StatusOr<int> RunCommand(Run& run, const DropTable& options) {
  SKEP_ASSIGN_OR_RETURN(TableName name, ParseTableArgument(options.table));
  SKEP_ASSIGN_OR_RETURN(client::Session * session, run.session());
  SKEP_ASSIGN_OR_RETURN(client::TableDescription table, session->GetTable(name));
  const std::string what =
      name.ToString() + " from the registry; its files stay in " + Printable(table.location);
  if (run.global().dry_run) {
    run.io().out << "would drop " << what << "\n";
    return kDone;
  }
  SKEP_ASSIGN_OR_RETURN(Answer answer, Confirm(run, "Drop " + what + "?"));
  if (answer == Answer::kNo) {
    run.Say("nothing was dropped");
    return kFailed;
  }
  SKEP_ASSIGN_OR_RETURN(std::unique_ptr<client::Transaction> txn, session->Begin());
  SKEP_RETURN_IF_ERROR(
      txn->DropTable(name, {.wait = run.global().timeout.value_or(kDropLockWait)}));
  SKEP_RETURN_IF_ERROR(txn->Commit());
  const Json reply = {
      {"dropped", name.ToString()}, {"tableId", table.id.ToString()}, {"location", table.location}};
  SKEP_RETURN_IF_ERROR(PrintReply(run, reply, "dropped " + what + "\n"));
  return kDone;
}

}  // namespace skep::cli

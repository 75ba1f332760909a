#include "client/cli/commands.h"
#include "client/cli/exit_codes.h"
#include "client/cli/print.h"
#include "client/cli/resource.h"
#include "client/cli/text_block.h"
#include "client/cli/usage.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"

namespace skep::cli {
namespace {

std::string KindWord(const Json& table) {
  std::string kind = AsciiLower(Enum(table, "kind", "TABLE_KIND_"));
  return kind == "full_acid" ? "full acid" : kind == "insert_only" ? "insert-only" : kind;
}

Listing MakeTables(const Json& tables, const TimeCells& times) {
  Listing listing;
  listing.columns = {{"TABLE"},
                     {"KIND"},
                     {"FORMAT"},
                     {"PARTITIONS", false, true},
                     {"NEXT WRITE ID", false, true},
                     {"OPEN WRITES", false, true},
                     {"CREATED"},
                     {"ID", true, true},
                     {"LOCATION"}};
  for (const Json& table : tables) {
    const bool partitioned = !List(table, "partitionColumns").empty();
    listing.rows.push_back({TableOf(Object(table, "name")),
                            KindWord(table),
                            AsciiLower(Enum(table, "format", "FILE_FORMAT_")),
                            partitioned ? std::to_string(Number(table, "partitionCount")) : "",
                            Text(table, "nextWriteId"),
                            std::to_string(Number(table, "openWriteIdCount")),
                            times.Show(table, "createTime"),
                            Text(table, "tableId"),
                            Text(table, "location")});
  }
  return listing;
}

std::string ColumnsText(const Json& columns) {
  std::vector<std::string> shown;
  for (const Json& column : columns)
    shown.push_back(Text(column, "name") + " " + Text(column, "type"));
  return JoinText(shown, ", ");
}

// "order_id, status into 8 buckets; Skep adds no rows"
std::string BucketingText(const Json& bucketing) {
  std::vector<std::string> columns;
  for (const Json& column : List(bucketing, "columns")) {
    if (column.is_string()) columns.push_back(column.get<std::string>());
  }
  return JoinText(columns, ", ") + " into " + std::to_string(Number(bucketing, "count")) +
         " buckets; Skep adds no rows";
}

std::string RoleWord(const Json& directory) { return AsciiLower(Enum(directory, "role", "ROLE_")); }

Listing MakeDirectories(const Json& directories, const TimeCells& times) {
  Listing listing;
  listing.columns = {
      {"PARTITION"}, {"NAME"}, {"ROLE"}, {"SIZE", false, true}, {"FILES", false, true}, {"WHY"}};
  listing.name_column = 1;
  for (const Json& directory : directories) {
    listing.rows.push_back({Text(directory, "partition"),
                            Text(directory, "name"),
                            RoleWord(directory),
                            times.ShowBytes(Number(directory, "bytes")),
                            std::to_string(Number(directory, "files")),
                            Text(directory, "reason")});
  }
  return listing;
}

}  // namespace

absl::StatusOr<int> RunCommand(Run& run, const ShowTables& options) {
  Json request = Json::object();
  if (!options.database.empty()) {
    SKEP_ASSIGN_OR_RETURN(Resource resource, ParseResource(options.database, Scope::kDatabase));
    request["database"] = resource.database;
  }
  SKEP_ASSIGN_OR_RETURN(std::string answer,
                        run.List("TableService.ListTables", request.dump(), run.global().limit));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  SKEP_RETURN_IF_ERROR(
      PrintList(run, reply, {"tables", MakeTables, nullptr, "no tables are registered"}));
  return kDone;
}

absl::StatusOr<int> RunCommand(Run& run, const ShowTable& options) {
  SKEP_ASSIGN_OR_RETURN(TableName name, ParseTableArgument(options.table));
  const Json request = {{"name", {{"database", name.database}, {"table", name.table}}}};
  SKEP_ASSIGN_OR_RETURN(std::string answer, run.Call("TableService.GetTable", request.dump()));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  const Json& table = Object(reply, "table");
  TextBlock block;
  block.Add("table", TableOf(Object(table, "name")) + ", id " + Text(table, "tableId"));
  block.Add("kind", KindWord(table) + ", " + AsciiLower(Enum(table, "format", "FILE_FORMAT_")));
  block.Add("location", Text(table, "location"));
  block.Add("columns", ColumnsText(List(table, "columns")));
  block.Add("partitioned by", ColumnsText(List(table, "partitionColumns")));
  if (!List(table, "partitionColumns").empty())
    block.Add("partitions", Text(table, "partitionCount"));
  if (const Json& bucketing = Object(table, "bucketing"); Number(bucketing, "count") > 0) {
    block.Add("clustered by", BucketingText(bucketing));
  }
  block.Add(
      "created",
      TimesOf(run).Show(table, "createTime") + ", commit sequence " + Text(table, "createdSeq"));
  block.Add("next write id",
            Text(table, "nextWriteId") + ", " + Text(table, "openWriteIdCount") + " open");
  if (Number(table, "adoptedTxnBound") != 0) {
    block.Add("adopted",
              "transactions up to " + Text(table, "adoptedTxnBound") + " are judged by the table");
  }
  for (const auto& [key, value] : Object(table, "properties").items()) {
    block.Add("property " + key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  SKEP_RETURN_IF_ERROR(PrintReply(run, reply, block.ToString()));
  return kDone;
}

absl::StatusOr<int> RunCommand(Run& run, const ShowDeltas& options) {
  SKEP_ASSIGN_OR_RETURN(Resource resource, ParseResource(options.resource, Scope::kTable));
  const Json request = {{"table", {{"database", resource.database}, {"table", resource.table}}},
                        {"partition", resource.partition}};
  SKEP_ASSIGN_OR_RETURN(std::string answer,
                        run.Call("TableService.ListDirectories", request.dump()));
  SKEP_ASSIGN_OR_RETURN(Json reply, ParseReply(answer));
  SKEP_RETURN_IF_ERROR(
      PrintList(run, reply, {"directories", MakeDirectories, nullptr, "no directories"}));
  return kDone;
}

}  // namespace skep::cli

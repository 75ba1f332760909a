#include "server/rpc/commands/table_commands.h"

#include <string_view>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "proto/wire/table_wire.h"
#include "server/rpc/commands/txn_commands.h"
#include "storage/base/status_macros.h"

namespace skep::wire {
namespace {

// Without columns the files say what the table is: what else was given would be passed over.
absl::Status CheckNoDefinition(const v1::RegisterTableRequest& from) {
  constexpr std::string_view kWithout = "given without `columns`";
  if (!from.partition_columns().empty()) return BadField("partition_columns", kWithout);
  if (from.format() != v1::FILE_FORMAT_UNSPECIFIED) return BadField("format", kWithout);
  if (!from.properties().empty()) return BadField("properties", kWithout);
  if (from.has_bucketing()) return BadField("bucketing", kWithout);
  return absl::OkStatus();
}

// The same for each repetition of a request: maps in order, without what makes it a repetition.
std::string TextOf(v1::RegisterTableRequest request) {
  request.clear_request_id();
  request.clear_repeat();
  std::string text;
  {
    google::protobuf::io::StringOutputStream to(&text);
    google::protobuf::io::CodedOutputStream coded(&to);
    coded.SetSerializationDeterministic(true);
    request.SerializeToCodedStream(&coded);
  }
  return text;
}

}  // namespace

void ToProto(const state::TableInfo& from, v1::Table* to) {
  ToProto(from.row, to);
  to->set_partition_count(from.partitions);
  to->set_open_write_id_count(from.open_write_ids);
}

absl::StatusOr<state::CreateTable> FromProto(const v1::CreateTableRequest& from) {
  state::CreateTable command;
  SKEP_ASSIGN_OR_RETURN(command.name, FromProto(from.name(), "name"));
  SKEP_ASSIGN_OR_RETURN(
      command.schema, SchemaFromProto(from.columns(), from.partition_columns(), from.bucketing()));
  if (command.schema.columns.empty())
    return BadField("columns", "missing: a table has one column at least");
  SKEP_ASSIGN_OR_RETURN(command.format, FromProto(from.format(), "format"));
  command.external = from.external();
  SKEP_RETURN_IF_ERROR(
      CheckCount("location", static_cast<int64_t>(from.location().size()), 0, kMaxLocationBytes));
  command.location = from.location();
  SKEP_ASSIGN_OR_RETURN(command.properties, FromProto(from.properties(), "properties"));
  SKEP_ASSIGN_OR_RETURN(command.request, RequestKeyFromProto(from.request_id(), from.repeat()));
  return command;
}

absl::StatusOr<state::ReserveTable> FromProto(const v1::RegisterTableRequest& from) {
  state::ReserveTable command;
  SKEP_ASSIGN_OR_RETURN(command.name, FromProto(from.name(), "name"));
  if (from.location().empty()) return BadField("location", "missing: the directory to take over");
  SKEP_RETURN_IF_ERROR(
      CheckCount("location", static_cast<int64_t>(from.location().size()), 1, kMaxLocationBytes));
  command.location = from.location();
  if (from.columns().empty()) SKEP_RETURN_IF_ERROR(CheckNoDefinition(from));
  SKEP_RETURN_IF_ERROR(
      SchemaFromProto(from.columns(), from.partition_columns(), from.bucketing()).status());
  command.asked = TextOf(from);
  SKEP_ASSIGN_OR_RETURN(command.request, RequestKeyFromProto(from.request_id(), from.repeat()));
  return command;
}

absl::StatusOr<SetProperties> FromProto(const v1::SetTablePropertiesRequest& from) {
  SetProperties command;
  SKEP_ASSIGN_OR_RETURN(command.name, FromProto(from.name(), "name"));
  SKEP_ASSIGN_OR_RETURN(command.set, FromProto(from.set(), "set"));
  SKEP_RETURN_IF_ERROR(CheckCount("unset", from.unset_size(), 0, kMaxProperties));
  command.unset.assign(from.unset().begin(), from.unset().end());
  for (const std::string& key : command.unset) {
    if (command.set.contains(key)) return BadField("unset", key + " is set by the same call");
  }
  return command;
}

}  // namespace skep::wire

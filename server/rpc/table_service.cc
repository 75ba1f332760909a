#include <utility>

#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "proto/wire/page_token.h"
#include "proto/wire/table_wire.h"
#include "server/rpc/commands/table_commands.h"
#include "server/rpc/services.h"
#include "server/rpc/table_changes.h"
#include "server/rpc/ticket.h"
#include "server/rpc/unary.h"
#include "server/rpc/write_id_methods.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"

#include "proto/skep/v1/table_service.pb.h"

namespace skep::rpc {
namespace {

absl::Status Create(const Dependencies& d,
                    const v1::CreateTableRequest& request,
                    Context& context) {
  SKEP_ASSIGN_OR_RETURN(state::CreateTable command, wire::FromProto(request));
  context.release = loop::Release::kLater;
  CreateTable(d, std::move(command), Ticket(context.call.call, d.port));
  return absl::OkStatus();
}

absl::Status Register(const Dependencies& d,
                      const v1::RegisterTableRequest& request,
                      Context& context) {
  SKEP_ASSIGN_OR_RETURN(state::ReserveTable reserve, wire::FromProto(request));
  RegisterScan scan;
  scan.name = reserve.name;
  scan.valid_write_ids = request.valid_write_ids();
  scan.valid_txns = request.valid_txns();
  if (!request.columns().empty()) {
    TableDefinition& definition = scan.definition.emplace();
    SKEP_ASSIGN_OR_RETURN(
        definition.schema,
        wire::SchemaFromProto(request.columns(), request.partition_columns(), request.bucketing()));
    SKEP_ASSIGN_OR_RETURN(definition.format, wire::FromProto(request.format(), "format"));
    SKEP_ASSIGN_OR_RETURN(definition.properties,
                          wire::FromProto(request.properties(), "properties"));
  }
  context.release = loop::Release::kLater;
  RegisterTable(d, std::move(reserve), std::move(scan), Ticket(context.call.call, d.port));
  return absl::OkStatus();
}

absl::Status Get(const v1::GetTableRequest& request,
                 Context& context,
                 v1::GetTableResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const TableName name, wire::FromProto(request.name(), "name"));
  SKEP_RETURN_IF_ERROR(wire::CheckOptionalId("txn_id", request.txn_id()));
  SKEP_ASSIGN_OR_RETURN(const state::TableInfo info,
                        context.state.GetTable(name, TxnId(request.txn_id()), context.now));
  wire::ToProto(info, response->mutable_table());
  return absl::OkStatus();
}

absl::Status List(const v1::ListTablesRequest& request,
                  Context& context,
                  v1::ListTablesResponse* response) {
  std::string database;
  if (!request.database().empty()) {
    absl::StatusOr<std::string> name = MakeDatabaseName(request.database());
    if (!name.ok()) return wire::BadField("database", MessageOf(name.status()));
    database = *std::move(name);
  }
  SKEP_ASSIGN_OR_RETURN(const int64_t page, wire::PageSizeFromProto(request.page_size()));
  SKEP_ASSIGN_OR_RETURN(const std::string after,
                        wire::ReadPageToken(wire::FilterOf(request), request.page_token()));
  std::string last;
  for (const state::TableInfo& info : context.state.Tables(database, after, page + 1)) {
    if (response->tables_size() == page) {
      response->set_next_page_token(wire::MakePageToken(wire::FilterOf(request), last));
      break;
    }
    wire::ToProto(info, response->add_tables());
    last = info.row.name.ToString();
  }
  return absl::OkStatus();
}

absl::Status ListPartitions(const v1::ListPartitionsRequest& request,
                            Context& context,
                            v1::ListPartitionsResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const TableName name, wire::FromProto(request.table(), "table"));
  SKEP_RETURN_IF_ERROR(wire::CheckOptionalId("txn_id", request.txn_id()));
  SKEP_ASSIGN_OR_RETURN(const int64_t page, wire::PageSizeFromProto(request.page_size()));
  SKEP_ASSIGN_OR_RETURN(const std::string after,
                        wire::ReadPageToken(wire::FilterOf(request), request.page_token()));
  SKEP_ASSIGN_OR_RETURN(
      std::vector<std::string> found,
      context.state.Partitions(name, TxnId(request.txn_id()), context.now, after, page + 1));
  if (std::ssize(found) > page) {
    found.resize(page);
    response->set_next_page_token(wire::MakePageToken(wire::FilterOf(request), found.back()));
  }
  for (std::string& partition : found) response->add_partitions(std::move(partition));
  return absl::OkStatus();
}

absl::Status Drop(const v1::DropTableRequest& request, Context& context, v1::DropTableResponse*) {
  SKEP_ASSIGN_OR_RETURN(const TableName name, wire::FromProto(request.name(), "name"));
  SKEP_RETURN_IF_ERROR(wire::CheckId("txn_id", request.txn_id()));
  return context.state.Drop(TxnId(request.txn_id()), name, context.now, context.unit);
}

absl::Status SetProperties(const v1::SetTablePropertiesRequest& request,
                           Context& context,
                           v1::SetTablePropertiesResponse* response) {
  SKEP_ASSIGN_OR_RETURN(const wire::SetProperties command, wire::FromProto(request));
  SKEP_RETURN_IF_ERROR(context.state.SetProperties(
      command.name, command.set, command.unset, context.now, context.unit));
  SKEP_ASSIGN_OR_RETURN(const state::TableInfo info, context.state.GetTable(command.name));
  wire::ToProto(info, response->mutable_table());
  return absl::OkStatus();
}

v1::ListDirectoriesResponse::Role RoleOf(DirectoryEntry::Role role) {
  switch (role) {
    case DirectoryEntry::Role::kLive:
      return v1::ListDirectoriesResponse::ROLE_LIVE;
    case DirectoryEntry::Role::kObsolete:
      return v1::ListDirectoriesResponse::ROLE_OBSOLETE;
    case DirectoryEntry::Role::kAborted:
      return v1::ListDirectoriesResponse::ROLE_ABORTED;
    case DirectoryEntry::Role::kOpen:
      return v1::ListDirectoriesResponse::ROLE_OPEN;
    case DirectoryEntry::Role::kForeign:
      break;
  }
  return v1::ListDirectoriesResponse::ROLE_FOREIGN;
}

v1::ListDirectoriesResponse ToProto(const std::vector<DirectoryEntry>& entries) {
  v1::ListDirectoriesResponse response;
  for (const DirectoryEntry& entry : entries) {
    auto* directory = response.add_directories();
    directory->set_partition(wire::WireText(entry.partition));
    directory->set_name(wire::WireText(entry.name));
    directory->set_role(RoleOf(entry.role));
    directory->set_reason(wire::WireText(entry.reason));
    directory->set_bytes(entry.bytes);
    directory->set_files(entry.files);
  }
  return response;
}

absl::Status ListDirectories(const Dependencies& d,
                             const v1::ListDirectoriesRequest& request,
                             Context& context) {
  SKEP_ASSIGN_OR_RETURN(TableName table, wire::FromProto(request.table(), "table"));
  SKEP_ASSIGN_OR_RETURN(std::string partition,
                        wire::PartitionFromProto(request.partition(), "partition"));
  context.release = loop::Release::kLater;
  d.directories.ListDirectories(std::move(table),
                                std::move(partition),
                                [ticket = Ticket(context.call.call, d.port)](
                                    absl::StatusOr<std::vector<DirectoryEntry>> entries) mutable {
                                  if (!entries.ok()) return ticket.Refuse(entries.status());
                                  ticket.Reply(ToProto(*entries));
                                });
  return absl::OkStatus();
}

std::string Path(std::string_view method) { return "/skep.v1.TableService/" + std::string(method); }

}  // namespace

loop::Service MakeTableService(const Dependencies& d) {
  loop::Service service{"skep.v1.TableService", {}};
  auto& methods = service.methods;
  methods.push_back(MakeMethod<v1::CreateTableRequest, v1::CreateTableResponse>(
      Path("CreateTable"), {.makes = true}, [&d](const auto& request, Context& context, auto*) {
        return Create(d, request, context);
      }));
  methods.push_back(MakeMethod<v1::RegisterTableRequest, v1::RegisterTableResponse>(
      Path("RegisterTable"), {.makes = true}, [&d](const auto& request, Context& context, auto*) {
        return Register(d, request, context);
      }));
  methods.push_back(
      MakeMethod<v1::GetTableRequest, v1::GetTableResponse>(Path("GetTable"), {}, Get));
  methods.push_back(
      MakeMethod<v1::ListTablesRequest, v1::ListTablesResponse>(Path("ListTables"), {}, List));
  methods.push_back(MakeMethod<v1::ListPartitionsRequest, v1::ListPartitionsResponse>(
      Path("ListPartitions"), {}, ListPartitions));
  methods.push_back(MakeMethod<v1::DropTableRequest, v1::DropTableResponse>(
      Path("DropTable"), {.makes = true}, Drop));
  methods.push_back(MakeMethod<v1::SetTablePropertiesRequest, v1::SetTablePropertiesResponse>(
      Path("SetTableProperties"), {.makes = true}, SetProperties));
  methods.push_back(MakeMethod<v1::ListDirectoriesRequest, v1::ListDirectoriesResponse>(
      Path("ListDirectories"), {}, [&d](const auto& request, Context& context, auto*) {
        return ListDirectories(d, request, context);
      }));
  AddWriteIdMethods(&service);
  return service;
}

}  // namespace skep::rpc

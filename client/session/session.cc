#include "skep/session.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "client/session/remote_transaction.h"
#include "client/session/session_impl.h"
#include "client/session/table_wire.h"
#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/model/table.h"

namespace skep::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstCompactionPause{100};
constexpr milliseconds kLongestCompactionPause{1'000};

std::string ThisHost() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) return "unknown";
  return name;
}

absl::Status CheckText(std::string_view field, const std::string& text) {
  if (IsValidUtf8(text)) return absl::OkStatus();
  return MakeError(ErrorReason::kInvalidRequest,
                   std::string(field) + " is not valid UTF-8: " + Printable(text),
                   {{"field", std::string(field)}});
}

absl::Status CheckOptions(const SessionOptions& options) {
  if (options.user.empty()) {
    return MakeError(ErrorReason::kInvalidRequest,
                     "a session needs a user: operators see whose transactions are open",
                     {{"field", "user"}});
  }
  SKEP_RETURN_IF_ERROR(CheckText("user", options.user));
  SKEP_RETURN_IF_ERROR(CheckText("host", options.host));
  SKEP_RETURN_IF_ERROR(CheckText("agent", options.agent));
  const RetryOptions& retry = options.retry;
  if (options.call_deadline.count() <= 0 || options.lock_deadline.count() < 0 ||
      retry.first_pause.count() <= 0 || retry.longest_pause < retry.first_pause ||
      retry.growth < 1 || retry.jitter < 0 || retry.jitter > 1) {
    return MakeError(
        ErrorReason::kInvalidRequest,
        "deadlines and pauses must be above zero, growth at least 1, jitter between 0 and 1",
        {{"field", "retry"}});
  }
  return absl::OkStatus();
}

absl::Status AddColumns(const std::vector<ColumnSpec>& specs,
                        google::protobuf::RepeatedPtrField<v1::Column>* columns) {
  for (const ColumnSpec& spec : specs) {
    SKEP_RETURN_IF_ERROR(CheckText("a column's name", spec.name));
    SKEP_RETURN_IF_ERROR(CheckText("a column's type", spec.type));
    SKEP_RETURN_IF_ERROR(CheckText("a column's comment", spec.comment));
    v1::Column* column = columns->Add();
    column->set_name(spec.name);
    column->set_type(spec.type);
    column->set_comment(spec.comment);
  }
  return absl::OkStatus();
}

absl::StatusOr<CompactionStatus> FromProto(const v1::Compaction& from) {
  SKEP_ASSIGN_OR_RETURN(CompactionState state, wire::FromProto(from.state(), "state"));
  using State = CompactionStatus::State;
  CompactionStatus status;
  status.id = CompactionId(from.compaction_id());
  status.error = from.error_message();
  switch (state) {
    case CompactionState::kInitiated:
      status.state = State::kInitiated;
      break;
    case CompactionState::kWorking:
      status.state = State::kWorking;
      break;
    case CompactionState::kReadyForCleaning:
      status.state = State::kReadyForCleaning;
      break;
    case CompactionState::kSucceeded:
      status.state = State::kSucceeded;
      break;
    case CompactionState::kFailed:
      status.state = State::kFailed;
      break;
    case CompactionState::kNotInitiated:
      status.state = State::kNotInitiated;
      break;
    case CompactionState::kRefused:
      status.state = State::kRefused;
      break;
    case CompactionState::kCancelled:
      status.state = State::kCancelled;
      break;
  }
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> Session::Connect(const SessionOptions& options) {
  SKEP_RETURN_IF_ERROR(CheckOptions(options));
  SKEP_ASSIGN_OR_RETURN(SessionPorts ports, MakeProductionPorts(options.endpoint));
  SessionOptions complete = options;
  if (complete.host.empty()) complete.host = ThisHost();
  return std::make_unique<Session>(
      std::make_shared<SessionImpl>(std::move(complete), std::move(ports)));
}

Session::Session(std::shared_ptr<SessionImpl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

absl::StatusOr<std::unique_ptr<Transaction>> Session::Begin(const BeginOptions& options) {
  SKEP_RETURN_IF_ERROR(CheckText("agent", options.agent));
  for (const LockTarget& lock : options.locks) {
    SKEP_RETURN_IF_ERROR(CheckText("a lock's partition", lock.partition));
  }
  SKEP_ASSIGN_OR_RETURN(std::shared_ptr<RemoteTransaction> txn,
                        RemoteTransaction::Begin(impl_, options));
  return std::make_unique<Transaction>(std::move(txn));
}

absl::StatusOr<TableDescription> Session::CreateTable(const TableSpec& spec) {
  SKEP_RETURN_IF_ERROR(CheckText("the location", spec.location));
  SKEP_ASSIGN_OR_RETURN(FileFormat format, ParseFileFormat(spec.format));
  v1::CreateTableRequest request;
  wire::ToProto(spec.name, request.mutable_name());
  SKEP_RETURN_IF_ERROR(AddColumns(spec.columns, request.mutable_columns()));
  SKEP_RETURN_IF_ERROR(AddColumns(spec.partition_columns, request.mutable_partition_columns()));
  request.set_format(wire::ToProto(format));
  request.set_external(spec.external);
  request.set_location(spec.location);
  for (const auto& [key, value] : spec.properties) {
    SKEP_RETURN_IF_ERROR(CheckText("a property's name", key));
    SKEP_RETURN_IF_ERROR(CheckText("property " + key, value));
    (*request.mutable_properties())[key] = value;
  }
  SKEP_ASSIGN_OR_RETURN(v1::CreateTableResponse answer, impl_->Call(std::move(request)));
  return TableDescriptionFromProto(answer.table());
}

absl::StatusOr<TableDescription> Session::GetTable(const TableName& name) {
  v1::GetTableRequest request;
  wire::ToProto(name, request.mutable_name());
  SKEP_ASSIGN_OR_RETURN(v1::GetTableResponse answer, impl_->Call(std::move(request)));
  return TableDescriptionFromProto(answer.table());
}

absl::StatusOr<EnqueuedCompaction> Session::EnqueueCompaction(const CompactionRequest& request) {
  SKEP_RETURN_IF_ERROR(CheckText("the partition", request.partition));
  v1::EnqueueCompactionRequest wire_request;
  wire::ToProto(request.table, wire_request.mutable_table());
  wire_request.set_partition(request.partition);
  wire_request.set_type(request.kind == CompactionKind::kMajor ? v1::COMPACTION_TYPE_MAJOR
                                                               : v1::COMPACTION_TYPE_MINOR);
  wire_request.set_initiator(impl_->options().host);
  SKEP_ASSIGN_OR_RETURN(v1::EnqueueCompactionResponse answer, impl_->Call(std::move(wire_request)));
  return EnqueuedCompaction{
      CompactionId(answer.compaction_id()), answer.accepted(), answer.message()};
}

absl::StatusOr<CompactionStatus> Session::GetCompaction(CompactionId id) {
  v1::GetCompactionRequest request;
  request.set_compaction_id(id.value());
  SKEP_ASSIGN_OR_RETURN(v1::GetCompactionResponse answer, impl_->Call(std::move(request)));
  return FromProto(answer.compaction());
}

absl::StatusOr<CompactionStatus> Session::WaitForCompaction(CompactionId id,
                                                            milliseconds deadline,
                                                            CompactionGoal goal) {
  const MonoTime until = impl_->clock().MonoNow() + deadline;
  milliseconds pause = kFirstCompactionPause;
  while (true) {
    SKEP_ASSIGN_OR_RETURN(CompactionStatus status, GetCompaction(id));
    const MonoTime now = impl_->clock().MonoNow();
    const bool reached = goal == CompactionGoal::kDecided ? status.decided() : status.finished();
    if (reached || now >= until) return status;
    impl_->Sleep(std::min(pause, std::chrono::ceil<milliseconds>(until - now)));
    pause = std::min(pause * 2, kLongestCompactionPause);
  }
}

}  // namespace skep::client

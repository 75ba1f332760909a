// The registry: tables come, change and go.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/state/errors.h"
#include "server/state/impl.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/known_properties.h"
#include "storage/model/partition_value.h"

namespace skep::state {

namespace {

// A row id has 12 bits for its bucket.
constexpr int32_t kMaxBuckets = 4095;

void AddSchema(Fingerprint& print, const TableSchema& schema) {
  for (const auto* columns : {&schema.columns, &schema.partition_columns}) {
    print.Add(static_cast<int64_t>(columns->size()));
    for (const Column& c : *columns) print.Add(c.name).Add(c.type.ToString()).Add(c.comment);
  }
  print.Add(int64_t{schema.bucketing.count});
  for (const std::string& column : schema.bucketing.columns) print.Add(column);
}

int64_t FingerprintOf(const CreateTable& c) {
  Fingerprint print;
  print.Add(c.name.ToString()).Add(int64_t{c.external}).Add(static_cast<int64_t>(c.format));
  AddSchema(print, c.schema);
  for (const auto& [key, value] : c.properties) print.Add(key).Add(value);
  return print.Add(c.location).value();
}

// What a scan finds may differ when it is repeated; what was asked for does not.
template <class Registration>
int64_t RegistrationFingerprint(const Registration& c) {
  return Fingerprint().Add(c.name.ToString()).Add(c.location).Add(c.asked).value();
}

absl::Status CheckSchema(const TableSchema& schema) {
  if (schema.columns.empty()) return InvalidField("columns", "a table has at least one column");
  std::set<std::string> names;
  for (const auto* columns : {&schema.columns, &schema.partition_columns}) {
    for (const Column& column : *columns) {
      if (names.insert(column.name).second) continue;
      return InvalidField("columns", fmt::format("\"{}\" occurs twice", column.name));
    }
  }
  if (schema.bucketing.count > kMaxBuckets) {
    return InvalidField("bucketing.count",
                        fmt::format("{} buckets are more than the {} that row ids can name",
                                    schema.bucketing.count,
                                    kMaxBuckets));
  }
  return absl::OkStatus();
}

absl::Status StillUnderWay(const TableName& name) {
  return MakeError(
      ErrorReason::kStoreBusy,
      fmt::format("this request for {} is being worked on; ask again", name.ToString()),
      {{"table", name.ToString()}});
}

// A counter raised near its end would come round to negative ids.
absl::Status CheckForeignId(std::string_view field, int64_t id) {
  if (id <= kMaxForeignId) return absl::OkStatus();
  return InvalidField(
      field,
      fmt::format(
          "the id {} leaves no room to count on: ids up to {} are taken over", id, kMaxForeignId));
}

absl::Status CheckLocationForm(const std::string& location) {
  if (location.starts_with('/')) return absl::OkStatus();
  return MakeError(
      ErrorReason::kLocationNotAllowed,
      fmt::format("\"{}\" is no absolute path; give one inside a warehouse root", location),
      {{"path", location}});
}

absl::Status CheckManaged(const TableName& name, const Properties& properties) {
  if (!AsciiEqualsIgnoreCase(PropertyIgnoreCase(properties, "transactional"), "false")) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorReason::kNotSupported,
      fmt::format("{} would be managed and not transactional (transactional=false), which "
                  "Skep does not do; leave the property out or make it external",
                  name.ToString()),
      {{"what", "managed tables that are not transactional"}});
}

// Files of the one kind are no files of the other: Hive would read them wrongly.
absl::Status CheckKindStays(const TableRow& table, const Properties& properties) {
  const TableKind kind = ManagedKind(table.format, properties);
  if (kind == table.kind) return absl::OkStatus();
  return MakeError(ErrorReason::kOperationNotAllowed,
                   fmt::format("{} is {}: transactional_properties would make it {}, and its files "
                               "stay what they are; create another table and copy the rows",
                               table.name.ToString(),
                               TableKindName(table.kind),
                               TableKindName(kind)),
                   {{"table", table.name.ToString()}, {"operation", "set properties"}});
}

// What lies in a directory that is taken over.
absl::Status CheckFoundPartition(const TableRow& row, const std::string& partition) {
  SKEP_ASSIGN_OR_RETURN(const PartitionSpec spec, ParsePartition(partition));
  return Annotate(CheckPartitionValues(spec, row.schema.partition_columns),
                  fmt::format("{}/{}", row.location, partition));
}

}  // namespace

absl::StatusOr<const TableRow*> State::Impl::ResolveFor(const TxnFacts& txn,
                                                        const TableName& name) const {
  if (const DroppedTableRow* dropped = registry.DroppedAfter(name, txn.snapshot_seq)) {
    const TableRow* const row = registry.RowOfDropped(dropped->id);
    const bool readable = row != nullptr && row->created_seq <= txn.snapshot_seq;
    return SnapshotTooOld(
        txn.id,
        name,
        fmt::format("the table was dropped at sequence {}, after the snapshot at {}{} (one that "
                    "has the name now is another)",
                    dropped->dropped_seq.value(),
                    txn.snapshot_seq.value(),
                    readable ? "; it can still be read under it, not locked or written" : ""));
  }
  const TableRow* table = registry.Find(name);
  if (table == nullptr) return NoSuchTable(name);
  return table;
}

absl::StatusOr<const TableRow*> State::Impl::ResolveAsOf(const TxnFacts& txn,
                                                         const TableName& name) const {
  const TableRow* table = nullptr;
  // Its files stay while this snapshot lives, so the answer does, too.
  if (const DroppedTableRow* dropped = registry.DroppedAfter(name, txn.snapshot_seq)) {
    table = registry.RowOfDropped(dropped->id);
  }
  if (table == nullptr) {
    SKEP_ASSIGN_OR_RETURN(table, ResolveFor(txn, name));
  }
  if (table->created_seq <= txn.snapshot_seq) return table;
  return NoSuchTable(
      name,
      fmt::format("it was created at sequence {}, after the snapshot of transaction {} "
                  "at {}; read it in a new transaction",
                  table->created_seq.value(),
                  txn.id.value(),
                  txn.snapshot_seq.value()));
}

absl::StatusOr<TableInfo> State::Create(const CreateTable& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  const int64_t fingerprint = FingerprintOf(command);
  SKEP_ASSIGN_OR_RETURN(const RequestRow* known,
                        s.requests.Find(command.request, RequestKind::kCreateTable, fingerprint));
  if (known != nullptr) return s.CreatedBefore(*known, command.name);
  SKEP_RETURN_IF_ERROR(CheckSchema(command.schema));
  SKEP_RETURN_IF_ERROR(CheckLocationForm(command.location));
  if (!command.external) {
    SKEP_RETURN_IF_ERROR(CheckManaged(command.name, command.properties));
    SKEP_RETURN_IF_ERROR(CheckPropertyValues(command.properties));
  }
  SKEP_RETURN_IF_ERROR(s.registry.CheckFree(command.name, command.location, command.request));
  TableRow row;
  row.name = command.name;
  row.kind =
      command.external ? TableKind::kExternal : ManagedKind(command.format, command.properties);
  row.format = command.format;
  row.location = command.location;
  row.schema = command.schema;
  row.properties = command.properties;
  const TableId id = s.AddTable(std::move(row), Impl::Added::kCreated, {}, now, unit);
  s.Remember(command.request, RequestKind::kCreateTable, fingerprint, id.value(), 1, now, unit);
  return s.InfoOf(*s.registry.Find(id));
}

absl::StatusOr<TableInfo> State::Impl::CreatedBefore(const RequestRow& request,
                                                     const TableName& name) const {
  if (const TableRow* row = registry.Find(TableId(request.first_id))) return InfoOf(*row);
  // dropped since; a repeat must not bring it back.
  return NoSuchTable(name,
                     fmt::format("this request made it as table id {}, and it was dropped since",
                                 request.first_id));
}

TableId State::Impl::AddTable(
    TableRow row, Added how, const std::vector<int64_t>& aborted, Now now, Unit& unit) {
  row.id = next_table;
  next_table = next_table.Next();
  row.create_time = now.wall;
  row.created_seq = unit.seq();
  const TableId id = row.id;
  const bool registered = how == Added::kRegistered;
  registry.Add(std::move(row), unit);
  unit.events().Add(TableAddedEvent{EventTableOf(id), registered});
  write_ids.AddTable(id, aborted, unit);
  return id;
}

absl::Status State::Reserve(const ReserveTable& command, Now /*now*/, Unit& /*unit*/) {
  Impl& s = *impl_;
  SKEP_RETURN_IF_ERROR(CheckLocationForm(command.location));
  // An attempt whose answer was lost may still be looking at the directory: neither unknown nor
  // done.
  if (s.registry.IsReservedBy(command.name, command.request)) return StillUnderWay(command.name);
  SKEP_ASSIGN_OR_RETURN(
      const RequestRow* known,
      s.requests.Find(
          command.request, RequestKind::kRegisterTable, RegistrationFingerprint(command)));
  if (known != nullptr) return absl::OkStatus();  // Register will answer from the record
  SKEP_RETURN_IF_ERROR(s.registry.CheckFree(command.name, command.location, command.request));
  s.registry.Reserve(command.name, command.location, command.request);
  return absl::OkStatus();
}

void State::DropReservation(const TableName& name) { impl_->registry.DropReservation(name); }

absl::StatusOr<TableInfo> State::Register(const RegisterTable& command, Now now, Unit& unit) {
  Impl& s = *impl_;
  const int64_t fingerprint = RegistrationFingerprint(command);
  SKEP_ASSIGN_OR_RETURN(const RequestRow* known,
                        s.requests.Find(command.request, RequestKind::kRegisterTable, fingerprint));
  if (known != nullptr) return s.CreatedBefore(*known, command.name);
  SKEP_RETURN_IF_ERROR(CheckSchema(command.schema));
  SKEP_RETURN_IF_ERROR(CheckLocationForm(command.location));
  if (command.kind != TableKind::kExternal)
    SKEP_RETURN_IF_ERROR(CheckPropertyValues(command.properties));
  SKEP_RETURN_IF_ERROR(CheckForeignId("valid_write_ids", command.highest_write_id.value()));
  SKEP_RETURN_IF_ERROR(CheckForeignId("valid_txns", command.adopted_txn_bound.value()));
  for (int64_t id : command.aborted_write_ids) {
    if (id > 0 && id <= command.highest_write_id.value()) continue;
    return InvalidField(
        "valid_write_ids",
        fmt::format(
            "aborted write id {} is not within 1 to {}", id, command.highest_write_id.value()));
  }
  s.registry.DropReservation(command.name);
  SKEP_RETURN_IF_ERROR(s.registry.CheckFree(command.name, command.location, command.request));
  TableRow row;
  row.name = command.name;
  row.kind = command.kind;
  row.format = command.format;
  row.location = command.location;
  row.schema = command.schema;
  row.properties = command.properties;
  row.next_write_id = command.highest_write_id.Next();
  row.adopted_txn_bound = command.adopted_txn_bound;
  row.adopted_aborted_txns = command.adopted_aborted_txns;
  std::vector<std::string> partitions;
  for (const std::string& partition : command.partitions) {
    SKEP_ASSIGN_OR_RETURN(partitions.emplace_back(), CanonicalPartition(row, partition));
    SKEP_RETURN_IF_ERROR(CheckFoundPartition(row, partitions.back()));
  }
  const TableId id =
      s.AddTable(std::move(row), Impl::Added::kRegistered, command.aborted_write_ids, now, unit);
  for (const std::string& partition : partitions) s.registry.AddPartition(id, partition, unit);
  s.txns.Skip(command.adopted_txn_bound, unit);
  s.changes.Record(id, "", unit.seq());
  for (const std::string& partition : partitions) s.changes.Record(id, partition, unit.seq());
  s.Remember(command.request, RequestKind::kRegisterTable, fingerprint, id.value(), 1, now, unit);
  return s.InfoOf(*s.registry.Find(id));
}

absl::Status State::Drop(TxnId txn, const TableName& name, Now now, Unit& unit) {
  Impl& s = *impl_;
  SKEP_ASSIGN_OR_RETURN(OpenTxn * open, s.Use(txn, now, unit));
  SKEP_ASSIGN_OR_RETURN(const TableRow* table, s.ResolveFor(open->row, name));
  if (open->row.type == TxnType::kReadOnly) {
    return TxnMayNot(txn, "drop " + name.ToString(), "it was opened READ_ONLY; open a DEFAULT one");
  }
  // Readers of a table that is softly deleted go on (ISO-6): they hold its lists, and its files
  // stay.
  const LockKind kind =
      open->row.type == TxnType::kSoftDelete ? LockKind::kExclWrite : LockKind::kExclusive;
  if (!s.lock_table.Holds(LockOwner::OfTxn(txn), {{name.database, name.table, ""}, kind})) {
    return TxnMayNot(txn,
                     "drop " + name.ToString(),
                     fmt::format("it does not hold {} on the table; acquire that lock first",
                                 LockKindName(kind)));
  }
  s.AddComponent(*open, {txn, table->id, "", WriteOp::kDrop, false}, unit);
  return absl::OkStatus();
}

void State::Impl::DropTable(TableId id, TxnId by, Now now, Unit& unit) {
  const TableName name = registry.Find(id)->name;
  for (CompactionId compaction : queue.OfTable(id)) {
    const TxnId compactor = queue.Find(compaction)->txn;
    if (txns.Find(compactor) != nullptr) {
      EndTxn(compactor,
             {AbortCause::kCompaction, EndedBy::kServer, "its table was dropped"},
             now,
             unit);
    }
    queue.Erase(compaction, unit);
  }
  for (const WriteIdRow& row : write_ids.OpenOf(id)) {
    OpenTxn& txn = *txns.Find(row.txn);
    txn.row.list_given = true;  // what it did under its snapshot stays done
    // That it has a write id must refuse the commit, also one that declares no write.
    if (row.txn != by) AddComponent(txn, {row.txn, id, "", WriteOp::kUpdate, false}, unit);
    // Whose snapshot never knew the table asks for it no more.
    if (row.txn != by && txn.row.snapshot_seq < unit.seq()) continue;
    txn.write_ids.Erase(id);
    write_ids.Resolve(id, row.write_id, WriteIds::Outcome::kCommitted, unit);
  }
  for (LockId lock : lock_table.Overlapping({name.database, name.table, ""})) {
    const LockRows::Request* request = lock_rows.Find(lock);
    if (request == nullptr || request->state() != LockState::kWaiting) continue;
    const auto& components = request->components;
    const bool on_it = std::any_of(
        components.begin(), components.end(), [&](const auto& c) { return c.table == id; });
    if (!on_it) continue;
    EndRequest(lock,
               LockState::kNotAcquired,
               fmt::format("{} was dropped by transaction {}; a table of that name now is another",
                           name.ToString(),
                           by.value()),
               now,
               unit);
  }
  unit.events().Add(TableDroppedEvent{EventTableOf(id), by});
  changes.DropTable(id);
  registry.Drop(id, unit);
}

absl::Status State::SetProperties(const TableName& name,
                                  const Properties& set,
                                  const std::vector<std::string>& unset,
                                  Now /*now*/,
                                  Unit& unit) {
  Impl& s = *impl_;
  const TableRow* found = s.registry.Find(name);
  if (found == nullptr) return NoSuchTable(name);
  Properties properties = found->properties;
  for (const std::string& key : unset) properties.erase(key);
  for (const auto& [key, value] : set) properties[key] = value;
  if (properties == found->properties) return absl::OkStatus();
  if (found->kind != TableKind::kExternal) {
    SKEP_RETURN_IF_ERROR(CheckManaged(name, properties));
    SKEP_RETURN_IF_ERROR(CheckPropertyValues(set));
    SKEP_RETURN_IF_ERROR(CheckKindStays(*found, properties));
  }
  PropertiesEvent changed{s.EventTableOf(found->id), {}};
  for (const auto& [key, value] : found->properties) {
    if (!properties.contains(key)) changed.properties.emplace_back(key, std::nullopt);
  }
  for (const auto& [key, value] : properties) {
    const auto old = found->properties.find(key);
    if (old == found->properties.end() || old->second != value) {
      changed.properties.emplace_back(key, value);
    }
  }
  unit.events().Add(std::move(changed));
  s.registry.Change(found->id)->properties = std::move(properties);
  s.registry.Save(found->id, unit);
  return absl::OkStatus();
}

}  // namespace skep::state

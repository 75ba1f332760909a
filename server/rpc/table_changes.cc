#include "server/rpc/table_changes.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "proto/wire/base_wire.h"
#include "server/rpc/commands/table_commands.h"
#include "server/rpc/table_location.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

#include "proto/skep/v1/table_service.pb.h"

namespace skep::rpc {
namespace {

// What the steps of one change share: each step holds it and hands it to the next.
template <class Command>
struct Change {
  Change(const Dependencies& d, Command c, Ticket t)
      : dependencies(d), command(std::move(c)), ticket(std::move(t)) {}

  const Dependencies& dependencies;
  Command command;
  Ticket ticket;
  RegisterScan scan;
  std::vector<std::string> notes;
  absl::StatusOr<state::TableInfo> info = absl::UnknownError("not decided");
  absl::Status reserved = absl::UnknownError("not decided");
};
using Creation = std::shared_ptr<Change<state::CreateTable>>;
using Registration = std::shared_ptr<Change<state::ReserveTable>>;

void GiveUp(loop::LoopPort& port, const TableName& name) {
  port.Run([name](state::State& state, state::Now, state::Unit&) { state.DropReservation(name); },
           [](const absl::Status&) {});
}

template <class Shared>
void GiveUp(const Shared& change, absl::Status status) {
  GiveUp(change->dependencies.port, change->command.name);
  change->ticket.Refuse(std::move(status));
}

// ---- create ----

void AnswerCreation(const Creation& change, const absl::Status& status) {
  if (!status.ok()) return change->ticket.Refuse(status);
  if (!change->info.ok()) return change->ticket.Refuse(change->info.status());
  v1::CreateTableResponse response;
  wire::ToProto(*change->info, response.mutable_table());
  change->ticket.Reply(std::move(response));
}

void Create(const Creation& change) {
  change->dependencies.port.Run(
      [change](state::State& state, state::Now now, state::Unit& unit) {
        state.DropReservation(change->command.name);
        change->info = state.Create(change->command, now, unit);
      },
      [change](const absl::Status& status) { AnswerCreation(change, status); });
}

// A new table begins empty: what an earlier table left there would be read as its rows.
absl::Status CheckEmpty(fs::FileSystem& fs, const std::string& location) {
  SKEP_ASSIGN_OR_RETURN(const std::vector<fs::DirEntry> entries, fs.List(location));
  for (const fs::DirEntry& entry : entries) {
    if (entry.name.starts_with('.')) continue;
    return MakeError(ErrorReason::kLocationNotAllowed,
                     fmt::format("{} is not empty: it holds '{}'; take an existing table over with "
                                 "skepctl register table, or choose another location",
                                 location,
                                 Printable(entry.name)),
                     {{"path", location}});
  }
  return absl::OkStatus();
}

void MakeDirectory(const Creation& change) {
  change->dependencies.pool.Post([change] {
    fs::FileSystem& fs = change->dependencies.fs;
    const std::string& location = change->command.location;
    absl::Status made = fs.CreateDirectories(location);
    if (made.ok() && !change->command.external) made = CheckEmpty(fs, location);
    if (!made.ok()) return GiveUp(change, made);
    Create(change);
  });
}

void ReserveForCreation(const Creation& change) {
  change->dependencies.port.Run(
      [change](state::State& state, state::Now now, state::Unit& unit) {
        const state::CreateTable& command = change->command;
        change->reserved =
            state.Reserve({command.name, command.location, command.request}, now, unit);
        if (change->reserved.ok()) return;
        // A name that is taken: this is a repeat whose answer is on record or on its way, or it is
        // refused. Nothing is created.
        change->info = ReasonOf(change->reserved) == ErrorReason::kStoreBusy
                           ? absl::StatusOr<state::TableInfo>(change->reserved)
                           : state.Create(command, now, unit);
      },
      [change](const absl::Status& status) {
        if (status.ok() && change->reserved.ok()) {
          MakeDirectory(change);
        } else {
          AnswerCreation(change, status);
        }
      });
}

// ---- register ----

void Register(const Registration& change, RegisterFindings findings) {
  change->notes = std::move(findings.notes);
  findings.command.name = change->command.name;
  findings.command.location = change->command.location;
  findings.command.asked = change->command.asked;
  findings.command.request = change->command.request;
  change->dependencies.port.Run(
      [change, command = std::move(findings.command)](
          state::State& state, state::Now now, state::Unit& unit) {
        change->info = state.Register(command, now, unit);
        if (!change->info.ok()) state.DropReservation(command.name);
      },
      [change](const absl::Status& status) {
        if (!status.ok()) return change->ticket.Refuse(status);
        if (!change->info.ok()) return change->ticket.Refuse(change->info.status());
        v1::RegisterTableResponse response;
        wire::ToProto(*change->info, response.mutable_table());
        for (const std::string& note : change->notes) response.add_notes(wire::WireText(note));
        change->ticket.Reply(std::move(response));
      });
}

void Scan(const Registration& change) {
  change->dependencies.directories.Scan(std::move(change->scan),
                                        [change](absl::StatusOr<RegisterFindings> findings) {
                                          if (!findings.ok())
                                            return GiveUp(change, findings.status());
                                          Register(change, *std::move(findings));
                                        });
}

void ReserveForRegistration(const Registration& change) {
  change->dependencies.port.Run(
      [change](state::State& state, state::Now now, state::Unit& unit) {
        change->reserved = state.Reserve(change->command, now, unit);
      },
      [change](const absl::Status& status) {
        if (!status.ok()) return change->ticket.Refuse(status);
        if (!change->reserved.ok()) return change->ticket.Refuse(change->reserved);
        Scan(change);
      });
}

}  // namespace

void CreateTable(const Dependencies& dependencies, state::CreateTable command, Ticket ticket) {
  auto change = std::make_shared<Change<state::CreateTable>>(
      dependencies, std::move(command), std::move(ticket));
  dependencies.pool.Post([change] {
    const Dependencies& d = change->dependencies;
    state::CreateTable& create = change->command;
    if (create.location.empty()) {
      absl::StatusOr<std::string> place = DefaultLocation(d.facts.warehouse_roots, create.name);
      if (!place.ok()) return change->ticket.Refuse(place.status());
      create.location = *std::move(place);
    }
    absl::StatusOr<std::string> place =
        ResolveLocation(d.fs, d.facts.warehouse_roots, create.location);
    if (!place.ok()) return change->ticket.Refuse(place.status());
    create.location = *std::move(place);
    ReserveForCreation(change);
  });
}

void RegisterTable(const Dependencies& dependencies,
                   state::ReserveTable reserve,
                   RegisterScan scan,
                   Ticket ticket) {
  auto change = std::make_shared<Change<state::ReserveTable>>(
      dependencies, std::move(reserve), std::move(ticket));
  change->scan = std::move(scan);
  dependencies.pool.Post([change] {
    const Dependencies& d = change->dependencies;
    absl::StatusOr<std::string> place =
        ResolveLocation(d.fs, d.facts.warehouse_roots, change->command.location);
    if (!place.ok()) return change->ticket.Refuse(place.status());
    change->command.location = *place;
    change->scan.location = *std::move(place);
    ReserveForRegistration(change);
  });
}

}  // namespace skep::rpc

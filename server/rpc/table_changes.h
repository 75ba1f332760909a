#pragma once

#include <string>
#include <vector>

#include "server/rpc/services.h"
#include "server/rpc/ticket.h"
#include "server/state/commands.h"

namespace skep::rpc {

// Creating and registering tables: several steps, on the pool (whatever touches the filesystem) and
// in the loop.
//
//   create    place ─▶ reserve name and place ─▶ make the directory ─▶ create
//   register  place ─▶ reserve name and place ─▶ scan the directory ─▶ register
//
// So nothing is made or scanned for a name that is taken or a place inside another table, and
// nobody else gets either in the meantime. A step that fails gives the reservation up.
void CreateTable(const Dependencies& dependencies, state::CreateTable command, Ticket ticket);
void RegisterTable(const Dependencies& dependencies,
                   state::ReserveTable reserve,
                   RegisterScan scan,
                   Ticket ticket);

}  // namespace skep::rpc

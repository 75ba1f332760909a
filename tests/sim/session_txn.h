#pragma once

#include "skep/session.h"
#include "tests/sim/world.h"

namespace skep::sim {

// From its begin to its end, or to the moment when its owner is not there any more. False: its
// process died.
bool RunSessionTxn(World& world, Actor& actor, client::Session& session, Link& link);

}  // namespace skep::sim

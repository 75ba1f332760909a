// What goes wrong with the daemon and under it, and how it comes back.

#include <fmt/format.h>

#include "tests/sim/world.h"

namespace skep::sim {

namespace {
using std::chrono::milliseconds;
using std::chrono::seconds;
}  // namespace

void World::Kill(const std::string& why) {
  network_.DaemonGoes();
  streams_.DaemonGoes();
  daemon_.Die(why);
}

// Until it is up. It may die again on the way, at any call to its disk.
void World::BringUp(Actor& actor) {
  while (!daemon_.up() && failure_.empty()) {
    // A machine that stood still is switched on with or without what was not synced.
    // what a failed sync did not carry is seen by the next process, and gone without power.
    const bool after_failed_sync =
        std::exchange(failed_syncs_, disk_.failed_syncs()) != disk_.failed_syncs();
    bool power = dice_.OneIn(2);
    if (std::exchange(power_goes_next_, false)) power = true;
    if (after_failed_sync && dice_.OneIn(2)) {
      power = false;
      power_goes_next_ = true;
    }
    if (!disk_.on()) disk_.Start(power ? SimDisk::Loss::kPower : SimDisk::Loss::kProcess);
    disk_.SetRoomy();
    if (!faults_stop_ && dice_.OneIn(4)) {
      disk_.StopAt(dice_.Between(1, 300), [this] { Trace("the machine stops during a start"); });
    }
    if (daemon_.Start()) {
      if (power_goes_next_ && !faults_stop_ && dice_.OneIn(2)) {
        disk_.StopAt(dice_.Between(1, 40), [this] { Trace("the power goes"); });
      }
      daemon_.OnDeath([this] { Kill("with its disk"); });
      return;
    }
    disk_.Stop();
    actor.Sleep(milliseconds(dice_.Between(1, 5000)));
  }
}

void World::Faults(Actor& actor) {
  BringUp(actor);
  while (!stopping()) {
    // A daemon that died of itself is noticed soon.
    const MonoTime next = scheduler_.now() + dice_.Delay(seconds(1), seconds(180));
    while (daemon_.up() && scheduler_.now() < next && !stopping()) actor.Sleep(milliseconds(500));
    if (stopping()) break;
    if (daemon_.up() && !Without("faults")) {
      switch (dice_.Below(10)) {
        case 0:
          Kill("killed");
          break;
        case 1:
        case 2:
        case 3:
          disk_.StopAt(dice_.Between(1, 60), [this] { Trace("the machine stops"); });
          break;
        case 4:
          Trace("the next sync fails");
          disk_.FailNextSync(dice_.OneIn(2) ? "-wal" : "");
          break;
        case 5: {
          const Nanos pause = dice_.Delay(seconds(1), seconds(200));
          Trace(fmt::format("the daemon stands still for {} s", pause.count() / 1'000'000'000));
          daemon_.StandStill(pause);
          break;
        }
        case 6:
          Trace("the disk is full");
          disk_.SetFull(dice_.OneIn(2) ? 0 : dice_.Below(8 << 10));
          actor.Sleep(dice_.Delay(seconds(1), seconds(120)));
          disk_.SetRoomy();
          Trace("the disk has room");
          break;
        case 7:
          if (!daemon_.up()) break;
          daemon_.StopInOrder();
          network_.DaemonGoes();
          streams_.DaemonGoes();
          break;
        case 8: {
          const auto by = milliseconds(dice_.Between(-600'000, 600'000));
          Trace(fmt::format("the wall clock jumps by {} ms", by.count()));
          clock_.JumpWall(by);
          break;
        }
        default:
          break;  // a quiet time
      }
    }
    if (!daemon_.up()) {
      actor.Sleep(dice_.Delay(milliseconds(50), seconds(20)));
      BringUp(actor);
    }
  }
  faults_stop_ = true;
  BringUp(actor);
}

}  // namespace skep::sim

#include "server/daemon/notify.h"

#include <stdlib.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "tests/server/daemon/fake_systemd.h"
#include "tests/testing/temp_dir.h"

namespace skep::daemon {
namespace {

class NotifyTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("NOTIFY_SOCKET", systemd_.path().c_str(), 1); }
  void TearDown() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  }

  testing::TempDir dir_;
  testing::FakeSystemd systemd_{dir_.path() + "/notify"};
  Notifier notifier_;
};

TEST_F(NotifyTest, EachMessageIsWhatSystemdExpects) {
  notifier_.Status("opening the store");
  EXPECT_EQ(systemd_.Receive(), "STATUS=opening the store");
  notifier_.Ready("serving on unix:/run/skep/skepd.sock");
  EXPECT_EQ(systemd_.Receive(), "READY=1\nSTATUS=serving on unix:/run/skep/skepd.sock");
  notifier_.Watchdog();
  EXPECT_EQ(systemd_.Receive(), "WATCHDOG=1");
  notifier_.Stopping();
  EXPECT_EQ(systemd_.Receive(), "STOPPING=1\nSTATUS=draining");
}

TEST_F(NotifyTest, TheWatchdogIsProvedAtHalfItsTime) {
  EXPECT_FALSE(Notifier::WatchdogInterval().has_value());
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_EQ(Notifier::WatchdogInterval(), std::chrono::seconds(15));
  ::setenv("WATCHDOG_PID", "1", 1);  // somebody else's
  EXPECT_FALSE(Notifier::WatchdogInterval().has_value());
}

TEST_F(NotifyTest, WithoutSystemdNothingHappens) {
  ::unsetenv("NOTIFY_SOCKET");
  notifier_.Ready("alone");
  EXPECT_EQ(systemd_.Receive(50), "");
}

}  // namespace
}  // namespace skep::daemon

// skepd as a process: start, exit codes, signals, systemd, restart.

#include <sys/socket.h>

#include <filesystem>
#include <memory>

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "storage/fs/unique_fd.h"
#include "tests/server/daemon/child_process.h"
#include "tests/server/daemon/fake_systemd.h"
#include "tests/testing/temp_dir.h"

#include "proto/skep/v1/admin_service.grpc.pb.h"
#include "proto/skep/v1/transaction_service.grpc.pb.h"

namespace skep::daemon {
namespace {

using ::skep::testing::ChildProcess;
using ::testing::HasSubstr;

class ProcessTest : public ::testing::Test {
 protected:
  ProcessTest() { std::filesystem::create_directories(dir_.path() + "/w"); }

  std::unique_ptr<ChildProcess> Start(std::vector<std::string> flags = {},
                                      const std::string& name = "skepd") {
    std::vector<std::string> arguments{SKEPD_PATH, "--config", Config()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return std::make_unique<ChildProcess>(
        arguments,
        dir_.path() + "/" + name + ".out",
        std::vector<std::string>{"NOTIFY_SOCKET=" + systemd_.path(), "WATCHDOG_USEC=400000"});
  }
  std::unique_ptr<ChildProcess> StartAndAwait(std::vector<std::string> flags = {}) {
    auto child = Start(std::move(flags));
    EXPECT_THAT(systemd_.ReceiveUntil("READY=1"), HasSubstr("STATUS=serving on unix:"))
        << child->Output();
    return child;
  }

  std::string Config() {
    const std::string path = dir_.path() + "/skepd.toml";
    if (!std::filesystem::exists(path)) {
      std::ofstream(path) << "[server]\nlisten = [\"unix:" + Socket() + "\"]\n[store]\npath = \"" +
                                 dir_.path() + "/skep.db\"\n[warehouse]\nroots = [\"" +
                                 dir_.path() + "/w\"]\n";
    }
    return path;
  }
  std::string Socket() const { return dir_.path() + "/skepd.sock"; }

  int64_t OpenTxn() {
    auto stub = v1::TransactionService::NewStub(
        grpc::CreateChannel("unix:" + Socket(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    v1::OpenTransactionsRequest request;
    request.set_user("ada");
    v1::OpenTransactionsResponse response;
    const grpc::Status status = stub->OpenTransactions(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.first_txn_id();
  }
  v1::GetStatusResponse GetStatus() {
    auto stub = v1::AdminService::NewStub(
        grpc::CreateChannel("unix:" + Socket(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    v1::GetStatusResponse response;
    const grpc::Status status = stub->GetStatus(&context, v1::GetStatusRequest(), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  testing::TempDir dir_;
  testing::FakeSystemd systemd_{dir_.path() + "/notify"};
};

TEST_F(ProcessTest, ServesUntilItIsToldToEnd) {
  auto skepd = StartAndAwait();
  EXPECT_GT(OpenTxn(), 0);
  EXPECT_EQ(GetStatus().endpoints(0), "unix:" + Socket());
  skepd->Signal(SIGTERM);
  EXPECT_EQ(systemd_.ReceiveUntil("STOPPING=1"), "STOPPING=1\nSTATUS=draining");
  EXPECT_EQ(skepd->Wait(), 0) << skepd->Output();
  EXPECT_FALSE(std::filesystem::exists(Socket()));
}

TEST_F(ProcessTest, AKilledDaemonLosesNothingAcknowledged) {
  auto skepd = StartAndAwait();
  const int64_t first = OpenTxn();
  const int64_t second = OpenTxn();
  skepd->Kill();
  skepd = StartAndAwait();  // over the old socket's file and the log of the store
  EXPECT_EQ(GetStatus().open_transaction_count(), 2);
  EXPECT_EQ(GetStatus().oldest_open_transaction().txn_id(), first);
  EXPECT_GT(OpenTxn(), second);
}

TEST_F(ProcessTest, EachFormOfTheStoreOpensWhatTheOtherLeft) {
  const auto forms = {"log", "tables", "log", "tables"};
  int64_t opened = 0;
  for (const char* form : forms) {
    auto skepd = StartAndAwait({"--store.form", form});
    EXPECT_EQ(GetStatus().open_transaction_count(), opened++);
    OpenTxn();
    skepd->Kill();
  }
  auto skepd = StartAndAwait();
  EXPECT_EQ(GetStatus().open_transaction_count(), opened);
  skepd->Signal(SIGTERM);
  EXPECT_EQ(skepd->Wait(), 0) << skepd->Output();
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("skep.db-")) << entry.path();
  }
}

TEST_F(ProcessTest, ChecksAStoreThatIsNotInUse) {
  auto missing = Start({"--check-store"}, "missing");
  EXPECT_EQ(missing->Wait(), 73);
  EXPECT_THAT(missing->Output(), HasSubstr("there is no store"));
  auto skepd = StartAndAwait();
  OpenTxn();
  auto busy = Start({"--check-store"}, "busy");
  EXPECT_EQ(busy->Wait(), 69);
  skepd->Kill();
  auto sound = Start({"--check-store=deep"}, "sound");
  EXPECT_EQ(sound->Wait(), 0) << sound->Output();
  EXPECT_THAT(sound->Output(), HasSubstr("the store is sound"));
}

TEST_F(ProcessTest, TheWatchdogIsFedByUnitsThatWereStored) {
  auto skepd = StartAndAwait();
  const int64_t before = GetStatus().commit_seq();
  EXPECT_EQ(systemd_.ReceiveUntil("WATCHDOG=1"), "WATCHDOG=1");
  EXPECT_EQ(systemd_.ReceiveUntil("WATCHDOG=1"), "WATCHDOG=1");
  EXPECT_GT(GetStatus().commit_seq(), before);
}

TEST_F(ProcessTest, ASecondDaemonOnTheSameStoreIsRefusedNamingTheFirst) {
  auto first = StartAndAwait();
  auto second = Start({"--server.listen", "unix:" + dir_.path() + "/other.sock"}, "second");
  EXPECT_EQ(second->Wait(), 69);
  EXPECT_THAT(second->Output(), HasSubstr(std::to_string(first->pid())));
  EXPECT_GT(OpenTxn(), 0);  // the first goes on
}

TEST_F(ProcessTest, ASocketThatIsServedIsNotTaken) {
  auto first = StartAndAwait();
  // With a data directory of its own.
  std::filesystem::create_directories(dir_.path() + "/other");
  auto second = Start({"--store.path", dir_.path() + "/other/skep.db"}, "second");
  EXPECT_EQ(second->Wait(), 69);
  EXPECT_THAT(second->Output(), HasSubstr("another process serves"));
  EXPECT_GT(OpenTxn(), 0);
}

TEST_F(ProcessTest, APortThatIsTakenIsNamed) {
  const fs::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(fd.get(), 1), 0);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string endpoint = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  auto skepd = Start({"--server.listen", "unix:" + Socket() + "," + endpoint});
  EXPECT_EQ(skepd->Wait(), 69);
  EXPECT_THAT(skepd->Output(), HasSubstr(endpoint));
}

TEST_F(ProcessTest, WhatCannotStartSaysWhyAndHowToHelp) {
  struct Case {
    const char* name;
    std::vector<std::string> flags;
    int code;
    const char* text;
  };
  const Case cases[] = {
      {"unknown flag", {"--frobnicate"}, 64, "--frobnicate"},
      {"bad value of a flag", {"--txn.timeout", "300"}, 64, "--txn.timeout"},
      {"no such file", {"--config", dir_.path() + "/nothing.toml"}, 78, "nothing.toml"},
      {"no data directory", {"--store.path", dir_.path() + "/none/skep.db"}, 73, "/none"},
      {"no socket directory",
       {"--server.listen", "unix:" + dir_.path() + "/none/skepd.sock"},
       73,
       "/none"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto skepd = Start(c.flags);
    EXPECT_EQ(skepd->Wait(), c.code);
    EXPECT_THAT(skepd->Output(), HasSubstr(c.text));
  }
}

TEST_F(ProcessTest, AWrongConfigurationIsReportedInFull) {
  std::ofstream(dir_.path() + "/skepd.toml") << "[txn]\ntimeout = 5\n[nothing]\nkey = 1\n";
  for (const std::vector<std::string>& flags : {std::vector<std::string>{}, {"--check-config"}}) {
    auto skepd = Start(flags);
    EXPECT_EQ(skepd->Wait(), 78);
    EXPECT_THAT(skepd->Output(), HasSubstr("skepd.toml:2:11"));
    EXPECT_THAT(skepd->Output(), HasSubstr("skepd.toml:4:"));
  }
}

TEST_F(ProcessTest, CheckingTheConfigurationTouchesNothing) {
  auto skepd = Start({"--check-config"});
  EXPECT_EQ(skepd->Wait(), 0) << skepd->Output();
  EXPECT_FALSE(std::filesystem::exists(dir_.path() + "/skep.db"));
  std::filesystem::remove(dir_.path() + "/w");
  auto missing = Start({"--check-config"});
  EXPECT_EQ(missing->Wait(), 78);
  EXPECT_THAT(missing->Output(), HasSubstr("warehouse.roots"));
}

TEST_F(ProcessTest, ReloadIsNotThereYetAndSaysSo) {
  auto skepd = StartAndAwait({"--log.target", dir_.path() + "/skepd.log"});
  skepd->Signal(SIGHUP);
  skepd->Signal(SIGUSR2);
  EXPECT_GT(OpenTxn(), 0);
  // A rotated log: the old file is moved away, the signal opens a new one.
  std::filesystem::rename(dir_.path() + "/skepd.log", dir_.path() + "/skepd.log.1");
  skepd->Signal(SIGUSR1);
  systemd_.ReceiveUntil("WATCHDOG=1");
  systemd_.ReceiveUntil("WATCHDOG=1");
  skepd->Signal(SIGTERM);
  EXPECT_EQ(skepd->Wait(), 0);
  const auto read = [&](const std::string& name) {
    std::ifstream file(dir_.path() + "/" + name);
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  };
  EXPECT_THAT(read("skepd.log.1"), HasSubstr("config.reload_not_supported"));
  EXPECT_THAT(read("skepd.log.1"), HasSubstr("daemon.state"));
  EXPECT_THAT(read("skepd.log"), HasSubstr("daemon.stopped"));
}

}  // namespace
}  // namespace skep::daemon

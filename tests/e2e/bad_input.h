#pragma once

// A daemon with tables and rows that must not change, whatever is thrown at it.

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "skep/session.h"
#include "skep/transaction.h"
#include "storage/model/errors.h"
#include "tests/e2e/processes.h"
#include "tests/testing/temp_dir.h"

namespace skep::e2e {

// A call that must be refused: SERVICE.METHOD, the request as JSON, the reason, and the metadata
// key that must be there (empty: none is asked for).
struct Refused {
  std::string name;
  std::string method;
  std::string request;
  ErrorReason reason;
  std::string key;
};

// d.full (full ACID, partitioned by p, two statements' five rows in p=1), d.ins (insert-only),
// d.ext (external).
class BadInputTest : public ::testing::Test {
 protected:
  void SetUp() override;
  // Nothing of what is there before the test is lost, now or after a restart.
  void TearDown() override;

  // Through the client library's channel, by name: what the daemon itself says.
  absl::StatusOr<std::string> Call(const std::string& method, const std::string& request);
  // The row of the error table: reason, its code, metadata, a message that says something.
  void ExpectRefused(const Refused& call);
  // skepctl is refused with this exit code and says `what` on stderr, nothing on stdout.
  void ExpectToolRefused(const std::vector<std::string>& args,
                         int exit_code,
                         const std::string& what);

  // One transaction that inserts rows 1 … `count` into the full-ACID table's partition.
  absl::Status Insert(const TableName& table, const std::string& partition, int count);
  std::string Read(const std::string& resource);

  testing::TempDir dir_;
  DaemonProcess daemon_{{.directory = dir_.path(), .args = {"--cleaner.interval", "50ms"}}};
  std::unique_ptr<client::Session> session_;

 private:
  std::string rows_;
  std::string tables_;
};

// `text` with each "$ID" replaced.
std::string WithId(std::string text, const std::string& id);

}  // namespace skep::e2e

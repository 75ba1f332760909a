// What a table may be created with, and which partitions it may get.

#include <functional>

#include <gmock/gmock.h>

#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::testing::AllOf;
using testing::HasMessage;
using testing::HasReason;
using ::testing::HasSubstr;
using testing::IsOk;

RegisterTable Registration(const std::string& name, TableKind kind = TableKind::kFullAcid) {
  RegisterTable command;
  command.name = T(name);
  command.kind = kind;
  command.location = "/w/" + name;
  command.schema.columns = *ParseColumns("id bigint");
  command.schema.partition_columns = *ParseColumns("day date, hour int");
  return command;
}

TEST(TableValues, APropertyThatSkepKnowsHasAValueThatItTakes) {
  Server server;
  const auto refused =
      AllOf(HasReason(ErrorReason::kInvalidRequest),
            HasMessage(AllOf(HasSubstr("orc.compress"), HasSubstr("FOO"), HasSubstr("snappy"))));
  CreateTable create = Server::TableOf("t");
  create.properties = {{"orc.compress", "FOO"}};
  EXPECT_THAT(server.Create(create).status(), refused);
  RegisterTable registration = Registration("r");
  registration.properties = create.properties;
  EXPECT_THAT(server.Register(registration).status(), refused);
  // Skep writes none of an external table's files.
  create.external = true;
  EXPECT_THAT(server.Create(create), IsOk());
  registration.kind = TableKind::kExternal;
  EXPECT_THAT(server.Register(registration), IsOk());

  server.MakeTable("ok");
  const auto set = [&server](Properties properties, std::vector<std::string> unset = {}) {
    return server.Do([&](State& s, Now now, Unit& u) {
      return s.SetProperties(T("ok"), properties, unset, now, u);
    });
  };
  EXPECT_THAT(set({{"orc.compress", "FOO"}}), refused);
  EXPECT_THAT(set({{"orc.compress", "zstd"}, {"owner", "FOO"}}), IsOk());
}

TEST(TableValues, BucketsAreNoMoreThanRowIdsCanName) {
  Server server;
  CreateTable create = Server::TableOf("t");
  create.schema.bucketing = {{"id"}, 4096};
  const auto refused = AllOf(HasReason(ErrorReason::kInvalidRequest),
                             HasMessage(AllOf(HasSubstr("4096"), HasSubstr("4095"))));
  EXPECT_THAT(server.Create(create).status(), refused);
  RegisterTable registration = Registration("r");
  registration.schema.bucketing = create.schema.bucketing;
  EXPECT_THAT(server.Register(registration).status(), refused);
  create.schema.bucketing.count = registration.schema.bucketing.count = 4095;
  EXPECT_THAT(server.Create(create), IsOk());
  EXPECT_THAT(server.Register(registration), IsOk());
}

TEST(TableValues, APartitionHasValuesOfItsColumns) {
  Server server;
  CreateTable create = Server::TableOf("t");
  create.schema.partition_columns = *ParseColumns("day date, hour int");
  ASSERT_THAT(server.Create(create), IsOk());
  const TxnId txn = server.Open();
  EXPECT_THAT(server.Allocate(txn, T("t")), IsOk());
  const absl::Status refused = server.AddPartitions(txn, T("t"), {"day=2026-10-01/hour=noon"});
  EXPECT_THAT(refused, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(refused,
              HasMessage(AllOf(HasSubstr("day=2026-10-01/hour=noon"), HasSubstr("no int"))));
  EXPECT_THAT(server.Commit(txn, {{T("t"), {{"day=tomorrow/hour=1", WriteOp::kInsert}}}}),
              HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(server.AddPartitions(txn, T("t"), {"day=2026-10-01/hour=7"}), IsOk());
  EXPECT_THAT(server.AddPartitions(
                  txn, T("t"), {"day=__HIVE_DEFAULT_PARTITION__/hour=8"}, WriteOp::kInsert),
              IsOk());
  EXPECT_THAT(server.Commit(txn), IsOk());
  EXPECT_EQ(server.stored().partitions.size(), 2u);
}

TEST(TableValues, ARegistrationSaysWhereAPartitionLies) {
  Server server;
  RegisterTable registration = Registration("r");
  registration.partitions = {"day=2026-10-01/hour=7", "day=2026-10-32/hour=7"};
  const absl::Status refused = server.Register(registration).status();
  EXPECT_THAT(refused, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(refused,
              HasMessage(AllOf(HasSubstr("/w/r/day=2026-10-32/hour=7"), HasSubstr("no date"))));
  registration.partitions.pop_back();
  EXPECT_THAT(server.Register(registration), IsOk());
}

}  // namespace
}  // namespace skep::state

// What FromProto accepts and what it refuses, by field.

#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/wire/base_wire.h"
#include "server/rpc/commands/compaction_commands.h"
#include "server/rpc/commands/lock_commands.h"
#include "server/rpc/commands/table_commands.h"
#include "server/rpc/commands/txn_commands.h"
#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

namespace skep::wire {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOk;

template <class Request>
struct Case {
  const char* name;
  const char* field;
  std::function<void(Request*)> damage;
};

// `good` passes; each damage is refused and names its field.
template <class Request>
void EachIsRefused(const Request& good, const std::vector<Case<Request>>& cases) {
  ASSERT_THAT(FromProto(good), IsOk());
  for (const Case<Request>& c : cases) {
    SCOPED_TRACE(c.name);
    Request request = good;
    c.damage(&request);
    const auto result = FromProto(request);
    ASSERT_THAT(result, HasReason(ErrorReason::kInvalidRequest));
    EXPECT_EQ(MetadataOf(result.status()).at("field"), c.field);
  }
}

void SetOrders(v1::TableName* name) {
  name->set_database("sales");
  name->set_table("orders");
}

v1::OpenTransactionsRequest GoodOpen() {
  v1::OpenTransactionsRequest request;
  request.set_user("ada");
  request.set_request_id("0123456789abcdef");
  request.mutable_txn_timeout()->set_seconds(60);
  return request;
}

TEST(OpenTransactions, IsRefusedByField) {
  using R = v1::OpenTransactionsRequest;
  EachIsRefused<R>(
      GoodOpen(),
      {
          {"negative count", "count", [](R* r) { r->set_count(-1); }},
          {"count above the limit", "count", [](R* r) { r->set_count(1001); }},
          {"unknown type", "type", [](R* r) { r->set_type(static_cast<v1::TransactionType>(99)); }},
          {"the server's own type",
           "type",
           [](R* r) { r->set_type(v1::TRANSACTION_TYPE_COMPACTION); }},
          {"no user", "user", [](R* r) { r->clear_user(); }},
          {"long user", "user", [](R* r) { r->set_user(std::string(129, 'x')); }},
          {"newline in user", "user", [](R* r) { r->set_user("a\nb"); }},
          {"long host", "host", [](R* r) { r->set_host(std::string(257, 'x')); }},
          {"long agent", "agent", [](R* r) { r->set_agent(std::string(1025, 'x')); }},
          {"zero lease", "txn_timeout", [](R* r) { r->mutable_txn_timeout()->set_seconds(0); }},
          {"two days", "txn_timeout", [](R* r) { r->mutable_txn_timeout()->set_seconds(172800); }},
          {"nanos out of range",
           "txn_timeout",
           [](R* r) { r->mutable_txn_timeout()->set_nanos(1'000'000'000); }},
          {"signs differ", "txn_timeout", [](R* r) { r->mutable_txn_timeout()->set_nanos(-1); }},
          {"short request id", "request_id", [](R* r) { r->set_request_id("abc"); }},
          {"zero request id", "request_id", [](R* r) { r->set_request_id(std::string(16, '\0')); }},
          {"repeat of nothing",
           "request_id",
           [](R* r) { r->clear_request_id(), r->set_repeat(true); }},
          {"source without a policy", "replication_policy", [](R* r) { r->add_source_txn_ids(1); }},
          {"policy without a source",
           "source_txn_ids",
           [](R* r) { r->set_replication_policy("p"); }},
          {"long policy",
           "replication_policy",
           [](R* r) {
             r->set_replication_policy(std::string(257, 'x')), r->add_source_txn_ids(1);
           }},
          {"count beside sources",
           "count",
           [](R* r) { r->set_replication_policy("p"), r->add_source_txn_ids(1), r->set_count(1); }},
      });
}

TEST(OpenTransactions, DefaultsAreOneTransactionOfTypeDefault) {
  SKEP_ASSERT_OK_AND_ASSIGN(const state::OpenTxns command, FromProto(GoodOpen()));
  EXPECT_EQ(command.count, 1);
  EXPECT_EQ(command.type, TxnType::kDefault);
  EXPECT_EQ(command.timeout, std::chrono::seconds(60));
  EXPECT_EQ(command.request.id[0], '0');
  v1::OpenTransactionsRequest bare;
  bare.set_user("ada");
  SKEP_ASSERT_OK_AND_ASSIGN(const state::OpenTxns plain, FromProto(bare));
  EXPECT_FALSE(plain.timeout.has_value());
}

TEST(CommitTransaction, IsRefusedByField) {
  using R = v1::CommitTransactionRequest;
  R good;
  good.set_txn_id(4);
  SetOrders(good.add_write_set()->mutable_table());
  good.mutable_write_set(0)->add_writes()->set_partition("order_date=2026-10-01");
  EachIsRefused<R>(
      good,
      {
          {"id zero", "txn_id", [](R* r) { r->set_txn_id(0); }},
          {"negative id", "txn_id", [](R* r) { r->set_txn_id(-3); }},
          {"two ids", "txn_id", [](R* r) { r->set_replication_policy("p"); }},
          {"source without a policy",
           "replication_policy",
           [](R* r) { r->clear_txn_id(), r->set_source_txn_id(1); }},
          {"policy without a source",
           "source_txn_id",
           [](R* r) { r->clear_txn_id(), r->set_replication_policy("p"); }},
          {"property of no table",
           "properties[0].table.database",
           [](R* r) { r->add_properties()->set_key("_meta.x"); }},
          {"property with a long value",
           "properties[0].value",
           [](R* r) {
             SetOrders(r->add_properties()->mutable_table());
             r->mutable_properties(0)->set_value(std::string(4001, 'x'));
           }},
          {"table without a name",
           "write_set[0].table.table",
           [](R* r) { r->mutable_write_set(0)->mutable_table()->clear_table(); }},
          {"table with a slash",
           "write_set[0].table",
           [](R* r) { r->mutable_write_set(0)->mutable_table()->set_table("a/b"); }},
          {"table named twice",
           "write_set[1].table",
           [](R* r) { SetOrders(r->add_write_set()->mutable_table()); }},
          {"partition that is none",
           "write_set[0].writes[0].partition",
           [](R* r) { r->mutable_write_set(0)->mutable_writes(0)->set_partition("nonsense"); }},
          {"unknown operation",
           "write_set[0].writes[0].operation",
           [](R* r) {
             r->mutable_write_set(0)->mutable_writes(0)->set_operation(
                 static_cast<v1::WriteOperation>(50));
           }},
      });
}

TEST(CommitTransaction, NamesAreLowerCaseAndAnUnsaidOperationIsAnUpdate) {
  v1::CommitTransactionRequest request;
  request.set_txn_id(4);
  auto* writes = request.add_write_set();
  writes->mutable_table()->set_database("Sales");
  writes->mutable_table()->set_table("Orders");
  writes->add_writes();
  SKEP_ASSERT_OK_AND_ASSIGN(const state::CommitTxn command, FromProto(request));
  EXPECT_EQ(command.write_set[0].table, (TableName{"sales", "orders"}));
  EXPECT_EQ(command.write_set[0].writes[0].op, WriteOp::kUpdate);
}

TEST(AbortTransactions, AreNamedInOneWay) {
  using R = v1::AbortTransactionsRequest;
  R good;
  good.add_txn_ids(4);
  EachIsRefused<R>(good,
                   {
                       {"nothing", "txn_ids", [](R* r) { r->clear_txn_ids(); }},
                       {"ids and an owner", "txn_ids", [](R* r) { r->set_user("ada"); }},
                       {"ids and sources",
                        "txn_ids",
                        [](R* r) { r->set_replication_policy("p"), r->add_source_txn_ids(1); }},
                       {"an age that is none",
                        "min_age",
                        [](R* r) { r->mutable_min_age()->set_nanos(1'000'000'000); }},
                   });
  R by_filter;
  by_filter.set_user("ada");
  by_filter.mutable_min_age()->set_seconds(60);
  SKEP_ASSERT_OK_AND_ASSIGN(const state::AbortTxns command, FromProto(by_filter));
  EXPECT_TRUE(command.by_filter());
  EXPECT_EQ(command.min_age, std::chrono::seconds(60));
}

TEST(AdoptWriteIds, IsRefusedByField) {
  using R = v1::AdoptWriteIdsRequest;
  R good;
  SetOrders(good.mutable_table());
  good.set_valid_write_ids("sales.orders:9:9223372036854775807::3");
  EachIsRefused<R>(good,
                   {
                       {"no table", "table.database", [](R* r) { r->clear_table(); }},
                       {"no list", "write id list", [](R* r) { r->clear_valid_write_ids(); }},
                       {"an open id",
                        "valid_write_ids",
                        [](R* r) { r->set_valid_write_ids("sales.orders:9:5:5:"); }},
                   });
}

TEST(AbortAndHeartbeat, TooManyIdsAreRefused) {
  v1::AbortTransactionsRequest abort;
  EXPECT_THAT(FromProto(abort), HasReason(ErrorReason::kInvalidRequest));
  v1::HeartbeatTransactionsRequest beat;
  EXPECT_THAT(FromProto(beat), IsOk());
  for (int i = 1; i <= 10'001; ++i) {
    abort.add_txn_ids(i);
    beat.add_txn_ids(i);
  }
  EXPECT_THAT(FromProto(abort), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(FromProto(beat), HasReason(ErrorReason::kInvalidRequest));
}

TEST(ListTransactions, IsRefusedByField) {
  using R = v1::ListTransactionsRequest;
  EachIsRefused<R>(
      R(),
      {
          {"negative page", "page_size", [](R* r) { r->set_page_size(-1); }},
          {"foreign token", "page_token", [](R* r) { r->set_page_token("17"); }},
          {"committed", "states[0]", [](R* r) { r->add_states(v1::TRANSACTION_STATE_COMMITTED); }},
          {"unspecified state",
           "states[0]",
           [](R* r) { r->add_states(v1::TRANSACTION_STATE_UNSPECIFIED); }},
      });
  R big;
  big.set_page_size(5000);
  EXPECT_EQ(FromProto(big)->limit, 1000);
  EXPECT_EQ(FromProto(R())->limit, 100);
}

TEST(AcquireLocks, IsRefusedByField) {
  using R = v1::AcquireLocksRequest;
  R good;
  good.set_txn_id(4);
  auto* component = good.add_components();
  component->mutable_resource()->set_database("sales");
  component->mutable_resource()->set_table("orders");
  component->mutable_resource()->set_partition("order_date=2026-10-01");
  component->set_kind(v1::LOCK_KIND_SHARED_READ);
  const auto resource = [](R* r) { return r->mutable_components(0)->mutable_resource(); };
  EachIsRefused<R>(
      good,
      {
          {"negative transaction", "txn_id", [](R* r) { r->set_txn_id(-1); }},
          {"nothing to lock", "components", [](R* r) { r->clear_components(); }},
          {"no kind", "components[0].kind", [](R* r) { r->mutable_components(0)->clear_kind(); }},
          {"no database", "components[0].resource", [=](R* r) { resource(r)->clear_database(); }},
          {"partition without table",
           "components[0].resource",
           [=](R* r) { resource(r)->clear_table(); }},
          {"dotted partition",
           "components[0].resource.partition",
           [=](R* r) { resource(r)->set_partition("../x"); }},
          {"dynamic read",
           "components[0].dynamic_partitions",
           [](R* r) { r->mutable_components(0)->set_dynamic_partitions(true); }},
          {"nobody's lock", "user", [](R* r) { r->set_txn_id(0); }},
          {"short request id", "request_id", [](R* r) { r->set_request_id("x"); }},
      });
}

TEST(CreateTable, IsRefusedByField) {
  using R = v1::CreateTableRequest;
  R good;
  SetOrders(good.mutable_name());
  auto* column = good.add_columns();
  column->set_name("order_id");
  column->set_type("bigint");
  auto* partition = good.add_partition_columns();
  partition->set_name("order_date");
  partition->set_type("date");
  EachIsRefused<R>(
      good,
      {
          {"no database", "name.database", [](R* r) { r->mutable_name()->clear_database(); }},
          {"name with a dot", "name", [](R* r) { r->mutable_name()->set_table("a.b"); }},
          {"no columns", "columns", [](R* r) { r->clear_columns(); }},
          {"unknown type",
           "columns[0].type",
           [](R* r) { r->mutable_columns(0)->set_type("bigger"); }},
          {"column without a name",
           "columns[0].name",
           [](R* r) { r->mutable_columns(0)->clear_name(); }},
          {"column twice, case aside",
           "columns[1].name",
           [](R* r) {
             *r->add_columns() = r->columns(0);
             r->mutable_columns(1)->set_name("ORDER_ID");
           }},
          {"partition column is a column",
           "partition_columns[0].name",
           [](R* r) { r->mutable_partition_columns(0)->set_name("order_id"); }},
          {"partition column is a list",
           "partition_columns[0].type",
           [](R* r) { r->mutable_partition_columns(0)->set_type("array<int>"); }},
          {"unknown format",
           "format",
           [](R* r) { r->set_format(static_cast<v1::FileFormat>(42)); }},
          {"property without a key",
           "properties",
           [](R* r) { (*r->mutable_properties())[""] = "x"; }},
          {"endless location", "location", [](R* r) { r->set_location(std::string(5000, '/')); }},
          {"buckets without columns",
           "bucketing.count",
           [](R* r) { r->mutable_bucketing()->set_count(4); }},
          {"bucket columns without a count",
           "bucketing.count",
           [](R* r) { r->mutable_bucketing()->add_columns("order_id"); }},
          {"negative number of buckets",
           "bucketing.count",
           [](R* r) {
             r->mutable_bucketing()->add_columns("order_id");
             r->mutable_bucketing()->set_count(-1);
           }},
          {"bucketed by a partition column",
           "bucketing.columns[0]",
           [](R* r) {
             r->mutable_bucketing()->add_columns("order_date");
             r->mutable_bucketing()->set_count(4);
           }},
          {"bucketed twice by one column",
           "bucketing.columns[1]",
           [](R* r) {
             r->mutable_bucketing()->add_columns("order_id");
             r->mutable_bucketing()->add_columns("ORDER_ID");
             r->mutable_bucketing()->set_count(4);
           }},
      });
}

TEST(RegisterTable, IsRefusedByField) {
  using R = v1::RegisterTableRequest;
  R good;
  SetOrders(good.mutable_name());
  good.set_location("/w/orders");
  EachIsRefused<R>(
      good,
      {
          {"no location", "location", [](R* r) { r->clear_location(); }},
          {"partition columns alone",
           "partition_columns",
           [](R* r) {
             r->add_partition_columns()->set_name("p");
             r->mutable_partition_columns(0)->set_type("int");
           }},
          {"format alone", "format", [](R* r) { r->set_format(v1::FILE_FORMAT_PARQUET); }},
          {"properties alone", "properties", [](R* r) { (*r->mutable_properties())["k"] = "v"; }},
          {"bucketing alone", "bucketing", [](R* r) { r->mutable_bucketing()->set_count(4); }},
      });
}

TEST(AllocateWriteIds, IsRefusedByField) {
  using R = v1::AllocateWriteIdsRequest;
  R good;
  SetOrders(good.mutable_table());
  good.add_txn_ids(4);
  EachIsRefused<R>(good,
                   {
                       {"no transaction", "txn_ids", [](R* r) { r->clear_txn_ids(); }},
                       {"id zero", "txn_ids[1]", [](R* r) { r->add_txn_ids(0); }},
                       {"negative id", "txn_ids[0]", [](R* r) { r->set_txn_ids(0, -9); }},
                       {"no table", "table.database", [](R* r) { r->clear_table(); }},
                   });
}

TEST(GetValidWriteIds, IsRefusedByField) {
  using R = v1::GetValidWriteIdsRequest;
  R good;
  good.set_txn_id(4);
  SetOrders(good.add_tables());
  EachIsRefused<R>(good,
                   {
                       {"no transaction", "txn_id", [](R* r) { r->clear_txn_id(); }},
                       {"no table", "tables", [](R* r) { r->clear_tables(); }},
                   });
  R none = good;
  none.clear_tables();
  none.set_names_all(true);  // "I hold nothing": ends the pin on every table
  EXPECT_THAT(FromProto(none), IsOk());
}

TEST(AddPartitions, IsRefusedByField) {
  using R = v1::AddPartitionsRequest;
  R good;
  good.set_txn_id(4);
  SetOrders(good.mutable_table());
  good.add_partitions("order_date=2026-10-01");
  EachIsRefused<R>(good,
                   {
                       {"no transaction", "txn_id", [](R* r) { r->clear_txn_id(); }},
                       {"too many partitions",
                        "partitions",
                        [](R* r) {
                          for (int i = 0; i < 10'000; ++i) r->add_partitions("p=1");
                        }},
                       {"empty partition", "partitions[0]", [](R* r) { r->set_partitions(0, ""); }},
                       {"long partition",
                        "partitions[0]",
                        [](R* r) { r->set_partitions(0, "p=" + std::string(5000, 'x')); }},
                       {"long value",
                        "partitions[0]",
                        [](R* r) { r->set_partitions(0, "p=" + std::string(1025, 'x')); }},
                   });
}

TEST(Compactions, AreRefusedByField) {
  using R = v1::EnqueueCompactionRequest;
  R good;
  SetOrders(good.mutable_table());
  good.set_type(v1::COMPACTION_TYPE_MAJOR);
  EachIsRefused<R>(good,
                   {
                       {"no type", "type", [](R* r) { r->clear_type(); }},
                       {"bad partition", "partition", [](R* r) { r->set_partition("x"); }},
                   });
  using L = v1::ListCompactionsRequest;
  EachIsRefused<L>(
      L(),
      {
          {"partition without table", "partition", [](L* r) { r->set_partition("p=1"); }},
          {"negative page", "page_size", [](L* r) { r->set_page_size(-5); }},
      });
}

TEST(SetTableProperties, AKeyIsSetOrUnset) {
  v1::SetTablePropertiesRequest request;
  SetOrders(request.mutable_name());
  (*request.mutable_set())["a"] = "1";
  request.add_unset("b");
  EXPECT_THAT(FromProto(request), IsOk());
  request.add_unset("a");
  EXPECT_THAT(FromProto(request), HasReason(ErrorReason::kInvalidRequest));
}

TEST(Times, RoundTripToTheMillisecondAlsoBeforeTheEpoch) {
  for (const int64_t ms : {0LL, 1LL, 999LL, -1LL, -1001LL, 1'790'000'000'123LL}) {
    SCOPED_TRACE(ms);
    const Timestamp time{std::chrono::milliseconds(ms)};
    google::protobuf::Timestamp wire;
    ToProto(time, &wire);
    EXPECT_GE(wire.nanos(), 0);
    EXPECT_EQ(FromProto(wire), time);
  }
}

}  // namespace
}  // namespace skep::wire

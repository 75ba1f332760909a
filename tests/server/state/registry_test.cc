// Tables and places, request ids, and what a load refuses.

#include "server/state/registry.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/state/requests.h"
#include "tests/server/state/server.h"
#include "tests/testing/status_matchers.h"

namespace skep::state {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::skep::testing::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RequestKey Key(uint8_t n, bool repeat = false) {
  RequestKey key;
  key.id[15] = n;
  key.repeat = repeat;
  return key;
}

TEST(IsInside, GoesByPathComponents) {
  struct Case {
    const char* inner;
    const char* outer;
    bool inside;
  };
  for (const Case& c : {Case{"/w/a", "/w/a", true},
                        Case{"/w/a/b", "/w/a", true},
                        Case{"/w/ab", "/w/a", false},
                        Case{"/w", "/w/a", false},
                        Case{"/w/a", "/", true},
                        Case{"/w/a b", "/w/a", false}}) {
    SCOPED_TRACE(std::string(c.inner) + " in " + c.outer);
    EXPECT_EQ(IsInside(c.inner, c.outer), c.inside);
  }
}

TEST(CanonicalPartition, FollowsTheTablesColumns) {  // LCK-2, LCK-3
  TableRow table;
  table.name = T("a");
  table.schema.partition_columns = *ParseColumns("y int, m string");
  EXPECT_THAT(CanonicalPartition(table, "Y=2026/M=a b"), IsOkAndHolds(std::string("y=2026/m=a b")));
  for (const char* wrong : {"", "y=1", "m=1/y=1", "y=1/m=1/d=1", "y/m"}) {
    SCOPED_TRACE(wrong);
    EXPECT_THAT(CanonicalPartition(table, wrong), HasReason(ErrorReason::kInvalidRequest));
  }
  EXPECT_THAT(CanonicalPartition(table, "y=1"), HasMessage(HasSubstr("y=…/m=…")));
}

TEST(CreateTable, ChoosesTheKindByItsFormat) {
  Server server;
  EXPECT_EQ(server.Create(Server::TableOf("a"))->row.kind, TableKind::kFullAcid);
  EXPECT_EQ(server.Create(Server::TableOf("b", false, FileFormat::kParquet))->row.kind,
            TableKind::kInsertOnly);
  CreateTable outside = Server::TableOf("c");
  outside.external = true;
  EXPECT_EQ(server.Create(outside)->row.kind, TableKind::kExternal);
  server.Restart();
  EXPECT_EQ(server.state().GetTable(T("b"))->row.format, FileFormat::kParquet);
  std::vector<std::string> names;
  for (const TableInfo& info : server.state().Tables("db", "db.a", 1))
    names.push_back(info.row.name.table);
  EXPECT_THAT(names, ElementsAre("b"));
  EXPECT_EQ(server.state().Tables("", "", 10).size(), 3u);
  EXPECT_THAT(server.state().Tables("other", "", 10), IsEmpty());
}

TEST(CreateTable, RefusesNamesAndPlacesThatAreTaken) {
  struct Case {
    const char* name;
    std::string table, location;
    ErrorReason reason;
  };
  Server server;
  server.MakeTable("a");
  ASSERT_THAT(server.Do([](State& s, Now now, Unit& u) {
    return s.Reserve({T("held"), "/w/held", Key(1)}, now, u);
  }),
              IsOk());
  for (const Case& c :
       {Case{"the name", "a", "/w/else", ErrorReason::kAlreadyExists},
        Case{"the place", "b", "/w/a", ErrorReason::kLocationNotAllowed},
        Case{"inside it", "b", "/w/a/b", ErrorReason::kLocationNotAllowed},
        Case{"around it", "b", "/w", ErrorReason::kLocationNotAllowed},
        Case{"no absolute path", "b", "w/b", ErrorReason::kLocationNotAllowed},
        Case{"a name being registered", "held", "/w/else", ErrorReason::kAlreadyExists},
        Case{"a place being registered", "b", "/w/held", ErrorReason::kLocationNotAllowed}}) {
    SCOPED_TRACE(c.name);
    CreateTable command = Server::TableOf(c.table);
    command.location = c.location;
    EXPECT_THAT(server.Create(command), HasReason(c.reason));
  }
  CreateTable beside = Server::TableOf("b");
  beside.location = "/w/ab";
  EXPECT_THAT(server.Create(beside), IsOk());
  server.state().DropReservation(T("held"));
  EXPECT_THAT(server.Create(Server::TableOf("held")), IsOk());
}

TEST(CreateTable, RefusesWhatIsNoTable) {
  Server server;
  CreateTable empty = Server::TableOf("a");
  empty.schema.columns.clear();
  EXPECT_THAT(server.Create(empty), HasReason(ErrorReason::kInvalidRequest));
  CreateTable twice = Server::TableOf("a");
  twice.schema.partition_columns = *ParseColumns("id string");
  EXPECT_THAT(server.Create(twice), HasReason(ErrorReason::kInvalidRequest));
  CreateTable plain = Server::TableOf("a");
  plain.properties["Transactional"] = "FALSE";
  EXPECT_THAT(server.Create(plain), HasReason(ErrorReason::kNotSupported));
  plain.external = true;
  EXPECT_THAT(server.Create(plain), IsOk());
}

TEST(Register, TakesItsReservationAndRefusesImpossibleIds) {
  Server server;
  ASSERT_THAT(server.Do([](State& s, Now now, Unit& u) {
    return s.Reserve({T("a"), "/w/a", Key(1)}, now, u);
  }),
              IsOk());
  EXPECT_THAT(server.Do([](State& s, Now now, Unit& u) {
    return s.Reserve({T("a"), "/w/b", Key(2)}, now, u);
  }),
              HasReason(ErrorReason::kAlreadyExists));
  RegisterTable command;
  command.name = T("a");
  command.location = "/w/a";
  command.schema.columns = *ParseColumns("id bigint");
  command.schema.partition_columns = *ParseColumns("p string");
  command.highest_write_id = WriteId(7);
  command.aborted_write_ids = {8};
  command.request = Key(1);
  EXPECT_THAT(server.Register(command), HasReason(ErrorReason::kInvalidRequest));
  command.aborted_write_ids = {2, 7};
  command.partitions = {"P=1"};
  const auto info = server.Register(command);
  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->partitions, 1);
  EXPECT_EQ(info->row.next_write_id, WriteId(8));
  EXPECT_TRUE(server.stored().partitions.contains({info->row.id, "p=1"}));
  EXPECT_EQ(server.stored().aborted_write_ids.size(), 2u);
  EXPECT_THAT(server.Do([](State& s, Now now, Unit& u) {
    return s.Reserve({T("a"), "/w/a", Key(1, true)}, now, u);
  }),
              IsOk())
      << "the repeat of what is done goes on to its answer";
  command.request.repeat = true;
  EXPECT_EQ(server.Register(command)->row.id, info->row.id);
  command.asked = "another list of write ids";
  EXPECT_THAT(server.Register(command), HasReason(ErrorReason::kRequestIdReused));
}

// A counter at the end of its range would come round to negative ids.
TEST(Register, TakesNoIdsThatLeaveNoRoomToCountOn) {
  Server server;
  RegisterTable command;
  command.name = T("a");
  command.location = "/w/a";
  command.schema.columns = *ParseColumns("id bigint");
  command.highest_write_id = WriteId(kMaxForeignId + 1);
  EXPECT_THAT(server.Register(command), HasReason(ErrorReason::kInvalidRequest));
  command.highest_write_id = WriteId(kMaxForeignId);
  command.adopted_txn_bound = TxnId(INT64_MAX);
  EXPECT_THAT(server.Register(command), HasReason(ErrorReason::kInvalidRequest));
  command.adopted_txn_bound = TxnId(kMaxForeignId);
  EXPECT_THAT(server.Register(command), IsOk());
  EXPECT_EQ(server.Open().value(), kMaxForeignId + 1);
}

TEST(Reserve, TellsARepeatThatItsFirstAttemptIsUnderWay) {
  Server server;
  const auto reserve = [&](RequestKey key) {
    return server.Do([&](State& s, Now now, Unit& u) {
      return s.Reserve({T("a"), "/w/a", key}, now, u);
    });
  };
  ASSERT_THAT(reserve(Key(1)), IsOk());
  EXPECT_THAT(reserve(Key(1)), HasReason(ErrorReason::kStoreBusy));
  EXPECT_THAT(reserve(Key(1, true)), HasReason(ErrorReason::kStoreBusy)) << "not expired";
  EXPECT_THAT(reserve(Key(2)), HasReason(ErrorReason::kAlreadyExists));
  CreateTable create = Server::TableOf("a");
  create.request = Key(1);
  server.state().DropReservation(T("a"));
  ASSERT_THAT(server.Create(create), IsOk());
  EXPECT_THAT(reserve(Key(1, true)), HasReason(ErrorReason::kRequestIdReused))
      << "the creation's record answers, not a registration's";
}

TEST(SetProperties, SetsAndUnsets) {
  Server server;
  server.MakeTable("a");
  const auto set = [&](Properties properties, std::vector<std::string> unset) {
    return server.Do([&](State& s, Now now, Unit& u) {
      return s.SetProperties(T("a"), properties, unset, now, u);
    });
  };
  ASSERT_THAT(set({{"x", "1"}, {"y", "2"}}, {}), IsOk());
  ASSERT_THAT(set({{"y", "3"}}, {"x"}), IsOk());
  server.Restart();
  EXPECT_EQ(server.state().GetTable(T("a"))->row.properties, (Properties{{"y", "3"}}));
  const CommitSeq before = server.stored().counters.seq;
  ASSERT_THAT(set({{"y", "3"}}, {}), IsOk());
  EXPECT_EQ(server.stored().counters.seq, before) << "no change, no unit";
  EXPECT_THAT(set({{"transactional", "false"}}, {}), HasReason(ErrorReason::kNotSupported));
  EXPECT_THAT(set({{"transactional_properties", "insert_only"}}, {}),
              HasReason(ErrorReason::kOperationNotAllowed));
}

// ---- request ids (R-25) ----

TEST(Requests, AnswerARepeatWithWhatTheyMade) {
  for (const bool restart : {false, true}) {
    SCOPED_TRACE(restart);
    Server server;
    server.MakeTable("a");
    OpenTxns open;
    open.count = 2;
    open.request = Key(1);
    const auto first = server.TryOpen(open);
    ASSERT_THAT(first, IsOk());
    AcquireLocks lock;
    lock.txn = first->first;
    lock.components = {OnTable("a", LockKind::kSharedRead)};
    lock.request = Key(2);
    const auto ask = [&] {
      return server.Do([&](State& s, Now now, Unit& u) { return s.Lock(lock, now, u); });
    };
    const auto locked = ask();
    CreateTable create = Server::TableOf("b");
    create.request = Key(3);
    const auto created = server.Create(create);
    EnqueueCompaction enqueue;
    enqueue.table = T("a");
    enqueue.request = Key(4);
    const auto put = [&] {
      return server.Do([&](State& s, Now now, Unit& u) { return s.Enqueue(enqueue, now, u); });
    };
    const auto enqueued = put();
    if (restart) server.Restart();
    const StoredState before = server.stored();
    for (auto* request : {&open.request, &lock.request, &create.request, &enqueue.request})
      request->repeat = true;
    const auto again = server.TryOpen(open);
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ(again->first, first->first);
    EXPECT_EQ(again->count, 2);
    EXPECT_EQ(again->snapshot_seq, first->snapshot_seq);
    EXPECT_EQ(again->timeout, first->timeout);
    EXPECT_EQ(ask()->lock, locked->lock);
    EXPECT_EQ(server.Create(create)->row.id, created->row.id);
    EXPECT_EQ(put()->id, enqueued->id);
    EXPECT_TRUE(put()->accepted);
    EXPECT_EQ(server.stored() == before, true) << "and made nothing";
  }
}

TEST(Requests, OfAnotherContentAreRefused) {
  Server server;
  OpenTxns open;
  open.request = Key(1);
  ASSERT_THAT(server.TryOpen(open), IsOk());
  open.agent = "another";
  EXPECT_THAT(server.TryOpen(open), HasReason(ErrorReason::kRequestIdReused));
  CreateTable create = Server::TableOf("b");
  create.request = Key(1);
  EXPECT_THAT(server.Create(create), HasReason(ErrorReason::kRequestIdReused));
}

TEST(Requests, ThatAreRepeatedAndUnknownMakeNothing) {
  Server server;
  server.MakeTable("a");
  OpenTxns open;
  open.request = Key(1, true);
  EXPECT_THAT(server.TryOpen(open), HasReason(ErrorReason::kRequestIdExpired));
  CreateTable create = Server::TableOf("b");
  create.request = Key(2, true);
  EXPECT_THAT(server.Create(create), HasReason(ErrorReason::kRequestIdExpired));
  EnqueueCompaction enqueue;
  enqueue.table = T("a");
  enqueue.request = Key(3, true);
  EXPECT_THAT(server.Do([&](State& s, Now now, Unit& u) { return s.Enqueue(enqueue, now, u); }),
              HasReason(ErrorReason::kRequestIdExpired));
  EXPECT_THAT(server.stored().txns, IsEmpty());
  EXPECT_EQ(server.stored().tables.size(), 1u);
}

TEST(Requests, DoNotBringADroppedTableBack) {  // another client dropped it meanwhile
  Server server;
  CreateTable create = Server::TableOf("a");
  create.request = Key(1);
  ASSERT_THAT(server.Create(create), IsOk());
  ASSERT_THAT(server.DropTable("a"), IsOk());
  create.request.repeat = true;
  EXPECT_THAT(server.Create(create), HasReason(ErrorReason::kNoSuchTable));
  EXPECT_THAT(server.stored().tables, IsEmpty());
}

TEST(Requests, LiveInABoundedRingThatSparesTheLiving) {
  Options options;
  options.request_ring = 4;
  Server server(options);
  OpenTxns open;
  const auto with = [&](uint8_t n, bool repeat) {
    open.request = Key(n, repeat);
    return server.TryOpen(open);
  };
  const auto living = with(1, false);
  ASSERT_THAT(living, IsOk());
  for (uint8_t n = 2; n <= 9; ++n) {
    const auto opened = with(n, false);
    ASSERT_THAT(opened, IsOk());
    ASSERT_THAT(server.Commit(opened->first), IsOk());
  }
  EXPECT_EQ(server.stored().requests.size(), 4u);
  server.Restart();
  const auto again = with(1, true);
  ASSERT_THAT(again, IsOk()) << "its transaction is open";
  EXPECT_EQ(again->first, living->first);
  EXPECT_THAT(with(9, true), IsOk()) << "the newest are there";
  EXPECT_THAT(with(2, true), HasReason(ErrorReason::kRequestIdExpired));
}

// One look-up stays one look-up, wherever clients put what tells their ids apart.
TEST(RequestIds, SpreadWhicheverOfTheirBytesDiffer) {
  for (size_t byte = 0; byte + 1 < 16; ++byte) {
    SCOPED_TRACE(byte);
    std::set<size_t> buckets;
    std::array<uint8_t, 16> id{7, 7, 7};
    for (int number = 0; number < 4'096; ++number) {
      id[byte] = static_cast<uint8_t>(number >> 8);
      id[byte + 1] = static_cast<uint8_t>(number);
      buckets.insert(RequestIdHash()(id) % 4'093);
    }
    // So many balls in so many boxes leave a third of the boxes empty.
    EXPECT_GT(buckets.size(), 2'400u);
  }
}

TEST(Fingerprint, TellsContentsApart) {
  const auto of = [](std::string_view a, std::string_view b) {
    return Fingerprint().Add(a).Add(b).value();
  };
  EXPECT_EQ(of("a", "b"), of("a", "b"));
  EXPECT_NE(of("a", "b"), of("b", "a"));
  EXPECT_NE(of("ab", ""), of("a", "b"));
  // Stored in every request row: must never change.
  EXPECT_EQ(Fingerprint().value(), -3750763034362895579);
  EXPECT_EQ(Fingerprint().Add(int64_t{1}).Add("x").value(),
            Fingerprint().Add(int64_t{1}).Add("x").value());
}

// ---- load ----

// What a start requires before it loads: of what the rules leave every contradiction is seen.
TEST(Load, IsNotReachedByAStoreThatContradictsItself) {
  using Spoil = std::function<void(StoredState&)>;
  const std::vector<std::pair<const char*, Spoil>> cases = {
      {"a transaction above the counter", [](StoredState& s) { s.counters.next_txn = TxnId(1); }},
      {"a transaction from the future", [](StoredState& s) { s.counters.seq = CommitSeq(); }},
      {"a write id without table", [](StoredState& s) { s.tables.clear(); }},
      {"a write id without transaction",
       [](StoredState& s) {
         s.txns.clear();
         s.components.clear();
         s.locks.clear();
       }},
      {"a write id above the counter",
       [](StoredState& s) { s.tables.begin()->second.next_write_id = WriteId(1); }},
      {"components without transaction",
       [](StoredState& s) {
         s.txns.clear();
         s.write_ids.clear();
         s.locks.clear();
       }},
      {"a lock without transaction",
       [](StoredState& s) {
         s.txns.clear();
         s.write_ids.clear();
         s.components.clear();
       }},
      {"a lock above the counter", [](StoredState& s) { s.counters.next_lock = LockId(1); }},
      {"a compaction above the counter",
       [](StoredState& s) { s.counters.next_compaction = CompactionId(1); }},
      {"granted locks that conflict",
       [](StoredState& s) {
         LockRow row = s.locks.begin()->second;
         row.lock = LockId(2);
         row.txn = TxnId();
         s.locks[{row.lock, 1}] = row;
         s.counters.next_lock = LockId(3);
       }},
  };
  Server server;
  server.MakeTable("a");
  const TxnId txn = server.Open();
  ASSERT_THAT(server.Allocate(txn, T("a")), IsOk());
  ASSERT_THAT(server.Lock(txn, {OnTable("a", LockKind::kExclusive, WriteOp::kUpdate)}), IsOk());
  ASSERT_THAT(server.Enqueue("a"), IsOk());
  ASSERT_THAT(meta::RequireSound(server.stored()), IsOk());
  for (const auto& [name, spoil] : cases) {
    SCOPED_TRACE(name);
    StoredState spoiled = server.stored();
    spoil(spoiled);
    EXPECT_THAT(meta::RequireSound(spoiled), HasReason(ErrorReason::kCorruptStore));
  }
}

}  // namespace
}  // namespace skep::state

// Opening, ending and keeping alive: scenarios S001 to S047.

#include <gmock/gmock.h>

#include "tests/conformance/txn/world.h"

namespace skep::conformance {
namespace {

using ::testing::ElementsAre;
using testing::HasReason;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::SizeIs;

class TxnScenarios : public World {};

TEST_F(TxnScenarios, S001AFreshStoreIsEmpty) {
  const List list = TxnListOf(0);
  EXPECT_EQ(list.high, 0);
  EXPECT_THAT(list.open, IsEmpty());
  EXPECT_THAT(Listed(), IsEmpty());
}

TEST_F(TxnScenarios, S002OpenOnesAreListedWithTheirOwners) {  // OPN-9
  EXPECT_EQ(Open(), 1);
  EXPECT_EQ(Open(), 2);
  const std::vector<v1::Transaction> listed = Listed();
  ASSERT_THAT(listed, SizeIs(2));
  for (const v1::Transaction& txn : listed) {
    EXPECT_EQ(txn.state(), v1::TRANSACTION_STATE_OPEN);
    EXPECT_EQ(txn.user(), "me");
    EXPECT_EQ(txn.host(), "localhost");
  }
  EXPECT_EQ(TxnListOf(0).high, 2);
  EXPECT_THAT(TxnListOf(0).open, ElementsAre(1, 2));
}

TEST_F(TxnScenarios, S004CommittedOnesAreNotListed) {
  OpenMany(3);
  ASSERT_THAT(Abort(1), IsOk());
  ASSERT_THAT(Commit(2), IsOk());
  const std::vector<v1::Transaction> listed =
      Listed({v1::TRANSACTION_STATE_OPEN, v1::TRANSACTION_STATE_ABORTED});
  ASSERT_THAT(listed, SizeIs(2));
  EXPECT_EQ(listed[0].txn_id(), 1);
  EXPECT_EQ(listed[0].state(), v1::TRANSACTION_STATE_ABORTED);
  EXPECT_EQ(listed[1].txn_id(), 3);
  EXPECT_EQ(TxnListOf(0).high, 3);
}

// OPN-15.
TEST_F(TxnScenarios, S005TheFirstIdIsOne) { EXPECT_EQ(Open(), 1); }

// Ids have no gaps here: what was given out is open until it ends, however long ago it was opened.
TEST_F(TxnScenarios, S007NoIdBetweenTwoOthersIsEverMissing) {
  const std::vector<int64_t> old = OpenMany(1);
  Pass(seconds(2));
  const std::vector<int64_t> young = OpenMany(2);
  EXPECT_THAT(TxnListOf(0).open, ElementsAre(old[0], young[0], young[1]));
}

TEST_F(TxnScenarios, S008ACommittedOneIsNoGap) {
  ASSERT_THAT(Commit(Open()), IsOk());
  OpenMany(2);
  EXPECT_THAT(TxnListOf(0).open, ElementsAre(2, 3));
}

class FewOpen : public World {
 protected:
  FewOpen() : World(Few()) {}
  static state::Options Few() {
    state::Options options;
    options.max_open_txns = 3;
    return options;
  }
};

TEST_F(FewOpen, S010TheLimitRefusesUntilThereIsRoom) {
  const std::vector<int64_t> txns = OpenMany(3);
  v1::OpenTransactionsRequest one;
  one.set_user("me");
  const auto refused =
      Ask<v1::OpenTransactionsResponse>("/skep.v1.TransactionService/OpenTransactions", one);
  EXPECT_THAT(refused, HasReason(ErrorReason::kTooManyOpenTxns));
  EXPECT_EQ(MetadataOf(refused.status())["holders"], "me (3)") << "Skep says who holds them";
  for (const int64_t txn : txns) ASSERT_THAT(Commit(txn), IsOk());
  EXPECT_GT(Open(), 0);
}

// READ_ONLY transactions are listed here (TYP-3): nothing hangs on it, they write nothing.
TEST_F(TxnScenarios, S011AReadOnlyOneIsListedAndHarmless) {
  const int64_t reader = Open(v1::TRANSACTION_TYPE_READ_ONLY);
  OpenMany(2);
  ASSERT_THAT(Abort(2), IsOk());
  ASSERT_THAT(Commit(3), IsOk());
  const int64_t asker = Open();
  const List list = TxnListOf(asker);
  EXPECT_FALSE(list.Sees(reader));
  EXPECT_FALSE(list.Sees(2));
  EXPECT_TRUE(list.Sees(3));
  EXPECT_TRUE(list.Sees(asker));
}

TEST_F(TxnScenarios, S013AnOpenOneSeesItselfAndNothingLater) {
  OpenMany(2);
  ASSERT_THAT(Abort(1), IsOk());
  ASSERT_THAT(Commit(2), IsOk());
  const int64_t asker = Open();
  const int64_t later = Open();
  const List list = TxnListOf(asker);
  EXPECT_FALSE(list.Sees(1));
  EXPECT_TRUE(list.Sees(2));
  EXPECT_TRUE(list.Sees(asker));
  EXPECT_FALSE(list.Sees(later));
}

TEST_F(TxnScenarios, S014TheTypeIsStored) {
  const int64_t txn = Open(v1::TRANSACTION_TYPE_READ_ONLY);
  EXPECT_EQ(stored().txns.at(TxnId(txn)).type, TxnType::kReadOnly);
  Restart();
  ASSERT_THAT(Listed(), SizeIs(1));
  EXPECT_EQ(Listed()[0].type(), v1::TRANSACTION_TYPE_READ_ONLY);
}

class Replication : public World {
 protected:
  std::vector<v1::ReplicatedTransaction> OpenFor(std::vector<int64_t> sources) {
    v1::OpenTransactionsRequest request;
    request.set_user("repl");
    request.set_type(v1::TRANSACTION_TYPE_REPL_CREATED);
    request.set_replication_policy("default.*");
    request.mutable_source_txn_ids()->Add(sources.begin(), sources.end());
    const auto answer =
        Ask<v1::OpenTransactionsResponse>("/skep.v1.TransactionService/OpenTransactions", request);
    EXPECT_THAT(answer, IsOk());
    return {answer->replicated().begin(), answer->replicated().end()};
  }
  absl::StatusOr<v1::CommitTransactionResponse> CommitFor(int64_t source) {
    v1::CommitTransactionRequest request;
    request.set_replication_policy("default.*");
    request.set_source_txn_id(source);
    return Ask<v1::CommitTransactionResponse>("/skep.v1.TransactionService/CommitTransaction",
                                              request);
  }
  absl::StatusOr<v1::AbortTransactionsResponse> AbortFor(int64_t source) {
    v1::AbortTransactionsRequest request;
    request.set_replication_policy("default.*");
    request.add_source_txn_ids(source);
    return Ask<v1::AbortTransactionsResponse>("/skep.v1.TransactionService/AbortTransactions",
                                              request);
  }
};

// Lists show every type; a client that wants to leave one out looks at ListTransactions.
TEST_F(Replication, S016AReplicatedOneIsListedUntilItsSourceCommits) {
  const int64_t txn = OpenFor({1})[0].txn_id();
  const int64_t own = Open();
  EXPECT_FALSE(TxnListOf(own).Sees(txn));
  v1::ListTransactionsRequest request;
  request.set_replication_policy("default.*");
  const auto listed =
      Ask<v1::ListTransactionsResponse>("/skep.v1.TransactionService/ListTransactions", request);
  ASSERT_THAT(listed, IsOk());
  ASSERT_EQ(listed->transactions_size(), 1);
  EXPECT_EQ(listed->transactions(0).source_txn_id(), 1);
  ASSERT_THAT(CommitFor(1), IsOk());
  EXPECT_TRUE(TxnListOf(0).Sees(txn));
  EXPECT_FALSE(TxnListOf(own).Sees(txn)) << "a list is that of its snapshot";
}

TEST_F(TxnScenarios, S017AnAbortIsSilentOnlyOfWhatIsAborted) {
  Table("default.t");
  OpenMany(3);
  ASSERT_THAT(Abort(1), IsOk());
  EXPECT_THAT(Allocate(3, "default.t"), IsOkAndHolds(1));
  ASSERT_THAT(Commit(2), IsOk());
  const v1::AbortTransactionsResponse answer = AbortAll({1, 2});
  EXPECT_THAT(answer.aborted(), ElementsAre(1));
  EXPECT_THAT(answer.already_committed(), ElementsAre(2));
  EXPECT_EQ(StateOf(3), v1::TRANSACTION_STATE_OPEN);
}

// An outcome is kept for ever: Hive forgets a committed one that wrote nothing.
TEST_F(TxnScenarios, S019NoOutcomeIsForgotten) {
  OpenMany(3);
  ASSERT_THAT(Abort(1), IsOk());
  ASSERT_THAT(Commit(2), IsOk());
  ASSERT_THAT(Commit(3), IsOk());
  Pass(std::chrono::hours(24 * 30));
  Restart();
  EXPECT_THAT(AbortAll({2, 4}).already_committed(), ElementsAre(2));
  EXPECT_THAT(AbortAll({2, 4}).not_found(), ElementsAre(4));
  EXPECT_THAT(Commit(2), IsOk()) << "CMT-4 at any age";
}

TEST_F(TxnScenarios, S020AnIdThatNeverWasIsUnknown) {
  EXPECT_THAT(AbortAll({195}).not_found(), ElementsAre(195));
}

class CommitProperties : public World {
 protected:
  absl::Status CommitWith(int64_t txn, const std::string& table, const std::string& key) {
    v1::CommitTransactionRequest request;
    request.set_txn_id(txn);
    v1::CommitProperty* const property = request.add_properties();
    *property->mutable_table() = NameOf(table);
    property->set_key(key);
    property->set_value("myvalue");
    return Ask<v1::CommitTransactionResponse>("/skep.v1.TransactionService/CommitTransaction",
                                              request)
        .status();
  }
  std::string Property(const std::string& table, const std::string& key) {
    v1::GetTableRequest request;
    *request.mutable_name() = NameOf(table);
    const auto answer = Ask<v1::GetTableResponse>("/skep.v1.TableService/GetTable", request);
    EXPECT_THAT(answer, IsOk());
    const auto& properties = answer->table().properties();
    const auto found = properties.find(key);
    return found == properties.end() ? "" : found->second;
  }
};

// The parameter need not exist before: a commit sets it (Hive: it must)., STR-4
TEST_F(CommitProperties, S022APropertyIsSetWithTheCommit) {  // CMT-18, STR-6
  Table("default.t");
  const int64_t txn = Open();
  ASSERT_THAT(CommitWith(txn, "default.t", "_metamykey"), IsOk());
  EXPECT_EQ(Property("default.t", "_metamykey"), "myvalue");
  Restart();
  EXPECT_EQ(Property("default.t", "_metamykey"), "myvalue");
}

TEST_F(CommitProperties, S023APropertyThatCannotBeSetLeavesTheTransactionUsable) {
  Table("default.t");
  const int64_t txn = Open();
  EXPECT_THAT(CommitWith(txn, "default.none", "_metamykey"), HasReason(ErrorReason::kNoSuchTable));
  EXPECT_THAT(CommitWith(txn, "default.t", "mykey"), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_EQ(StateOf(txn), v1::TRANSACTION_STATE_OPEN);
  EXPECT_THAT(Commit(txn), IsOk());
  EXPECT_EQ(Property("default.t", "_metamykey"), "");
}

TEST_F(TxnScenarios, S025ASilentOneIsAbortedAtItsCommit) {
  const int64_t txn = Open();
  Pass(kLease + milliseconds(1));
  const absl::Status refused = Commit(txn);
  EXPECT_THAT(refused, HasReason(ErrorReason::kTxnAborted));
  EXPECT_EQ(MetadataOf(refused)["cause"], "timeout");
}

TEST_F(TxnScenarios, S026ExpiredOnesAreListedAsAbortedAndMayBeAbortedAgain) {
  OpenMany(2);
  Pass(kLease + seconds(60));
  EXPECT_THAT(Listed({v1::TRANSACTION_STATE_ABORTED}), SizeIs(2));
  EXPECT_EQ(TxnListOf(0).high, 2);
  EXPECT_THAT(Abort(2), IsOk());
}
// WID-13.

TEST_F(TxnScenarios, S028WhatIsRolledBackIsNotSeen) {
  Table("default.t");
  const int64_t txn = Open();
  ASSERT_THAT(Allocate(txn, "default.t"), IsOkAndHolds(1));
  ASSERT_THAT(Abort(txn), IsOk());
  EXPECT_FALSE(ListOf(Open(), "default.t").Sees(1));
// WSN-6.
}

TEST_F(TxnScenarios, S029AnOwnInsertIsSeenBeforeAndAfterTheCommit) {
  Table("default.t");
  const int64_t txn = Open();
  EXPECT_EQ(ListOf(txn, "default.t").high, 0);
  ASSERT_THAT(Allocate(txn, "default.t"), IsOkAndHolds(1));
  EXPECT_TRUE(ListOf(txn, "default.t").Sees(1)) << "R-28: a field of its own";
  EXPECT_EQ(ListOf(txn, "default.t").high, 0) << "R-1: the list itself is that of the snapshot";
  EXPECT_FALSE(ListOf(Open(), "default.t").Sees(1));
  ASSERT_THAT(Commit(txn, {"default.t:I"}), IsOk());
  EXPECT_TRUE(ListOf(Open(), "default.t").Sees(1));
}

TEST_F(TxnScenarios, S031TwoInsertsOfOneTransactionShareAWriteId) {
  Table("default.t");
  const int64_t txn = Open();
  EXPECT_THAT(Allocate(txn, "default.t"), IsOkAndHolds(1));
  EXPECT_THAT(Allocate(txn, "default.t"), IsOkAndHolds(1));
}

TEST_F(TxnScenarios, S032AHeartbeatTellsThatItIsAborted) {
  const int64_t txn = Open();
  ASSERT_THAT(Abort(txn), IsOk());
  const auto beat = Beat({txn});
  ASSERT_EQ(beat.aborted_size(), 1);
  EXPECT_EQ(beat.aborted(0).txn_id(), txn);
}

TEST_F(TxnScenarios, S034AnUnknownLockIsNamed) {
  EXPECT_THAT(Beat({}, {29389839}).locks_not_found(), ElementsAre(29389839));
}

TEST_F(TxnScenarios, S035ABeatingLockLives) {
  Table("mydb.t");
  const Locked lock = Lock(0, {"EX mydb.t"});
  ASSERT_EQ(lock.state, kAcquired);
  for (int i = 0; i < 30; ++i) {
    Pass(kLease / 2);
    ASSERT_THAT(Beat({}, {lock.id}).locks_not_found(), IsEmpty()) << "beat " << i;
  }
}

TEST_F(TxnScenarios, S037AllThatAreOverdueEndInOnePass) {
  OpenMany(503);
  Pass(kLease + seconds(31));
  EXPECT_THAT(Listed(), IsEmpty());
  EXPECT_THAT(Listed({v1::TRANSACTION_STATE_ABORTED}), SizeIs(503));
}

TEST_F(Replication, S038ReplicatedOnesHaveALeaseOfTheirOwn) {
  const std::vector<int64_t> ordinary = OpenMany(3);
  const auto replicated = OpenFor({11, 12, 13});
  Pass(kLease + seconds(31));
  for (const int64_t txn : ordinary) EXPECT_EQ(StateOf(txn), v1::TRANSACTION_STATE_ABORTED);
  for (const auto& txn : replicated) EXPECT_EQ(StateOf(txn.txn_id()), v1::TRANSACTION_STATE_OPEN);
}

// By a list of ids, not by a range: foreign ids between are left alone (HBT-5).
TEST_F(TxnScenarios, S040AHeartbeatOfManySortsThem) {
  OpenMany(3);
  ASSERT_THAT(Abort(3), IsOk());
  const auto beat = Beat({1, 2, 3});
  ASSERT_EQ(beat.aborted_size(), 1);
  EXPECT_EQ(beat.aborted(0).txn_id(), 3);
  EXPECT_THAT(beat.not_found(), IsEmpty());
}

TEST_F(TxnScenarios, S041AHeartbeatOfManyRenewsEach) {
  OpenMany(3);
  Pass(seconds(200));
  const auto beat = Beat({1, 2, 3});
  EXPECT_THAT(beat.aborted(), IsEmpty());
  EXPECT_THAT(beat.not_found(), IsEmpty());
  for (const v1::Transaction& txn : Listed()) {
    EXPECT_EQ(txn.last_heartbeat_time().seconds() - txn.open_time().seconds(), 200);
  }
}

TEST_F(TxnScenarios, S043ABeatingOneCommitsAfterTheReaper) {
  Table("default.t");
  const int64_t txn = Open();
  ASSERT_EQ(LockState(txn, "SR default.t"), kAcquired);
  for (int i = 0; i < 4; ++i) {
    Beat({txn});
    Pass(kLease - seconds(1));
  }
  EXPECT_THAT(Commit(txn), IsOk());
}

TEST_F(TxnScenarios, S044AFirstBeatAtHalfTheLeaseIsInTime) {
  const int64_t txn = Open();
  Pass(kLease / 2);
  Beat({txn});
  Pass(kLease);
  EXPECT_THAT(Commit(txn), IsOk()) << "TMO-6: exactly as old as the lease is not over";
}

// Commit and abort by source succeed without effect, and the answer says that nothing was done.
TEST_F(Replication, S046ATimedOutOneIsGoneForItsSourceToo) {
  const int64_t txn = OpenFor({5})[0].txn_id();
  Pass(std::chrono::hours(24 * 11) + seconds(31));
  EXPECT_EQ(StateOf(txn), v1::TRANSACTION_STATE_ABORTED);
  const auto committed = CommitFor(5);
  ASSERT_THAT(committed, IsOk());
  EXPECT_TRUE(committed->unknown_source());
  const auto aborted = AbortFor(5);
  ASSERT_THAT(aborted, IsOk());
  EXPECT_EQ(aborted->aborted_size(), 0);
// HBT-4, TMO-7.
  EXPECT_EQ(CauseOf(txn), v1::ABORT_CAUSE_TIMEOUT);
}

TEST_F(TxnScenarios, S047LocksLiveWithTheirBeatingTransaction) {
  Table("default.t");
  const int64_t txn = Open();
  ASSERT_EQ(LockState(txn, "SR default.t"), kAcquired);
  for (int i = 0; i < 6; ++i) {
    Pass(kLease / 2);
    Beat({txn});
  }
  ASSERT_THAT(Locks(), SizeIs(1));
  EXPECT_GT(Locks()[0].last_heartbeat_time().seconds(), Locks()[0].request_time().seconds());
  ASSERT_THAT(Abort(txn), IsOk());
  EXPECT_THAT(Locks(), IsEmpty());
}

}  // namespace
}  // namespace skep::conformance

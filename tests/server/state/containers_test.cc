// The containers of the hot path against plain ones.

#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/state/by_age.h"
#include "server/state/components.h"
#include "server/state/id_map.h"
#include "server/state/shared_names.h"
#include "server/state/txn_table.h"
#include "storage/model/ids.h"

namespace skep::state {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Note {
  TableId table;
  std::string partition;
  int value = 0;
};

std::vector<std::string> Names(const ByAge<Note>& notes) {
  std::vector<std::string> names;
  for (const Note& note : notes.records()) {
    names.push_back(note.table.ToString() + "/" + note.partition);
  }
  return names;
}

TEST(ByAge, TheTouchedOneIsTheYoungest) {
  ByAge<Note> notes;
  for (const char* partition : {"a", "b", ""}) notes.Touch(TableId(1), partition).value = 7;
  notes.Touch(TableId(2), "a");
  notes.Touch(TableId(1), "a");
  EXPECT_THAT(Names(notes), ElementsAre("1/b", "1/", "2/a", "1/a"));
  ASSERT_NE(notes.Find(TableId(1), "a"), nullptr);
  EXPECT_EQ(notes.Find(TableId(1), "a")->value, 7) << "touching keeps what it was";
  EXPECT_EQ(notes.Find(TableId(2), "b"), nullptr);
  EXPECT_EQ(notes.Find(TableId(3), "a"), nullptr);
}

TEST(ByAge, WhatIsPoppedOrDroppedIsNotFoundAgain) {
  ByAge<Note> notes;
  const std::string long_name(100, 'x');  // not within the string object itself
  notes.Touch(TableId(1), long_name);
  notes.Touch(TableId(2), "a");
  notes.Touch(TableId(1), "b");
  notes.PopOldest();
  EXPECT_EQ(notes.Find(TableId(1), long_name), nullptr);
  EXPECT_TRUE(notes.Knows(TableId(1)));
  notes.DropTable(TableId(1));
  notes.DropTable(TableId(9));
  EXPECT_FALSE(notes.Knows(TableId(1)));
  EXPECT_THAT(Names(notes), ElementsAre("2/a"));
  notes.PopOldest();
  EXPECT_FALSE(notes.Knows(TableId(2)));
  EXPECT_THAT(Names(notes), IsEmpty());
}

TEST(ByAge, TheYoungestComeFirstUntilTheVisitorHasEnough) {
  ByAge<Note> notes;
  for (const char* partition : {"a", "b", "c"}) notes.Touch(TableId(1), partition);
  std::vector<std::string> seen;
  notes.FromYoungest([&](const Note& note) {
    seen.push_back(note.partition);
    return note.partition != "b";
  });
  EXPECT_THAT(seen, ElementsAre("c", "b"));
}

using Map = IdMap<TxnId, std::string>;

std::vector<int64_t> Ids(const Map& map) {
  std::vector<int64_t> ids;
  for (const auto& [id, value] : map) ids.push_back(id.value());
  return ids;
}

TEST(IdMap, FindsNothingOutsideWhatItHolds) {
  Map map;
  EXPECT_EQ(map.Find(TxnId(5)), nullptr);
  EXPECT_TRUE(map.begin() == map.end());
  map.Insert(TxnId(1'000'000)) = "a";
  for (const int64_t id :
       {int64_t{-1}, int64_t{0}, int64_t{999'999}, int64_t{1'000'001}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(map.Find(TxnId(id)), nullptr) << id;
  }
  EXPECT_EQ(map.upper_bound(TxnId(INT64_MAX)), map.end());
  EXPECT_EQ(map.upper_bound(TxnId(1'000'000)), map.end());
  EXPECT_EQ(map.lower_bound(TxnId(-3))->first, TxnId(1'000'000));
}

TEST(IdMap, CostsNothingForIdsThatNobodyHas) {
  Map map;
  const int64_t far = int64_t{1} << 62;
  map.Insert(TxnId(3)) = "old";
  map.Insert(TxnId(far)) = "seeded";
  EXPECT_THAT(Ids(map), ElementsAre(3, far));
  EXPECT_EQ(map.lower_bound(TxnId(4))->first, TxnId(far));
  map.Erase(TxnId(far));
  map.Insert(TxnId(far + 1)) = "next";
  EXPECT_EQ(*map.Find(TxnId(3)), "old");
  EXPECT_THAT(Ids(map), ElementsAre(3, far + 1));
}

TEST(IdMap, AnAddressHoldsUntilItsEntryGoes) {
  Map map;
  std::string* const first = &map.Insert(TxnId(1));
  *first = "first";
  for (int64_t id = 2; id < 5'000; ++id) map.Insert(TxnId(id));
  for (int64_t id = 2; id < 5'000; ++id) map.Erase(TxnId(id));
  EXPECT_EQ(map.Find(TxnId(1)), first);
  EXPECT_THAT(Ids(map), ElementsAre(1));
  map.Erase(TxnId(1));
  EXPECT_TRUE(map.empty());
  map.Insert(TxnId(9'000));
  EXPECT_THAT(Ids(map), ElementsAre(9'000));
}

TEST(IdMap, TakesIdsInAnyOrder) {
  Map map;
  for (const int64_t id : {5'000, 100, 4'999, 1, 20'000}) map.Insert(TxnId(id)) = "x";
  EXPECT_THAT(Ids(map), ElementsAre(1, 100, 4'999, 5'000, 20'000));
  for (const int64_t id : {1, 20'000, 5'000}) map.Erase(TxnId(id));
  EXPECT_THAT(Ids(map), ElementsAre(100, 4'999));
}

TEST(IdMap, DoesWhatAPlainMapDoes) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Map map;
    std::map<int64_t, std::string> plain;
    int64_t next = 1 + random() % 1000;
    for (int step = 0; step < 3'000; ++step) {
      if (random() % 100 < 55 || plain.empty()) {
        next += random() % 50 == 0 ? random() % 2'000 : 1;
        map.Insert(TxnId(next)) = plain[next] = std::to_string(next);
        ++next;
      } else {
        const bool oldest = random() % 4 != 0;
        auto it = oldest ? plain.begin() : plain.lower_bound(random() % next);
        if (it == plain.end()) it = plain.begin();
        map.Erase(TxnId(it->first));
        plain.erase(it);
      }
      const int64_t probe = random() % (next + 300);
      const auto lower = plain.lower_bound(probe);
      const auto got = map.lower_bound(TxnId(probe));
      ASSERT_EQ(got == map.end(), lower == plain.end());
      if (lower != plain.end()) {
        ASSERT_EQ(got->first.value(), lower->first);
      }
      ASSERT_EQ(map.Find(TxnId(probe)) != nullptr, plain.contains(probe));
      ASSERT_EQ(map.size(), plain.size());
    }
    std::vector<int64_t> ids;
    for (const auto& [id, value] : plain) ids.push_back(id);
    EXPECT_EQ(Ids(map), ids);
  }
}

TEST(OwnWriteIds, AreOnePerTableInTheOrderOfTables) {
  OwnWriteIds ids;
  EXPECT_TRUE(ids.empty());
  EXPECT_TRUE(ids.Of(TableId(1)).is_none());
  for (const int64_t table : {7, 3, 9}) ids.Set(TableId(table), WriteId(table * 10));
  ids.Set(TableId(3), WriteId(31));
  EXPECT_EQ(ids.Of(TableId(3)), WriteId(31));
  EXPECT_TRUE(ids.Of(TableId(4)).is_none());
  EXPECT_THAT(ids.all(),
              ElementsAre(std::pair(TableId(3), WriteId(31)),
                          std::pair(TableId(7), WriteId(70)),
                          std::pair(TableId(9), WriteId(90))));
  ids.Erase(TableId(8));
  for (const int64_t table : {7, 3, 9}) ids.Erase(TableId(table));
  EXPECT_TRUE(ids.empty());
  EXPECT_THAT(ids.all(), IsEmpty());
}

// What a plain map of rows would hold.
using PlainComponents = std::map<std::tuple<TableId, std::string, WriteOp>, bool>;

std::vector<ComponentRow> RowsOf(const PlainComponents& plain) {
  std::vector<ComponentRow> rows;
  for (const auto& [key, dynamic] : plain) {
    rows.push_back({TxnId(1), std::get<0>(key), std::get<1>(key), std::get<2>(key), dynamic});
  }
  return rows;
}

TEST(Components, DoWhatAPlainMapDoesWhetherFewOrMany) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const uint32_t names = seed % 2 == 0 ? 3 : 60;
    Components components;
    PlainComponents plain;
    for (int step = 0; step < 300; ++step) {
      const TableId table(1 + random() % 3);
      if (random() % 20 == 0) {
        PlainComponents taken;
        for (const auto& [key, dynamic] : plain) {
          if (dynamic && std::get<0>(key) == table) taken[key] = true;
        }
        std::erase_if(plain, [&](const auto& entry) { return taken.contains(entry.first); });
        ASSERT_EQ(components.TakeDynamic(TxnId(1), table), RowsOf(taken));
      } else {
        const uint32_t name = random() % names;
        const ComponentRow row{TxnId(1),
                               table,
                               name == 0 ? "" : "p=" + std::to_string(name),
                               static_cast<WriteOp>(random() % 3),
                               random() % 3 == 0};
        const auto [it, is_new] = plain.try_emplace({table, row.partition, row.op}, row.dynamic);
        const bool replaces = !is_new && it->second && !row.dynamic;
        if (replaces) it->second = false;
        ASSERT_EQ(components.Add(row), is_new || replaces);
      }
      ASSERT_EQ(components.Rows(TxnId(1)), RowsOf(plain));
      ASSERT_EQ(components.empty(), plain.empty());
      for (int64_t id = 1; id <= 4; ++id) {
        const auto at = plain.lower_bound({TableId(id), "", WriteOp::kInsert});
        ASSERT_EQ(components.Names(TableId(id)),
                  at != plain.end() && std::get<0>(at->first) == TableId(id));
      }
    }
  }
}

TEST(Interned, KeepsOneCopyAsLongAsSomebodyHoldsIt) {
  Clients clients;
  ClientRef ada = clients.Get({"ada", "host", "etl"});
  const ClientRef same = clients.Get({"ada", "host", "etl"});
  EXPECT_EQ(&*ada, &*same);
  EXPECT_EQ(same->user + same->host + same->agent, "adahostetl");
  EXPECT_NE(&*ada, &*clients.Get({"ada", "hoste", "tl"})) << "fields are not run together";
  EXPECT_EQ(ClientRef()->user, "");
  ada = ClientRef();
  for (int i = 0; i < 10'000; ++i) clients.Get({std::to_string(i), "h", ""});
  EXPECT_LT(clients.size(), 200u) << "what nobody holds goes";
  EXPECT_EQ(&*same, &*clients.Get({"ada", "host", "etl"}));
}

}  // namespace
}  // namespace skep::state

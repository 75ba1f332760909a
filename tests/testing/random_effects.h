#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/random.h"
#include "storage/model/effect.h"

namespace skep::testing {

// Units of effects without any sense in them: every kind of effect, over few keys, so that puts,
// erases and range erases of the same rows meet within and across units. The same seed gives the
// same units.
class RandomEffects {
 public:
  explicit RandomEffects(uint64_t seed) : random_(seed) {}

  // `size` effects and, last, the counters with the unit's sequence number: 1, 2, …
  Effects NextUnit(int size);

 private:
  int64_t Below(int64_t bound);
  bool Coin() { return Below(2) == 1; }
  template <class Id>
  Id NextId() {
    return Id(1 + Below(6));
  }
  template <class Enum>
  Enum NextEnum(int count) {
    return static_cast<Enum>(Below(count));
  }
  std::string Text();
  std::string Partition();
  Timestamp Time();
  TableName Name();
  Properties SomeProperties();
  TableSchema Schema();
  std::vector<int64_t> Ids();

  Effect NextPut(int kind);
  Effect NextErase(int kind);
  TxnRow Txn();
  TableRow Table();
  ComponentRow Component();
  WriteMarkRow WriteMark();
  LockRow Lock();
  CompactionRow Compaction();
  RequestRow Request();

  SeededRandom random_;
  int64_t seq_ = 0;
};

}  // namespace skep::testing

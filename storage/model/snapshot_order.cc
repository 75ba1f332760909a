#include "storage/model/snapshot_order.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace skep {
namespace {

// A list without what makes no difference to a reader: the ids that are hidden, none of them next
// to the mark.
struct Shown {
  int64_t high = 0;
  std::vector<int64_t> hidden;

  explicit Shown(const ValidIds& ids) : high(ids.high) {
    std::merge(ids.open.begin(),
               ids.open.end(),
               ids.aborted.begin(),
               ids.aborted.end(),
               std::back_inserter(hidden));
    DropTail();
  }
  explicit Shown(const WriteIdSnapshot& list) : Shown(list.ids) {
    std::erase_if(hidden, [&](int64_t id) {
      return std::binary_search(list.own.begin(), list.own.end(), id);
    });
    for (const int64_t id : list.own) {
      for (; high < id; ++high) {
        if (high + 1 != id) hidden.push_back(high + 1);
      }
    }
    DropTail();
  }

  void DropTail() {
    while (!hidden.empty() && hidden.back() == high) {
      hidden.pop_back();
      --high;
    }
  }
};

}  // namespace

std::strong_ordering CompareShown(const ValidIds& a, const ValidIds& b) {
  const Shown left(a);
  const Shown right(b);
  const auto [l, r] = std::mismatch(
      left.hidden.begin(), left.hidden.end(), right.hidden.begin(), right.hidden.end());
  // The first id that one of them hides, by its list or by its mark, and the other one may not.
  const int64_t first_left = l != left.hidden.end() ? *l : left.high + 1;
  const int64_t first_right = r != right.hidden.end() ? *r : right.high + 1;
  if (first_left != first_right) return first_left <=> first_right;
  // The same id ends one list and is passed over by the other.
  return left.high <=> right.high;
}

bool ShowTheSame(const WriteIdSnapshot& a, const WriteIdSnapshot& b) {
  if (a.table_id != b.table_id) return false;
  const Shown left(a);
  const Shown right(b);
  return left.high == right.high && left.hidden == right.hidden;
}

}  // namespace skep

#include "storage/model/snapshot_change.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "storage/model/errors.h"

namespace skep {

namespace {

using Ids = std::vector<int64_t>;

Ids Without(const Ids& ids, const Ids& gone) {
  Ids left;
  std::set_difference(ids.begin(), ids.end(), gone.begin(), gone.end(), std::back_inserter(left));
  return left;
}

Ids With(const Ids& ids, const Ids& more) {
  Ids all;
  all.reserve(ids.size() + more.size());
  std::set_union(ids.begin(), ids.end(), more.begin(), more.end(), std::back_inserter(all));
  return all;
}

bool Contains(const Ids& ids, const Ids& some) {
  return std::includes(ids.begin(), ids.end(), some.begin(), some.end());
}

bool AscendsUpTo(const Ids& ids, int64_t high) {
  return std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end() &&
         (ids.empty() || (ids.front() > 0 && ids.back() <= high));
}

absl::Status DoesNotFit(std::string_view field) {
  return MakeError(ErrorReason::kInvalidRequest,
                   fmt::format("the change of a list does not fit the list that it is of ({}); ask "
                               "for the whole list",
                               field),
                   {{"field", std::string(field)}});
}

}  // namespace

std::optional<ValidIdsChange> ChangeBetween(const ValidIds& before, const ValidIds& after) {
  if (after.high < before.high || !Contains(after.aborted, before.aborted)) return std::nullopt;
  return ValidIdsChange{Without(after.open, before.open),
                        Without(before.open, after.open),
                        Without(after.aborted, before.aborted)};
}

absl::StatusOr<ValidIds> ApplyChange(const ValidIds& before,
                                     const ValidIdsChange& change,
                                     int64_t high) {
  if (high < before.high) return DoesNotFit("high_watermark");
  if (!AscendsUpTo(change.opened, high)) return DoesNotFit("opened");
  if (!AscendsUpTo(change.closed, high) || !Contains(before.open, change.closed)) {
    return DoesNotFit("closed");
  }
  if (!AscendsUpTo(change.aborted, high)) return DoesNotFit("aborted");
  return ValidIds{high,
                  With(Without(before.open, change.closed), change.opened),
                  With(before.aborted, change.aborted)};
}

std::vector<std::pair<int64_t, int64_t>> NewlyVisible(const WriteIdSnapshot& before,
                                                      const ValidIds& now) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  const auto add = [&ranges](int64_t first, int64_t last) {
    if (first > last) return;
    if (!ranges.empty() && ranges.back().second + 1 == first) {
      ranges.back().second = last;
    } else {
      ranges.emplace_back(first, last);
    }
  };
  const Ids hidden = With(With(now.open, now.aborted), With(before.ids.aborted, before.own));
  for (int64_t id : Without(before.ids.open, hidden)) {
    if (id <= now.high) add(id, id);
  }
  int64_t next = before.ids.high + 1;
  for (auto it = std::lower_bound(hidden.begin(), hidden.end(), next);
       it != hidden.end() && *it <= now.high;
       ++it) {
    add(next, *it - 1);
    next = *it + 1;
  }
  add(next, now.high);
  return ranges;
}

}  // namespace skep

#include "storage/model/snapshot.h"

#include <algorithm>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/model/quote.h"

namespace skep {

namespace {

// Runs this long print as "a-b" in transaction lists (SER-2).
constexpr size_t kShortestRun = 5;
constexpr int64_t kLargestListedRange = 10'000'000;

bool Has(const std::vector<int64_t>& sorted, int64_t id) {
  return std::binary_search(sorted.begin(), sorted.end(), id);
}

int64_t CountWithin(const std::vector<int64_t>& sorted, int64_t first, int64_t last) {
  return std::upper_bound(sorted.begin(), sorted.end(), last) -
         std::lower_bound(sorted.begin(), sorted.end(), first);
}

// `last - first` fits for every range of a directory name, its size need not.
RangeAnswer AnswerOf(int64_t excluded, int64_t first, int64_t last) {
  if (excluded == 0) return RangeAnswer::kAll;
  return excluded - 1 == last - first ? RangeAnswer::kNone : RangeAnswer::kSome;
}

std::string FormatIds(const std::vector<int64_t>& ids, bool with_runs) {
  std::string text;
  for (size_t i = 0; i < ids.size();) {
    size_t run = 1;
    while (i + run < ids.size() && ids[i + run] == ids[i] + static_cast<int64_t>(run)) ++run;
    if (!text.empty()) text += ',';
    if (with_runs && run >= kShortestRun) {
      text += fmt::format("{}-{}", ids[i], ids[i + run - 1]);
      i += run;
    } else {
      text += fmt::format("{}", ids[i]);
      ++i;
    }
  }
  return text;
}

std::string FormatIdFields(const ValidIds& ids, bool with_runs) {
  return fmt::format("{}:{}:{}:{}",
                     ids.high,
                     ids.MinOpen(),
                     FormatIds(ids.open, with_runs),
                     FormatIds(ids.aborted, with_runs));
}

// Parses the text of one list; every refusal names the list, the field and the id.
class ListParser {
 public:
  ListParser(std::string_view what, std::string_view text) : what_(what), text_(text) {}

  absl::Status Refuse(std::string_view why) const {
    return MakeError(ErrorReason::kInvalidRequest,
                     fmt::format("{} '{}' {}", what_, Quoted(text_, 200), why),
                     {{"field", std::string(what_)}});
  }

  absl::StatusOr<ValidIds> Fields(std::span<const std::string_view> fields) const {
    ValidIds ids;
    const auto high = ParseInt64(fields[0]);
    if (!high.has_value() || *high < 0) {
      return Refuse(fmt::format("has the high water mark '{}': a number of at least 0 is needed",
                                Printable(fields[0])));
    }
    ids.high = *high;
    if (!fields[1].empty() && !ParseInt64(fields[1]).has_value()) {
      return Refuse(fmt::format("has '{}' as its lowest open id", Printable(fields[1])));
    }
    SKEP_ASSIGN_OR_RETURN(ids.open, Ids("open", fields[2], ids.high));
    SKEP_ASSIGN_OR_RETURN(ids.aborted, Ids("aborted", fields[3], ids.high));
    for (const int64_t id : ids.open) {
      if (Has(ids.aborted, id))
        return Refuse(fmt::format("lists {} both as open and as aborted", id));
    }
    return ids;
  }

 private:
  absl::StatusOr<std::vector<int64_t>> Ids(std::string_view field,
                                           std::string_view text,
                                           int64_t high) const {
    std::vector<int64_t> ids;
    if (text.empty()) return ids;
    for (const std::string_view item : SplitText(text, ',')) {
      const size_t dash = item.find('-', 1);
      const auto first = ParseInt64(item.substr(0, dash));
      const auto last = dash == std::string_view::npos ? first : ParseInt64(item.substr(dash + 1));
      if (!first.has_value() || !last.has_value() || *first < 1 || *first > *last) {
        return Refuse(
            fmt::format("has '{}' in its {} ids: ids are numbers from 1", Printable(item), field));
      }
      if (!ids.empty() && *first <= ids.back()) {
        return Refuse(
            fmt::format("lists {} id {} after {}: ids must ascend", field, *first, ids.back()));
      }
      if (*last > high) {
        return Refuse(
            fmt::format("lists {} id {} above its high water mark {}", field, *last, high));
      }
      if (*last - *first > kLargestListedRange) {
        return Refuse(
            fmt::format("has the range '{}' of more than {} ids", item, kLargestListedRange));
      }
      for (int64_t id = *first; id <= *last; ++id) ids.push_back(id);
    }
    return ids;
  }

  std::string_view what_;
  std::string_view text_;
};

}  // namespace

bool ValidIds::IsValid(int64_t id) const {
  return id <= high && !Has(open, id) && !Has(aborted, id);
}

bool ValidIds::IsAborted(int64_t id) const { return Has(aborted, id); }

bool ValidIds::IsOpen(int64_t id) const { return Has(open, id); }

int64_t ValidIds::MinOpen() const { return open.empty() ? kNothingOpen : open.front(); }

RangeAnswer ValidIds::RangeValidity(int64_t first, int64_t last) const {
  if (first > high) return RangeAnswer::kNone;
  const int64_t excluded = std::max<int64_t>(0, last - high) + CountWithin(open, first, last) +
                           CountWithin(aborted, first, last);
  return AnswerOf(excluded, first, last);
}

RangeAnswer ValidIds::RangeAborted(int64_t first, int64_t last) const {
  if (first > high) return RangeAnswer::kNone;
  const int64_t count = CountWithin(aborted, first, last);
  if (count == 0) return RangeAnswer::kNone;
  return count - 1 == last - first ? RangeAnswer::kAll : RangeAnswer::kSome;
}

bool TxnSnapshot::IsVisible(TxnId id) const {
  return id.is_none() || id == own || ids.IsValid(id.value());
}

bool WriteIdSnapshot::IsValid(WriteId id) const {
  return id.value() <= 0 || Has(own, id.value()) || ids.IsValid(id.value());
}

bool WriteIdSnapshot::IsAborted(WriteId id) const { return ids.IsAborted(id.value()); }

RangeAnswer WriteIdSnapshot::RangeValidity(WriteId first, WriteId last) const {
  const int64_t a = first.value();
  const int64_t b = last.value();
  if (role == SnapshotRole::kCompactor)
    return b <= ids.high ? RangeAnswer::kAll : RangeAnswer::kNone;
  if (role == SnapshotRole::kCleaner && b > ids.high) return RangeAnswer::kNone;
  if (own.empty()) return ids.RangeValidity(a, b);
  // Own ids count as valid wherever the list puts them: above its high mark or among its open ids.
  int64_t excluded = std::max<int64_t>(0, b - std::max(ids.high, a - 1)) +
                     CountWithin(ids.open, a, b) + CountWithin(ids.aborted, a, b);
  for (const int64_t id : own) {
    if (id >= a && id <= b && !ids.IsValid(id)) --excluded;
  }
  return AnswerOf(excluded, a, b);
}

RangeAnswer WriteIdSnapshot::RangeAborted(WriteId first, WriteId last) const {
  return ids.RangeAborted(first.value(), last.value());
}

bool WriteIdSnapshot::IsValidBase(WriteId base) const {
  if (base.value() == INT64_MIN) return true;
  return base.value() < ids.MinOpen() && base.value() <= ids.high;
}

WriteIdSnapshot WriteIdSnapshot::ForCompactor() const {
  WriteIdSnapshot view = *this;
  view.role = SnapshotRole::kCompactor;
  view.own.clear();
  view.ids.open.clear();
  if (!ids.open.empty()) view.ids.high = ids.open.front() - 1;
  std::erase_if(view.ids.aborted, [&](int64_t id) { return id > view.ids.high; });
  return view;
}

WriteIdSnapshot EverythingVisible() {
  WriteIdSnapshot snapshot;
  snapshot.ids.high = INT64_MAX;
  return snapshot;
}

TxnSnapshot AllTxnsVisible() {
  TxnSnapshot snapshot;
  snapshot.ids.high = INT64_MAX;
  return snapshot;
}

std::string FormatTxnList(const TxnSnapshot& snapshot) {
  if (!snapshot.ids.IsOpen(snapshot.own.value())) return FormatIdFields(snapshot.ids, true);
  ValidIds ids = snapshot.ids;
  std::erase(ids.open, snapshot.own.value());
  return FormatIdFields(ids, true);
}

absl::StatusOr<TxnSnapshot> ParseTxnList(std::string_view text) {
  if (text.empty()) return AllTxnsVisible();  // SER-3
  const ListParser parser("transaction list", text);
  const std::vector<std::string_view> fields = SplitText(text, ':');
  if (fields.size() != 4) return parser.Refuse("is not of the form HIGH:MIN_OPEN:OPEN,…:ABORTED,…");
  TxnSnapshot snapshot;
  SKEP_ASSIGN_OR_RETURN(snapshot.ids, parser.Fields(fields));
  return snapshot;
}

std::string FormatWriteIdList(const WriteIdSnapshot& snapshot) {
  ValidIds ids = snapshot.ids;
  const int64_t highest_own = snapshot.own.empty() ? 0 : snapshot.own.back();
  for (int64_t id = ids.high + 1; id <= highest_own; ++id) {
    if (!Has(snapshot.own, id)) ids.open.push_back(id);
  }
  ids.high = std::max(ids.high, highest_own);
  std::erase_if(ids.open, [&](int64_t id) { return Has(snapshot.own, id); });
  return snapshot.table.ToString() + ":" + FormatIdFields(ids, false);
}

absl::StatusOr<WriteIdSnapshot> ParseWriteIdList(std::string_view text) {
  const ListParser parser("write id list", text);
  const std::vector<std::string_view> fields = SplitText(text, ':');
  if (fields.size() != 5)
    return parser.Refuse("is not of the form DB.T:HIGH:MIN_OPEN:OPEN,…:ABORTED,…");
  WriteIdSnapshot snapshot;
  if (const auto name = ParseTableName(fields[0]); name.ok()) snapshot.table = *name;
  SKEP_ASSIGN_OR_RETURN(snapshot.ids,
                        parser.Fields(std::span<const std::string_view>(fields).subspan(1)));
  return snapshot;
}

}  // namespace skep

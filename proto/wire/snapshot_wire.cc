#include "proto/wire/snapshot_wire.h"

#include <algorithm>

#include <fmt/format.h>

#include "proto/wire/base_wire.h"
#include "storage/base/status_macros.h"

namespace skep::wire {
namespace {

template <class Range>
void WriteRanges(const std::vector<int64_t>& ids, google::protobuf::RepeatedPtrField<Range>* to) {
  for (size_t i = 0; i < ids.size();) {
    size_t end = i + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    Range* range = to->Add();
    range->set_first(ids[i]);
    range->set_last(ids[end - 1]);
    i = end;
  }
}

template <class Range>
absl::StatusOr<std::vector<int64_t>> ReadRanges(
    const google::protobuf::RepeatedPtrField<Range>& from, int64_t high) {
  int64_t count = 0;
  int64_t before = 0;
  for (const Range& range : from) {
    if (range.first() <= before || range.last() < range.first() || range.last() > high) {
      return BadField(
          "aborted",
          fmt::format("range {}-{} under high mark {}", range.first(), range.last(), high));
    }
    before = range.last();
    count += range.last() - range.first() + 1;
    if (count > kMaxExpandedIds)
      return BadField("aborted", fmt::format("more than {} ids", kMaxExpandedIds));
  }
  std::vector<int64_t> ids;
  ids.reserve(count);
  for (const Range& range : from) {
    for (int64_t id = range.first(); id <= range.last(); ++id) ids.push_back(id);
  }
  return ids;
}

template <class Ids>
absl::StatusOr<std::vector<int64_t>> ReadAscending(const Ids& from, std::string_view field) {
  int64_t before = 0;
  for (const int64_t id : from) {
    if (id <= before) return BadField(field, fmt::format("{} after {}", id, before));
    before = id;
  }
  return std::vector<int64_t>(from.begin(), from.end());
}

template <class Message>
absl::StatusOr<ValidIds> ReadIds(const Message& from) {
  ValidIds ids;
  ids.high = from.high_watermark();
  if (ids.high < 0) return BadField("high_watermark", fmt::format("{} is negative", ids.high));
  SKEP_ASSIGN_OR_RETURN(ids.open, ReadAscending(from.open(), "open"));
  if (!ids.open.empty() && ids.open.back() > ids.high) {
    return BadField("open", fmt::format("{} passes the high mark {}", ids.open.back(), ids.high));
  }
  SKEP_ASSIGN_OR_RETURN(ids.aborted, ReadRanges(from.aborted(), ids.high));
  for (const int64_t id : ids.open) {
    if (std::binary_search(ids.aborted.begin(), ids.aborted.end(), id)) {
      return BadField("open", fmt::format("{} is open and aborted", id));
    }
  }
  return ids;
}

template <class Message>
void WriteIds(const ValidIds& from, Message* to) {
  to->set_high_watermark(from.high);
  to->mutable_open()->Add(from.open.begin(), from.open.end());
  WriteRanges(from.aborted, to->mutable_aborted());
}

}  // namespace

void ToProto(const ValidIds& from, v1::ValidIds* to) { WriteIds(from, to); }

absl::StatusOr<ValidIds> FromProto(const v1::ValidIds& from) { return ReadIds(from); }

void ToProto(const ValidIdsChange& from, CommitSeq since, v1::ValidIdsChange* to) {
  to->set_since_version(since.value());
  to->mutable_opened()->Add(from.opened.begin(), from.opened.end());
  to->mutable_closed()->Add(from.closed.begin(), from.closed.end());
  WriteRanges(from.aborted, to->mutable_aborted());
}

absl::StatusOr<ValidIdsChange> FromProto(const v1::ValidIdsChange& from, int64_t high) {
  ValidIdsChange change;
  SKEP_ASSIGN_OR_RETURN(change.opened, ReadAscending(from.opened(), "opened"));
  SKEP_ASSIGN_OR_RETURN(change.closed, ReadAscending(from.closed(), "closed"));
  SKEP_ASSIGN_OR_RETURN(change.aborted, ReadRanges(from.aborted(), high));
  return change;
}

void ToProto(const TxnSnapshot& from, v1::GetSnapshotResponse* to) {
  to->set_snapshot_seq(from.seq.value());
  ToProto(from.ids, to->mutable_txns());
}

absl::StatusOr<TxnSnapshot> FromProto(const v1::GetSnapshotResponse& from, TxnId own) {
  TxnSnapshot snapshot;
  snapshot.seq = CommitSeq(from.snapshot_seq());
  SKEP_ASSIGN_OR_RETURN(snapshot.ids, FromProto(from.txns()));
  snapshot.own = own;
  return snapshot;
}

void ToProto(const WriteIdSnapshot& from, v1::WriteIdList* to) {
  ToProto(from.table, to->mutable_table());
  to->set_table_id(from.table_id.value());
  to->set_snapshot_seq(from.seq.value());
  WriteIds(from.ids, to);
  to->mutable_own()->Add(from.own.begin(), from.own.end());
}

absl::StatusOr<WriteIdSnapshot> FromProto(const v1::WriteIdList& from) {
  WriteIdSnapshot list;
  list.table = {from.table().database(), from.table().table()};
  list.table_id = TableId(from.table_id());
  list.seq = CommitSeq(from.snapshot_seq());
  SKEP_ASSIGN_OR_RETURN(list.ids, ReadIds(from));
  SKEP_ASSIGN_OR_RETURN(list.own, ReadAscending(from.own(), "own"));
  return list;
}

}  // namespace skep::wire

#include "storage/format/orc/row_index.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "storage/format/orc/orc.pb.h"
#include "storage/format/orc/statistics.h"
#include "storage/format/orc/wire_scan.h"

namespace skep::orc {

namespace {

constexpr uint64_t kMaxIndexBytes = 64 << 20;

// A whole stream of the index that holds a message with `groups` entries, its field 1. False where
// it does not.
bool ReadEntries(const StripeSource& source,
                 const PlanNode& node,
                 StreamKind kind,
                 size_t groups,
                 std::string* bytes) {
  const uint64_t length = source.StreamLength(node.column, kind);
  if (length == 0 || length > kMaxIndexBytes) return false;
  ByteStream stream = source.Open(node, kind);
  while (true) {
    if (!stream.Want(1).ok()) return false;
    if (stream.available() == 0) break;
    if (bytes->size() + stream.available() > kMaxIndexBytes) return false;
    bytes->append(reinterpret_cast<const char*>(stream.data()), stream.available());
    stream.Advance(stream.available());
  }
  const absl::StatusOr<FieldCounts> counts = CountFields(*bytes);
  return counts.ok() && counts->Of(1) == groups;
}

bool ReadOne(const StripeSource& source,
             const PlanNode& node,
             size_t groups,
             std::vector<RowGroup>* out) {
  std::string bytes;
  if (!ReadEntries(source, node, StreamKind::kRowIndex, groups, &bytes)) return false;
  proto::RowIndex index;
  if (!index.ParseFromString(bytes)) return false;
  out->reserve(groups);
  for (const proto::RowIndexEntry& entry : index.entry()) {
    RowGroup& group = out->emplace_back();
    group.positions.assign(entry.positions().begin(), entry.positions().end());
    if (entry.has_statistics()) group.statistics = FromProto(entry.statistics());
  }
  return true;
}

}  // namespace

bool ReadIndexes(const StripeSource& source,
                 const PlanNode& node,
                 bool below,
                 size_t groups,
                 StripeIndexes* indexes) {
  if (!indexes->contains(node.column)) {
    std::vector<RowGroup> read;
    if (!ReadOne(source, node, groups, &read)) return false;
    indexes->emplace(node.column, std::move(read));
  }
  return !below ||
         std::all_of(node.children.begin(), node.children.end(), [&](const PlanNode& child) {
           return ReadIndexes(source, child, true, groups, indexes);
         });
}

std::vector<BloomFilter> ReadBloomFilters(const StripeSource& source,
                                          const PlanNode& node,
                                          size_t groups) {
  std::string bytes;
  proto::BloomFilterIndex index;
  if (!ReadEntries(source, node, StreamKind::kBloomFilterUtf8, groups, &bytes) ||
      !index.ParseFromString(bytes)) {
    return {};
  }
  std::vector<BloomFilter> filters;
  filters.reserve(groups);
  for (proto::BloomFilter& entry : *index.mutable_bloom_filter()) {
    std::optional<BloomFilter> filter =
        BloomFilter::Of(entry.hash_functions(), std::move(*entry.mutable_utf8_bitset()));
    if (!filter) return {};
    filters.push_back(*std::move(filter));
  }
  return filters;
}

}  // namespace skep::orc

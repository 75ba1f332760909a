#include "storage/format/orc/stripe_checks.h"

#include <algorithm>
#include <limits>

#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

absl::Status Damaged(const std::string& path, const PlanNode& node, std::string_view what) {
  return MakeError(ErrorReason::kCorruptFile,
                   path + ": column " + node.name + ": " + std::string(what),
                   {{"path", path}, {"column", node.name}});
}

bool HasCharacters(TypeKind kind) {
  return kind == TypeKind::kString || kind == TypeKind::kChar || kind == TypeKind::kVarchar;
}

// Bytes that `length` stored bytes can expand to, at most; deflate's best ratio is about 1032.
uint64_t MostBytes(const Tail& tail, uint64_t length) {
  if (tail.compression == Compression::kNone) return length;
  constexpr uint64_t kHeader = 3;
  const uint64_t chunks = length / (kHeader + 1) + 1;
  return std::min(chunks * tail.block_size, length * 1100 + tail.block_size);
}

absl::Status CheckColumn(const std::string& path,
                         const Tail& tail,
                         const StripeLayout& layout,
                         const PlanNode& node) {
  const Encoding& encoding = layout.encodings[node.column];
  if (HasCharacters(node.type.kind) && encoding.dictionary_size > 0 &&
      (encoding.kind == EncodingKind::kDictionary ||
       encoding.kind == EncodingKind::kDictionaryV2)) {
    // Entries are distinct: at most one of them is empty.
    const StreamRange* data = layout.Find(node.column, StreamKind::kDictionaryData);
    const uint64_t most = data == nullptr ? 0 : MostBytes(tail, data->length);
    if (encoding.dictionary_size - 1 > most ||
        encoding.dictionary_size > static_cast<uint32_t>(std::numeric_limits<int32_t>::max())) {
      return Damaged(path,
                     node,
                     "a dictionary of " + std::to_string(encoding.dictionary_size) +
                         " entries without the bytes for them");
    }
  }
  for (const PlanNode& child : node.children) {
    SKEP_RETURN_IF_ERROR(CheckColumn(path, tail, layout, child));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStripe(const std::string& path,
                         const Tail& tail,
                         const StripeLayout& layout,
                         const ReadPlan& plan) {
  for (const PlanNode& column : plan.columns) {
    SKEP_RETURN_IF_ERROR(CheckColumn(path, tail, layout, column));
  }
  return absl::OkStatus();
}

}  // namespace skep::orc

#include "storage/format/orc/stripe_checks.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/format/orc/rle.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

// Values that one byte of a stream can stand for, at most: bits in a byte run of 130 in two bytes.
constexpr uint64_t kMostValuesPerByte = 8 * 65;
constexpr uint64_t kMostElements = std::numeric_limits<int32_t>::max();

bool HasCharacters(TypeKind kind) {
  return kind == TypeKind::kString || kind == TypeKind::kChar || kind == TypeKind::kVarchar;
}

class Checker {
 public:
  Checker(const fs::RandomAccessFile& file, const Tail& tail, const StripeLayout& layout)
      : file_(file), tail_(tail), layout_(layout) {}

  absl::Status Check(const PlanNode& node) const {
    if (HasCharacters(node.type.kind) || node.type.kind == TypeKind::kBinary) {
      SKEP_RETURN_IF_ERROR(CheckBytes(node));
    }
    if (node.type.kind == TypeKind::kList || node.type.kind == TypeKind::kMap) {
      SKEP_RETURN_IF_ERROR(CheckElements(node));
    }
    if (node.type.kind == TypeKind::kUnion) SKEP_RETURN_IF_ERROR(CheckTags(node));
    for (const PlanNode& child : node.children) SKEP_RETURN_IF_ERROR(Check(child));
    return absl::OkStatus();
  }

 private:
  absl::Status Damaged(const PlanNode& node, std::string_view what) const {
    return MakeError(ErrorReason::kCorruptFile,
                     file_.path() + ": column " + node.name + ": " + std::string(what),
                     {{"path", file_.path()}, {"column", node.name}});
  }

  // Bytes that a stream can expand to, at most; deflate's best ratio is about 1032.
  uint64_t MostBytes(const StreamRange* stream) const {
    if (stream == nullptr) return 0;
    if (tail_.compression == Compression::kNone) return stream->length;
    constexpr uint64_t kHeader = 3, kBestRatio = 1100;
    const uint64_t chunks = stream->length / (kHeader + 1) + 1;
    const uint64_t by_chunks = chunks * tail_.block_size;
    // zstd has blocks of one repeated byte: no ratio bounds them.
    if (tail_.compression == Compression::kZstd) return by_chunks;
    return std::min(by_chunks, stream->length * kBestRatio + tail_.block_size);
  }

  // The sum of a LENGTH stream; above `most` it is damage.
  absl::Status CheckLengths(const PlanNode& node, uint64_t most) const {
    const StreamRange* stream = layout_.Find(node.column, StreamKind::kLength);
    if (stream == nullptr) return absl::OkStatus();
    IntDecoder lengths(
        ChunkReader(file_, tail_.compression, tail_.block_size, stream->offset, stream->length),
        layout_.encodings[node.column].is_v2(),
        Signedness::kUnsigned);
    uint64_t sum = 0;
    while (true) {
      const absl::StatusOr<std::span<const int64_t>> run = lengths.NextRun();
      if (!run.ok()) return Damaged(node, MessageOf(run.status()));
      if (run->empty()) return absl::OkStatus();
      for (const int64_t length : *run) {
        if (static_cast<uint64_t>(length) > most - sum) {
          return Damaged(node, "lengths of more than the stripe can hold");
        }
        sum += static_cast<uint64_t>(length);
      }
    }
  }

  absl::Status CheckBytes(const PlanNode& node) const {
    const Encoding& encoding = layout_.encodings[node.column];
    const bool dictionary =
        encoding.kind == EncodingKind::kDictionary || encoding.kind == EncodingKind::kDictionaryV2;
    const uint64_t most = MostBytes(
        layout_.Find(node.column, dictionary ? StreamKind::kDictionaryData : StreamKind::kData));
    // Entries of a dictionary are distinct: at most one of them is empty.
    if (dictionary && encoding.dictionary_size > 0 &&
        (encoding.dictionary_size - 1 > most || encoding.dictionary_size > kMostElements)) {
      return Damaged(node,
                     "a dictionary of " + std::to_string(encoding.dictionary_size) +
                         " entries without the bytes for them");
    }
    return CheckLengths(node, most);
  }

  // Elements need at least a bit each, of a stream of theirs or of something below them; elements
  // without any stream are empty structs.
  absl::Status CheckElements(const PlanNode& node) const {
    uint64_t bytes = 0;
    for (const PlanNode& child : node.children) bytes += BytesBelow(child);
    const uint64_t most = bytes > kMostElements ? kMostElements : bytes * kMostValuesPerByte;
    return CheckLengths(node, bytes == 0 ? kMostElements : std::min(most, kMostElements));
  }

  // The adapter looks a tag's column up without a look at how many there are.
  absl::Status CheckTags(const PlanNode& node) const {
    const StreamRange* stream = layout_.Find(node.column, StreamKind::kData);
    if (stream == nullptr) return absl::OkStatus();
    ByteDecoder tags(
        ChunkReader(file_, tail_.compression, tail_.block_size, stream->offset, stream->length));
    while (true) {
      const absl::StatusOr<bool> end = tags.AtEnd();
      if (!end.ok()) return Damaged(node, MessageOf(end.status()));
      if (*end) return absl::OkStatus();
      const absl::StatusOr<uint8_t> tag = tags.Next();
      if (!tag.ok()) return Damaged(node, MessageOf(tag.status()));
      if (*tag >= node.children.size()) return Damaged(node, "a union with an unknown tag");
    }
  }

  uint64_t BytesBelow(const PlanNode& node) const {
    uint64_t bytes = 0;
    for (const StreamKind kind : {StreamKind::kPresent, StreamKind::kData, StreamKind::kLength}) {
      bytes += MostBytes(layout_.Find(node.column, kind));
    }
    for (const PlanNode& child : node.children) bytes += BytesBelow(child);
    return bytes;
  }

  const fs::RandomAccessFile& file_;
  const Tail& tail_;
  const StripeLayout& layout_;
};

}  // namespace

absl::Status CheckStripe(const fs::RandomAccessFile& file,
                         const Tail& tail,
                         const StripeLayout& layout,
                         const ReadPlan& plan) {
  const Checker checker(file, tail, layout);
  for (const PlanNode& column : plan.columns) SKEP_RETURN_IF_ERROR(checker.Check(column));
  return absl::OkStatus();
}

}  // namespace skep::orc

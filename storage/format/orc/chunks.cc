#include "storage/format/orc/chunks.h"

#include "storage/base/status_macros.h"
#include "storage/format/orc/codec.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

constexpr size_t kHeaderBytes = 3;

struct ChunkHeader {
  size_t length = 0;
  bool stored = false;
};

ChunkHeader ParseHeader(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])); };
  const uint32_t word = at(0) | at(1) << 8 | at(2) << 16;
  return {word >> 1, (word & 1) != 0};
}

absl::Status Truncated() {
  return MakeError(ErrorReason::kCorruptFile, "compressed section ends inside a chunk");
}

}  // namespace

absl::StatusOr<std::string> DecodeSection(Compression compression,
                                          uint64_t block_size,
                                          std::string_view section,
                                          size_t limit) {
  std::string out;
  if (compression == Compression::kNone) {
    if (section.size() > limit) {
      return MakeError(ErrorReason::kCorruptFile, "section is longer than allowed");
    }
    return std::string(section);
  }
  std::string block;
  while (!section.empty()) {
    if (section.size() < kHeaderBytes) return Truncated();
    const ChunkHeader header = ParseHeader(section);
    section.remove_prefix(kHeaderBytes);
    if (header.length > section.size()) return Truncated();
    const std::string_view body = section.substr(0, header.length);
    section.remove_prefix(header.length);
    if (header.stored) {
      block.assign(body);
    } else {
      SKEP_RETURN_IF_ERROR(DecompressBlock(compression, body, block_size, &block));
    }
    if (out.size() + block.size() > limit) {
      return MakeError(ErrorReason::kCorruptFile, "section is longer than allowed");
    }
    out += block;
  }
  return out;
}

}  // namespace skep::orc

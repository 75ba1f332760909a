#include "storage/format/orc/chunks.h"

#include <algorithm>

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

void AppendHeader(size_t length, bool stored, std::string* out) {
  const auto word = static_cast<uint32_t>(length << 1 | (stored ? 1 : 0));
  out->push_back(static_cast<char>(word & 0xff));
  out->push_back(static_cast<char>(word >> 8 & 0xff));
  out->push_back(static_cast<char>(word >> 16 & 0xff));
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

absl::StatusOr<std::string> EncodeSection(Compression compression,
                                          uint64_t block_size,
                                          std::string_view bytes) {
  if (compression == Compression::kNone) return std::string(bytes);
  std::string out;
  while (!bytes.empty()) {
    const std::string_view block = bytes.substr(0, block_size);
    bytes.remove_prefix(block.size());
    SKEP_ASSIGN_OR_RETURN(const std::string body, CompressBlock(compression, block));
    const bool stored = body.size() >= block.size();
    AppendHeader(stored ? block.size() : body.size(), stored, &out);
    out += stored ? block : std::string_view(body);
  }
  return out;
}

std::string StoreSection(Compression compression, uint64_t block_size, std::string_view bytes) {
  if (compression == Compression::kNone) return std::string(bytes);
  std::string out;
  while (!bytes.empty()) {
    const std::string_view block = bytes.substr(0, block_size);
    bytes.remove_prefix(block.size());
    AppendHeader(block.size(), true, &out);
    out += block;
  }
  return out;
}

}  // namespace skep::orc

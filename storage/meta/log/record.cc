#include "storage/meta/log/record.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "storage/base/crc32c.h"
#include "storage/meta/columns.h"
#include "storage/meta/log/field_io.h"
#include "storage/meta/log/little_endian.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

constexpr uint32_t kMagic = 0x55524b53;  // "SKRU"
constexpr uint8_t kTags = 64;

// What stands before an effect's fields. A number is never given to another effect.
template <class AnEffect>
inline constexpr uint8_t kTagOf = 0;
template <>
inline constexpr uint8_t kTagOf<Put<CounterRow>> = 1;
template <>
inline constexpr uint8_t kTagOf<Put<TxnRow>> = 2;
template <>
inline constexpr uint8_t kTagOf<Put<ResolvedTxnRow>> = 3;
template <>
inline constexpr uint8_t kTagOf<Put<AbortedTxnsRow>> = 4;
template <>
inline constexpr uint8_t kTagOf<Put<TableRow>> = 5;
template <>
inline constexpr uint8_t kTagOf<Put<DroppedTableRow>> = 6;
template <>
inline constexpr uint8_t kTagOf<Put<PartitionRow>> = 7;
template <>
inline constexpr uint8_t kTagOf<Put<WriteIdRow>> = 8;
template <>
inline constexpr uint8_t kTagOf<Put<ResolvedWriteIdRow>> = 9;
template <>
inline constexpr uint8_t kTagOf<Put<AbortedWriteIdsRow>> = 10;
template <>
inline constexpr uint8_t kTagOf<Put<ComponentRow>> = 11;
template <>
inline constexpr uint8_t kTagOf<Put<WriteMarkRow>> = 12;
template <>
inline constexpr uint8_t kTagOf<Put<LockRow>> = 13;
template <>
inline constexpr uint8_t kTagOf<Put<CompactionRow>> = 14;
template <>
inline constexpr uint8_t kTagOf<Put<RequestRow>> = 15;
template <>
inline constexpr uint8_t kTagOf<Put<ReplicaRow>> = 16;
template <>
inline constexpr uint8_t kTagOf<Put<TableChangeRow>> = 17;
template <>
inline constexpr uint8_t kTagOf<Put<ViewLockRow>> = 18;
template <>
inline constexpr uint8_t kTagOf<EraseTxn> = 33;
template <>
inline constexpr uint8_t kTagOf<EraseAbortedTxns> = 34;
template <>
inline constexpr uint8_t kTagOf<EraseTable> = 35;
template <>
inline constexpr uint8_t kTagOf<EraseDroppedTable> = 36;
template <>
inline constexpr uint8_t kTagOf<ErasePartition> = 37;
template <>
inline constexpr uint8_t kTagOf<EraseWriteId> = 38;
template <>
inline constexpr uint8_t kTagOf<EraseAbortedWriteIds> = 39;
template <>
inline constexpr uint8_t kTagOf<EraseComponents> = 40;
template <>
inline constexpr uint8_t kTagOf<EraseComponent> = 41;
template <>
inline constexpr uint8_t kTagOf<EraseWriteMark> = 42;
template <>
inline constexpr uint8_t kTagOf<EraseLock> = 43;
template <>
inline constexpr uint8_t kTagOf<EraseCompaction> = 44;
template <>
inline constexpr uint8_t kTagOf<ForgetResolved> = 45;
template <>
inline constexpr uint8_t kTagOf<EraseReplica> = 46;
template <>
inline constexpr uint8_t kTagOf<EraseViewLock> = 47;

using ReadEffect = void (*)(FieldReader&, Effects&);

template <class AnEffect>
void ReadOne(FieldReader& reader, Effects& effects) {
  Columns(reader, std::get<AnEffect>(effects.emplace_back(AnEffect{})));
}

template <size_t... kIndex>
constexpr std::array<ReadEffect, kTags> ReadersByTag(std::index_sequence<kIndex...>) {
  static_assert(((kTagOf<std::variant_alternative_t<kIndex, Effect>> != 0) && ...));
  std::array<ReadEffect, kTags> readers{};
  ((readers[kTagOf<std::variant_alternative_t<kIndex, Effect>>] =
        &ReadOne<std::variant_alternative_t<kIndex, Effect>>),
   ...);
  return readers;
}

constexpr std::array<ReadEffect, kTags> kReaders =
    ReadersByTag(std::make_index_sequence<std::variant_size_v<Effect>>());

uint32_t HeaderCrc(std::string_view header, uint64_t salt) {
  std::string salt_bytes(8, '\0');
  PutNumber(salt_bytes, 0, salt);
  return Crc32c(header.substr(8, kRecordHeaderSize - 8), Crc32c(salt_bytes));
}

absl::Status Unstorable(std::string_view why) {
  return MakeError(ErrorReason::kInternal, fmt::format("cannot store a unit {}", why));
}

// Its checksum is right: it is no damage, but the work of a program that this one does not know.
absl::Status Foreign(const RecordHeader& header, std::string_view what) {
  return MakeError(
      ErrorReason::kCorruptStore,
      fmt::format("unit {} in the log holds {}, which this program does not write; "
                  "start the program that wrote it and stop it in order, which empties "
                  "the log",
                  header.seq.value(),
                  what),
      {{"seq", header.seq.ToString()}});
}

struct WriteOne {
  FieldWriter& writer;
  const CounterRow*& counters;
  template <class AnEffect>
  void operator()(const AnEffect& effect) {
    writer.Byte(kTagOf<AnEffect>);
    Columns(writer, effect);
    if constexpr (std::is_same_v<AnEffect, Put<CounterRow>>) counters = &effect.row;
  }
};

}  // namespace

absl::Status RecordWriter::Encode(const Effects& effects) {
  bytes_.resize(kRecordHeaderSize);
  FieldWriter writer(bytes_);
  const CounterRow* counters = nullptr;
  WriteOne write{writer, counters};
  for (const Effect& effect : effects) std::visit(write, effect);
  if (!writer.status().ok()) return writer.status();
  if (counters == nullptr) return Unstorable("that has no counters");
  const uint64_t length = bytes_.size() - kRecordHeaderSize;
  if (length > kMaxRecordBody) return Unstorable(fmt::format("of {} bytes", length));
  header_.body_length = static_cast<uint32_t>(length);
  header_.effects = static_cast<uint32_t>(effects.size());
  header_.seq = counters->seq;
  header_.body_crc = Crc32c(std::string_view(bytes_).substr(kRecordHeaderSize));
  bytes_.resize(static_cast<size_t>(header_.size()), '\0');
  return absl::OkStatus();
}

std::string_view RecordWriter::Seal(uint64_t salt, CommitSeq before) {
  header_.before = before;
  PutNumber(bytes_, 0, kMagic);
  PutNumber(bytes_, 8, header_.body_length);
  PutNumber(bytes_, 12, header_.body_crc);
  PutNumber(bytes_, 16, header_.effects);
  PutNumber(bytes_, 20, uint32_t{0});
  PutNumber(bytes_, 24, static_cast<uint64_t>(header_.before.value()));
  PutNumber(bytes_, 32, static_cast<uint64_t>(header_.seq.value()));
  PutNumber(bytes_, 4, HeaderCrc(bytes_, salt));
  return bytes_;
}

std::optional<RecordHeader> ReadRecordHeader(std::string_view bytes, uint64_t salt) {
  if (bytes.size() < kRecordHeaderSize || GetNumber<uint32_t>(bytes, 0) != kMagic ||
      GetNumber<uint32_t>(bytes, 4) != HeaderCrc(bytes, salt)) {
    return std::nullopt;
  }
  RecordHeader header;
  header.body_length = GetNumber<uint32_t>(bytes, 8);
  header.body_crc = GetNumber<uint32_t>(bytes, 12);
  header.effects = GetNumber<uint32_t>(bytes, 16);
  header.reserved = GetNumber<uint32_t>(bytes, 20);
  header.before = CommitSeq(static_cast<int64_t>(GetNumber<uint64_t>(bytes, 24)));
  header.seq = CommitSeq(static_cast<int64_t>(GetNumber<uint64_t>(bytes, 32)));
  if (header.body_length > kMaxRecordBody || header.seq <= header.before) return std::nullopt;
  return header;
}

std::optional<std::string_view> BodyOf(const RecordHeader& header, std::string_view bytes) {
  if (static_cast<int64_t>(bytes.size()) < header.size()) return std::nullopt;
  const std::string_view body = bytes.substr(kRecordHeaderSize, header.body_length);
  if (Crc32c(body) != header.body_crc) return std::nullopt;
  return body;
}

absl::Status DecodeBody(const RecordHeader& header, std::string_view body, Effects& effects) {
  if (header.reserved != 0) return Foreign(header, "a reserved field that is not 0");
  // Each takes a byte at least; by doubling, since unit follows unit.
  const size_t all = effects.size() + std::min<size_t>(header.effects, body.size());
  if (all > effects.capacity()) effects.reserve(std::max(all, 2 * effects.capacity()));
  FieldReader reader(body);
  for (uint32_t i = 0; i < header.effects && reader.ok(); ++i) {
    const uint8_t tag = reader.Byte();
    if (tag >= kTags || kReaders[tag] == nullptr) {
      return Foreign(header, fmt::format("an effect with tag {}", tag));
    }
    kReaders[tag](reader, effects);
  }
  if (reader.ok() && reader.AtEnd()) return absl::OkStatus();
  return Foreign(header, "values out of their range");
}

}  // namespace skep::meta

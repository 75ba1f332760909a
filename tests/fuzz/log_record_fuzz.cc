#include <string>
#include <string_view>

#include "storage/base/check.h"
#include "storage/meta/log/little_endian.h"
#include "storage/meta/log/record.h"
#include "storage/model/stored_state.h"
#include "tests/fuzz/fuzz_entries.h"

namespace skep::fuzz {
namespace {

constexpr uint64_t kSalt = 0x5a17;

// Of a unit that a program would store; nothing otherwise.
std::string RecordOf(const Effects& effects) {
  meta::RecordWriter writer;
  if (!writer.Encode(effects).ok() || writer.header().seq.value() < 1) return {};
  return std::string(writer.Seal(kSalt, CommitSeq(writer.header().seq.value() - 1)));
}

}  // namespace

int FuzzLogRecord(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.size() < 2) return 0;
  meta::RecordHeader header;
  header.effects = meta::GetNumber<uint16_t>(bytes, 0);
  header.seq = CommitSeq(7);
  const std::string_view body = bytes.substr(2);
  Effects effects;
  if (!meta::DecodeBody(header, body, effects).ok()) return 0;
  SKEP_CHECK(effects.size() == header.effects);
  StoredState state;
  ApplyEffects(state, effects);

  // What was read is what will be read again. The bytes may differ from the first ones where these
  // were no program's: properties out of order, a type in other words.
  const std::string record = RecordOf(effects);
  if (record.empty()) return 0;
  const auto again = meta::ReadRecordHeader(record, kSalt);
  SKEP_CHECK(again.has_value());
  const auto again_body = meta::BodyOf(*again, record);
  SKEP_CHECK(again_body.has_value());
  Effects reread;
  SKEP_CHECK(meta::DecodeBody(*again, *again_body, reread).ok());
  SKEP_CHECK(RecordOf(reread) == record);
  StoredState same;
  ApplyEffects(same, reread);
  SKEP_CHECK(same == state);
  return 0;
}

}  // namespace skep::fuzz

#include "storage/format/orc/wire_scan.h"

#include <optional>

#include "storage/base/status_macros.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

absl::Status Malformed() {
  return MakeError(ErrorReason::kCorruptFile, "malformed protobuf message");
}

std::optional<uint64_t> TakeVarint(std::string_view* bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<FieldCounts> CountFields(std::string_view message, uint32_t nested) {
  constexpr uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;
  FieldCounts counts;
  while (!message.empty()) {
    const std::optional<uint64_t> tag = TakeVarint(&message);
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > UINT32_MAX) return Malformed();
    const auto field = static_cast<uint32_t>(*tag >> 3);
    ++counts.fields[field];
    uint64_t skip = 0;
    switch (*tag & 7) {
      case kVarint:
        if (!TakeVarint(&message)) return Malformed();
        break;
      case kFixed64:
        skip = 8;
        break;
      case kFixed32:
        skip = 4;
        break;
      case kBytes: {
        const std::optional<uint64_t> length = TakeVarint(&message);
        if (!length || *length > message.size()) return Malformed();
        skip = *length;
        if (field == nested && nested != 0) {
          SKEP_ASSIGN_OR_RETURN(const FieldCounts inner, CountFields(message.substr(0, skip)));
          counts.inner += inner.Of(1);
        }
        break;
      }
      default:
        return Malformed();
    }
    if (skip > message.size()) return Malformed();
    message.remove_prefix(static_cast<size_t>(skip));
  }
  return counts;
}

}  // namespace skep::orc
